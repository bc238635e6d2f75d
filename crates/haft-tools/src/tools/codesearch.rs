//! The tool `codesearch`: passages of code and documentation for a few words.
//!
//! Where a search service was set up it is asked; otherwise the answer is looked for where it most likely is, on this
//! machine. The answer says which of the two it was.

mod local;

use std::borrow::Cow;
use std::time::Duration;

use haft::permission::Gate;
use haft::{Action, Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::search_service::{Inquiry, Purpose, Service};
use crate::services::ToolServices;
use crate::web::Web;
use local::{Local, LocalSearch, TIME_MAX};

const ACTION: &str = "codesearch";
const QUERY_CHARS_MAX: usize = 2000;
const TOKENS: u64 = 5000;
const NOTHING: &str = "No code snippets or documentation found. Please try a different query, other words for the same \
                       thing, or the name of the library.";

/// Finds code and documentation by a few words.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// A few words that say what to look for: a library, a type or function, what it is to do.
    query: String,
    /// How much to show, in tokens.
    #[schemars(range(min = 1000, max = 50000))]
    tokens_num: Option<u64>,
}

/// What was found, and by whom.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "camelCase")]
pub(crate) enum Output {
    /// On this machine.
    Local(Local),
    /// By a search service.
    Remote(Remote),
}

/// What a search service found.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Remote {
    /// Who searched.
    provider: String,
    /// What it found, in its own words; nothing if it found nothing.
    text: Option<String>,
}

pub(crate) struct CodeSearch {
    local: LocalSearch,
    service: Option<Service>,
    web: Web,
    gate: Gate,
    time: Option<Duration>,
}

impl CodeSearch {
    pub(crate) fn new(services: &ToolServices) -> CodeSearch {
        let ToolServices { workspace, gate, web, code_search, .. } = services.clone();
        let service = code_search.service.filter(|_| !code_search.is_local);
        let local =
            LocalSearch { workspace, gate: gate.clone(), stores: code_search.stores, time_max: TIME_MAX };
        CodeSearch { local, service, web, gate, time: None }
    }

    async fn ask(
        &self,
        service: &Service,
        query: &str,
        tokens: u64,
        context: &ToolContext,
    ) -> Result<Remote, ToolError> {
        let inquiry = Inquiry {
            service,
            purpose: Purpose::Code,
            action: Action::new(ACTION),
            query,
            tool: "get_code_context_exa",
            arguments: json!({ "query": query, "tokensNum": tokens }),
            time: self.time,
        };
        let text = inquiry.put(&self.web, &self.gate, context).await?;
        Ok(Remote { provider: service.provider.as_str().to_owned(), text })
    }
}

impl Executor for CodeSearch {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] = &[("tokens_num", "tokensNum")];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("codesearch.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let chars = input.query.chars().count();
        if chars > QUERY_CHARS_MAX {
            let message = format!("the query has {chars} characters; a few telling words are enough");
            return Err(ToolError::Failure(message));
        }
        if input.query.trim().is_empty() {
            return Err(ToolError::failure("the query is empty; name a library, a type or a function"));
        }
        let tokens = input.tokens_num.unwrap_or(TOKENS);
        match &self.service {
            Some(service) => Ok(Output::Remote(self.ask(service, &input.query, tokens, context).await?)),
            None => Ok(Output::Local(self.local.search(&input.query, tokens, context).await?)),
        }
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let title = format!("Code search: {}", input.query);
        match &**output {
            Output::Local(local) => Presented::text(local.shown())
                .titled(title)
                .with("mode", "local")
                .with("passages", local.passages.len())
                .with("truncated", local.truncated),
            Output::Remote(Remote { provider, text }) => {
                let text = text.as_deref().unwrap_or(NOTHING);
                Presented::text(format!("{text}\n\n(Answered by the search service {provider}.)"))
                    .titled(title)
                    .with("mode", "remote")
                    .with("provider", provider.as_str())
            }
        }
    }
}

#[cfg(test)]
mod tests;
