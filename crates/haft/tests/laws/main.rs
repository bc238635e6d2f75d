//! The laws of the core, each a test that is named as the law in words. `docs/laws.md` lists them.

#![allow(clippy::unwrap_used, reason = "whatever fails here fails the test")]

mod support;

mod cancellation;
mod codec;
mod consent;
mod edits;
mod factories;
mod gate;
mod hooks;
mod messages;
mod model;
mod output;
mod panics;
mod perhaps;
mod records;
mod registry;
mod rules;
mod rulesets;
mod settlement;
mod visibility;
