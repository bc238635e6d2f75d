//! Language servers in a process that stays: real ones, and one of our own that misbehaves in every way.
#![allow(clippy::unwrap_used, reason = "these are tests, though not all in test functions")]

mod bench;
mod bad_input;
mod clangd;
mod ends;
mod faults;
mod rust;
mod scripts;
mod verdicts;
