//! Drives the real host over pipes, as haft does.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod aborting;
mod calling;
mod driver;
mod failing;
mod hooking;
mod loading;
mod resolving;
mod tampering;
mod typescript;
mod working;
