//! Custom tools and plugins, driven through the built binary in directories of their own.

#![allow(clippy::unwrap_used, reason = "in a test that fails, a panic is the message")]

#[path = "../cli/support.rs"]
#[allow(dead_code, reason = "not every suite needs all of it")]
mod support;

#[path = "../cli/server.rs"]
#[allow(dead_code, reason = "not every suite needs all of it")]
mod server;

mod model;
mod project;
mod provider;

mod around;
mod asking;
mod auth;
mod compaction;
mod confined;
mod consent;
mod documented;
mod ends;
mod harm;
mod hooks;
mod links;
mod loaders;
mod manifest;
mod mistakes;
mod nested;
mod owners;
mod places;
mod real;
mod results;
mod types;
