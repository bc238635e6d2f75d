//! Providers against a server on this machine that replays streams of each format and breaks them in every way.

#![allow(clippy::unwrap_used, reason = "in a test that fails, a panic is the message")]
#![allow(clippy::needless_pass_by_value, reason = "documents and expectations stand where they are used")]

mod support;

mod anthropic;
mod carried;
mod chat;
mod faults;
mod gemini;
mod providers;
mod requests;
mod responses;
