//! Seams before and after a call, in which plugins may change its input and what is shown of it.

use serde_json::Value;

use crate::BoxFuture;
use crate::content::Presented;
use crate::error::BoxError;
use crate::name::ToolName;
use crate::tool::ToolContext;

/// Something that takes part in calls. Hooks run one after the other, in the order they were installed.
pub trait Hook: Send + Sync {
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
        shown: Presented,
    ) -> BoxFuture<'a, Result<Presented, BoxError>> {
        Box::pin(std::future::ready(Ok(shown)))
    }
}
