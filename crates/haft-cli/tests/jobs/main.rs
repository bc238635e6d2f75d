//! Commands in the background, in a process that stays: real shells, confined as this machine can, through settling.
#![allow(clippy::unwrap_used, reason = "these are tests, though not all in test functions")]

mod bench;
mod ends;
mod follow;
mod consent;
mod soak;
mod standby;
mod terminals;
