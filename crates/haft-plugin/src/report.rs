//! What became of each file, as people are told.

use std::path::PathBuf;

use crate::desk::Engine;
use crate::discovery::Role;
use crate::error::Fault;
use crate::words::AuthOffer;

/// What became of a file, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The file, or what the configuration names.
    pub source: PathBuf,
    /// What its exports are.
    pub role: Role,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is served.
    Served {
        /// By what.
        engine: Engine,
        /// The names of its tools.
        tools: Vec<String>,
        /// The names of its hooks.
        hooks: Vec<String>,
        /// How it lets people log in.
        auth: Vec<AuthOffer>,
        /// The providers whose models it knows.
        models: Vec<String>,
        /// What it exports besides.
        skipped: Vec<Unused>,
        /// What else is wrong with it.
        faults: Vec<Fault>,
    },
    /// It cannot be loaded.
    Faulty(Fault),
    /// It is the project's, which the person does not trust.
    Untrusted,
}

/// An export that is nothing to haft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    /// Its name.
    pub export: String,
    /// Why.
    pub why: String,
    /// Where it is, by line and column from one.
    pub place: Option<(u32, u32)>,
}
