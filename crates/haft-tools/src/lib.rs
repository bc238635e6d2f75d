//! The built-in tools, one file each, and the workspace through which they touch files.
//!
//! [`builtins`] is the table of them. A tool never opens a path: it resolves one to a [`Place`](workspace::Place),
//! asks the gate for a permit, and hands the permit to the [`Workspace`], which alone has effects.

#![deny(missing_docs)]

mod actions;
mod after;
mod asking;
mod blocking;
mod changing;
mod code;
mod encoding;
mod formatting;
pub mod hosting;
pub mod front_matter;
#[doc(hidden)]
pub mod fuzzing;
mod jobs;
mod instructions;
mod listed;
mod lsp;
pub mod page;
mod patches;
mod plans;
mod process;
mod retained;
mod search_service;
mod searching;
mod seen;
mod services;
pub mod shell;
pub mod skills;
mod table;
mod text;
mod todos;
mod undoing;
mod tools;
pub mod web;
pub mod workspace;

pub use actions::action_of;
pub use after::{AfterChange, Aftermath, Problem, Verdict};
pub use code::{CodeSearching, SourceStores};
pub use encoding::{Encoding, NotText, Text, Unencodable, decode};
pub use formatting::{FORMATTING_TIME, Formatters, built_in_formatters};
pub use instructions::{Instruction, InstructionPlaces, LoadedInstructions, load_instructions};
pub use jobs::Jobs;
pub use listed::ProgramEntry;
pub use lsp::{
    DIAGNOSING_TIME, Diagnosing, KnownServer, LanguageServers, Languages, LspLimits, ServerEntry,
    built_in_servers,
};
pub use patches::uses_patches;
pub use plans::plan_file;
pub use process::{Confinement, OwnPrograms, Processes, ProfileName};
pub use search_service::{Provider, Service, ServiceKey, WebSearching};
pub use services::ToolServices;
pub use table::{builtins, is_builtin};
pub use todos::topic as todos_topic;
pub use undoing::{RefusedFile, UndoPlan, plan_undo};
pub use workspace::{DiskRestorer, Guarding, Workspace};

#[cfg(test)]
mod testing;
