//! Drives the real host over pipes, as haft does.
#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test that cannot go on panics, and its JSON is written in place"
)]

mod aborting;
mod authorizing;
mod calling;
mod driver;
mod failing;
mod hooking;
mod loading;
mod resolving;
mod tampering;
mod typescript;
mod working;
mod zod;
