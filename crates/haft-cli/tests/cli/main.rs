//! Drives the built binary as a person or a script would, in directories of its own.

#![allow(clippy::unwrap_used, reason = "in a test that fails, a panic is the message")]

mod server;
mod support;

mod agent;
mod bad_input;
mod certificates;
mod command_hook;
mod commands;
mod config_hook;
mod contract;
mod custom_commands;
mod documents;
mod faulty_config;
mod formatters;
mod grants;
mod helper;
mod host;
mod installed;
mod journal;
mod language_servers;
mod models;
mod named_programs;
mod newcomers;
mod outputs;
mod own_data;
mod permissions;
mod plugins_in_conversations;
mod processes;
mod prompt;
mod planted;
mod protected;
mod runtimes;
mod searches;
mod sessions;
mod skills;
mod store;
mod traced;
mod trust;
mod worktrees;
