//! The agent: a conversation with a model, whose calls are settled and whose results go back to it.
//!
//! An [`Agency`] holds conversations in one location. A [`Conversation`] goes in steps: the model is told everything
//! so far and answers; each call in the answer is on record before it begins, begins as soon as it is complete, and
//! has ended before the next step. Whatever breaks off leaves a record that says so, and another process can go on.

#![deny(missing_docs)]

pub mod auth;
pub mod provider;
pub mod providers;
pub mod wire;
mod agency;
mod agent;
mod answer;
mod beside;
mod compaction;
mod context;
mod conversation;
mod detour;
mod given;
mod influence;
mod interrupt;
mod past;
mod pruning;
mod reading;
mod recalling;
mod scripted;
mod shelf;
mod step;
mod tasks;

pub use agency::{Agency, OpenError, Parts, Settings, Start};
pub use agent::{AgentSpec, Agents, Mode, Models, Own, Policies, Served};
pub use conversation::{Conversation, End, Outcome, RunError};
pub use detour::Bearing;
pub use influence::{
    Compacted, Influence, Influenced, Moment, Recalled, RecalledResult, Summarising, TextPlace, Uninfluenced,
};
pub use interrupt::Interrupt;
pub use recalling::{recall, since_summary};
pub use scripted::{Script, ScriptError};
