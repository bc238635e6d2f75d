//! `haft run` as a person or a script sees it: the built binary in a real terminal, or in a pipe.

#![allow(clippy::unwrap_used, reason = "in a test that fails, a panic is the message")]

#[path = "../cli/support.rs"]
#[allow(dead_code, reason = "not every suite needs all of it")]
mod support;

mod approvals;
mod attachments;
mod conversations;
mod custom_commands;
mod piped;
mod screens;
mod window;
