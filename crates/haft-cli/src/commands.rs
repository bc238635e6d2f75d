//! The commands, one file each.

pub(crate) mod agents;
pub(crate) mod auth;
pub(crate) mod call;
pub(crate) mod custom;
pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod log;
pub(crate) mod models;
pub(crate) mod new;
pub(crate) mod output;
pub(crate) mod permission;
pub(crate) mod probe;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod shell;
pub(crate) mod skill;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod when;
