//! The tools, one file each.

pub(crate) mod apply_patch;
pub(crate) mod bash;
pub(crate) mod batch;
pub(crate) mod codesearch;
pub(crate) mod edit;
pub(crate) mod glob;
pub(crate) mod grep;
pub(crate) mod invalid;
pub(crate) mod jobs;
pub(crate) mod list;
pub(crate) mod lsp;
pub(crate) mod plan_enter;
pub(crate) mod plan_exit;
pub(crate) mod question;
pub(crate) mod read;
pub(crate) mod skill;
pub(crate) mod task;
pub(crate) mod todoread;
pub(crate) mod todowrite;
pub(crate) mod undo;
pub(crate) mod webfetch;
pub(crate) mod websearch;
pub(crate) mod write;
