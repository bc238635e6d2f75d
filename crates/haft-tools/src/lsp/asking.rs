//! Questions about code: each operation of the tool as requests to the servers that are for the file.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::Client;
use super::failure::RequestError;
use super::position::{self, OutsideText};
use super::servers::Known;
use super::shared::State;
use super::{LanguageServers, StartError, address, text_on_disk};
use crate::blocking::blocking;

/// A server that is busy with the project is waited for this long before it is asked about all of it.
const SETTLED_WITHIN: Duration = Duration::from_secs(15);
/// A server that changed its mind while it was asked is asked again so many times, after so long.
const CHANGED_MIND_MAX: u32 = 5;
pub(super) const CHANGED_MIND_PAUSE: Duration = Duration::from_millis(200);
/// The protocol's codes for that: the content was modified, the server cancelled.
pub(super) const CHANGED_MIND: [i64; 2] = [-32801, -32802];
/// The protocol's code for what a server does not know.
pub(super) const UNKNOWN_METHOD: i64 = -32601;
/// So many declarations of one name are looked into.
const ITEMS_MAX: usize = 8;

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Operation {
    /// Where a symbol is defined.
    GoToDefinition,
    /// Where a symbol is used.
    FindReferences,
    /// The documentation and type of a symbol.
    Hover,
    /// The symbols of a file.
    DocumentSymbol,
    /// The symbols of the project.
    WorkspaceSymbol,
    /// What implements an interface or an abstract method.
    GoToImplementation,
    /// The item of the call hierarchy at a place.
    PrepareCallHierarchy,
    /// What calls the function at a place.
    IncomingCalls,
    /// What the function at a place calls.
    OutgoingCalls,
}

impl Operation {
    /// As it is written in a call.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::GoToDefinition => "goToDefinition",
            Operation::FindReferences => "findReferences",
            Operation::Hover => "hover",
            Operation::DocumentSymbol => "documentSymbol",
            Operation::WorkspaceSymbol => "workspaceSymbol",
            Operation::GoToImplementation => "goToImplementation",
            Operation::PrepareCallHierarchy => "prepareCallHierarchy",
            Operation::IncomingCalls => "incomingCalls",
            Operation::OutgoingCalls => "outgoingCalls",
        }
    }

    /// The first request, and what a server says that can answer it.
    fn request(self) -> (&'static str, &'static str) {
        match self {
            Operation::GoToDefinition => ("textDocument/definition", "definitionProvider"),
            Operation::FindReferences => ("textDocument/references", "referencesProvider"),
            Operation::Hover => ("textDocument/hover", "hoverProvider"),
            Operation::DocumentSymbol => ("textDocument/documentSymbol", "documentSymbolProvider"),
            Operation::WorkspaceSymbol => ("workspace/symbol", "workspaceSymbolProvider"),
            Operation::GoToImplementation => ("textDocument/implementation", "implementationProvider"),
            Operation::PrepareCallHierarchy | Operation::IncomingCalls | Operation::OutgoingCalls => {
                ("textDocument/prepareCallHierarchy", "callHierarchyProvider")
            }
        }
    }

    /// Whether the answer depends on files that are not open.
    fn is_about_project(self) -> bool {
        match self {
            Operation::GoToDefinition
            | Operation::FindReferences
            | Operation::WorkspaceSymbol
            | Operation::GoToImplementation
            | Operation::IncomingCalls => true,
            Operation::Hover
            | Operation::DocumentSymbol
            | Operation::PrepareCallHierarchy
            | Operation::OutgoingCalls => false,
        }
    }
}

/// A question.
pub(crate) struct Query {
    pub(crate) operation: Operation,
    /// The canonical path of the file.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// Counted from one.
    pub(crate) line: u32,
    /// Counted from one.
    pub(crate) character: u32,
    /// What symbols of the project are searched for.
    pub(crate) search: String,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueryError {
    /// No server is for such files.
    #[error(
        "No LSP server available for this file type. Name one under \"lsp\" in the configuration, or search with grep instead"
    )]
    NoServer,
    /// The one that is for them is missing.
    #[error("No LSP server available for this file type. {0}; or search with grep instead")]
    Missing(StartError),
    /// The one that is for them is there, and cannot be asked.
    #[error("{0}; try again later, or search with grep instead")]
    NotReady(StartError),
    /// There is no such place.
    #[error(transparent)]
    Outside(#[from] OutsideText),
    /// The server does not do this.
    #[error("{name} does not offer {}; use another operation", .operation.name())]
    NotOffered {
        /// The server.
        name: String,
        /// What was asked.
        operation: Operation,
    },
    /// The server gave no answer.
    #[error("{name} did not answer {}: {source}; try again, or search with grep instead", .operation.name())]
    Unanswered {
        /// The server.
        name: String,
        /// What was asked.
        operation: Operation,
        /// Why.
        source: RequestError,
    },
}

impl LanguageServers {
    /// What the servers that are for a file answer, one after the other.
    pub(crate) async fn ask(&self, query: Arc<Query>) -> Result<Vec<Value>, QueryError> {
        let (mut answers, mut failures, mut is_answered) = (Vec::new(), Vec::new(), false);
        for known in self.of(&query.path) {
            match self.ask_server(known, &query).await {
                Ok(found) => {
                    is_answered = true;
                    answers.extend(found);
                }
                Err(failure) => failures.push(failure),
            }
        }
        // One that could answer is enough; otherwise what a server said weighs more than that one is missing.
        let is_missing = |failure: &QueryError| matches!(failure, QueryError::Missing(_));
        failures.sort_by_key(is_missing);
        match failures.into_iter().next() {
            _ if is_answered => Ok(answers),
            Some(failure) => Err(failure),
            None => Err(QueryError::NoServer),
        }
    }

