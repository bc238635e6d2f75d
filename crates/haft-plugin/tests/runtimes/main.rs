//! Drives the host that Bun and Node are given, over pipes, as haft does.
//!
//! Node is always there where this project is checked. Bun is driven too where it is on the path.
#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a test that cannot go on panics, and its JSON is written in place"
)]

mod aborting;
mod authorizing;
mod calling;
mod driver;
mod hooking;
mod loading;
