//! What a script for the shell would do, found out without running it.
//!
//! [`analyse`] finds every simple command in a script, also inside what wraps it; [`CommandTarget`] puts the
//! questions that have to be answered before it runs. Rules are consent, not a boundary: what is only known when a
//! script runs is asked about here and confined elsewhere.

mod analysis;
mod arity;
mod braces;
mod builtins;
mod command;
mod containers;
mod effects;
mod elsewhere;
mod files;
mod gadgets;
mod globs;
mod guesses;
mod held;
mod homes;
mod inner;
mod interpreters;
mod introduced;
mod operands;
mod options;
mod programs;
mod questions;
mod report;
mod second;
mod surroundings;
mod target;
mod trees;
mod variables;
mod views;
mod walk;
mod word;
mod wrapped;
mod wrappers;
mod written;

pub use analysis::{Analysis, analyse};
pub use arity::prefix;
pub use command::{Command, Direction, Redirection, Sort, Why};
pub use effects::{FileEffect, Touch};
pub use files::Held;
pub use report::{Report, report};
pub use surroundings::Surroundings;
pub use target::CommandTarget;
pub use word::{Certainty, Word};

/// The action that rules about commands are filed under.
pub fn action() -> haft::Action {
    haft::Action::new("bash")
}

#[cfg(test)]
mod tests;
