//! The agent: a conversation with a model, whose calls are settled and whose results go back to it.

#![deny(missing_docs)]

pub mod provider;
mod scripted;

pub use scripted::{Script, ScriptError};
