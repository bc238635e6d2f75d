//! Seams for plugins: before and after a call, in which they may change its input and what is shown of it; where a model
//! is told of a tool; and before a command is started, in which they may add to its environment.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::BoxFuture;
use crate::content::Presented;
use crate::error::BoxError;
use crate::name::ToolName;
use crate::tool::ToolContext;

/// What a model is told of a tool, as hooks may change it.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// What the tool does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input: Arc<Value>,
}

/// Something that takes part in calls. Hooks run one after the other, in the order they were installed.
pub trait Hook: Send + Sync {
    /// Is told that a turn is about to be prepared, and may register what it brings, so that the turn has it.
    fn prepare(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// May change the raw input. What it returns is decoded and permitted like any other input. An error fails the
    /// call before the tool runs.
    fn before<'a>(
        &'a self,
        _tool: &'a ToolName,
        _context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, BoxError>> {
        Box::pin(std::future::ready(Ok(input)))
    }

    /// May change what is shown, after it was bounded. What it enlarges is bounded again. An error fails the call,
    /// though the tool has run and what it did stays done.
    fn after<'a>(
        &'a self,
        _tool: &'a ToolName,
        _context: &'a ToolContext,
        _input: &'a Value,
        shown: Presented,
    ) -> BoxFuture<'a, Result<Presented, BoxError>> {
        Box::pin(std::future::ready(Ok(shown)))
    }

    /// May change what a model is told of a tool: its description, and the schema of its input. Only what is said
    /// changes: a call is decoded by the tool's own schema. An error keeps the turn from being prepared.
    fn definition<'a>(
        &'a self,
        _tool: &'a ToolName,
        told: Described,
    ) -> BoxFuture<'a, Result<Described, BoxError>> {
        Box::pin(std::future::ready(Ok(told)))
    }

    /// May add variables to the environment of a command that a call is about to start in this directory, and replace
    /// those it would have. Whoever installed the hook trusts it, so no variable is withheld; none is recorded. An error
    /// fails the call before the command is started.
    fn environment<'a>(
        &'a self,
        _context: &'a ToolContext,
        _directory: &'a Path,
    ) -> BoxFuture<'a, Result<Vec<(OsString, OsString)>, BoxError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}
