//! Conversations, held with models that say what they are told to say.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod support;

mod calls;
mod detour;
mod ends;
mod influence;
mod long;
mod subagents;