    async fn ask_server(&self, known: &Known, query: &Arc<Query>) -> Result<Vec<Value>, QueryError> {
        let mut is_again = false;
        loop {
            let client = self.ready_client(known, &query.path, self.pool.limits().start).await;
            let client = client.map_err(|error| match error {
                StartError::Absent { .. } => QueryError::Missing(error),
                StartError::Untrusted { .. }
                | StartError::Resting { .. }
                | StartError::TooMany(_)
                | StartError::Start { .. }
                | StartError::NotReady { .. } => QueryError::NotReady(error),
            })?;
            match self.ask_client(known, &client, query).await {
                // It may have ended long ago without anybody's noticing.
                Err(QueryError::Unanswered { source: RequestError::Gone(_), .. }) if !is_again => {
                    is_again = true;
                }
                answered => return answered,
            }
        }
    }

    async fn ask_client(
        &self,
        known: &Known,
        client: &Arc<Client>,
        query: &Arc<Query>,
    ) -> Result<Vec<Value>, QueryError> {
        let (operation, limit) = (query.operation, self.pool.limits().request);
        let unanswered = |source| match source {
            RequestError::Refused { code: UNKNOWN_METHOD, .. } => {
                QueryError::NotOffered { name: known.name.clone(), operation }
            }
            source => QueryError::Unanswered { name: known.name.clone(), operation, source },
        };
        let capabilities = client.ready(limit).await.map_err(unanswered)?;
        let (method, provider) = operation.request();
        if capabilities.cannot(provider) {
            return Err(QueryError::NotOffered { name: known.name.clone(), operation });
        }
        let document = json!({ "uri": address::of(&query.path) });
        let params = match operation {
            Operation::WorkspaceSymbol => json!({ "query": query.search }),
            Operation::DocumentSymbol => json!({ "textDocument": document }),
            Operation::GoToDefinition
            | Operation::FindReferences
            | Operation::Hover
            | Operation::GoToImplementation
            | Operation::PrepareCallHierarchy
            | Operation::IncomingCalls
            | Operation::OutgoingCalls => {
                let at = position::in_units(&query.text, query.line, query.character, capabilities.units)?;
                let context = json!({ "includeDeclaration": true });
                json!({ "textDocument": document, "position": at, "context": context })
            }
        };
        let (refreshed, asked) = (client.clone(), query.clone());
        let put = blocking(move |_| {
            refreshed.refresh(|path| (path != asked.path).then(|| text_on_disk(path))?)?;
            refreshed.put(&asked.path, &asked.text)
        });
        put.await.map_err(unanswered)?;
        if operation.is_about_project() {
            client.settled(SETTLED_WITHIN).await;
        }
        let first = patiently(client, method, &params, limit).await.map_err(unanswered)?;
        let follow = match operation {
            Operation::IncomingCalls => "callHierarchy/incomingCalls",
            Operation::OutgoingCalls => "callHierarchy/outgoingCalls",
            Operation::GoToDefinition
            | Operation::FindReferences
            | Operation::Hover
            | Operation::DocumentSymbol
            | Operation::WorkspaceSymbol
            | Operation::GoToImplementation
            | Operation::PrepareCallHierarchy => return Ok(listed(first)),
        };
        let mut calls = Vec::new();
        for item in listed(first).into_iter().take(ITEMS_MAX) {
            let found = patiently(client, follow, &json!({ "item": item }), limit).await;
            calls.extend(listed(found.map_err(unanswered)?));
        }
        Ok(calls)
    }
}

/// Asks again where the server says that it was disturbed, or found nothing because it was reading the project.
async fn patiently(
    client: &Client,
    method: &str,
    params: &Value,
    limit: Duration,
) -> Result<Value, RequestError> {
    let mut attempt = 0;
    loop {
        let reading = |state: &State| (state.is_unready, state.readings);
        let before = reading(&client.state());
        let answer = client.request(method, params, limit).await;
        // It may have said so, and the contrary, while it was asked.
        let is_unready = before.0 || before != reading(&client.state());
        match answer {
            Err(RequestError::Refused { code, .. })
                if CHANGED_MIND.contains(&code) && attempt < CHANGED_MIND_MAX =>
            {
                attempt += 1;
                tokio::time::sleep(CHANGED_MIND_PAUSE).await;
            }
            Ok(answer) if is_unready && listed(answer.clone()).is_empty() => {
                // That it has not read the project is no answer to what is in it.
                if attempt == CHANGED_MIND_MAX {
                    return Err(RequestError::StillReading);
                }
                attempt += 1;
                let read = tokio::time::timeout(limit, client.has_read_project()).await;
                read.map_err(|_| RequestError::TimedOut(limit))?;
            }
            answered => return answered,
        }
    }
}

/// An answer as a list: some are one thing, some many, some none.
fn listed(answer: Value) -> Vec<Value> {
    match answer {
        Value::Null => Vec::new(),
        Value::Array(items) => items.into_iter().filter(|item| !item.is_null()).collect(),
        one => vec![one],
    }
}
