//! The tool `websearch`: pages of the web, found by a search service.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use haft::permission::Gate;
use haft::{Action, Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::search_service::{Inquiry, Provider, Purpose, WebSearching};
use crate::services::ToolServices;
use crate::web::Web;

const ACTION: &str = "websearch";
const RESULTS: u64 = 8;
const QUERY_CHARS_MAX: usize = 2000;

/// Searches the web.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// What to look for.
    query: String,
    /// How many pages to return.
    #[schemars(range(min = 1, max = 20))]
    num_results: Option<u64>,
    /// Whether stored copies of pages will do.
    livecrawl: Option<Livecrawl>,
    /// How thorough to be.
    #[serde(rename = "type")]
    depth: Option<Depth>,
    /// How much to return, in characters.
    #[schemars(range(min = 1, max = 50000))]
    context_max_characters: Option<u64>,
}

/// Whether stored copies of pages will do.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Livecrawl {
    Fallback,
    Preferred,
}

/// How thorough a search is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Depth {
    Auto,
    Fast,
    Deep,
}

/// What a search service found.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// Who searched: `exa` or `parallel`.
    provider: String,
    /// What it found, in its own words; nothing if it found nothing.
    text: Option<String>,
}

pub(crate) struct WebSearch {
    web: Web,
    gate: Gate,
    searching: WebSearching,
    time: Option<Duration>,
}

impl WebSearch {
    pub(crate) fn new(services: &ToolServices) -> WebSearch {
        let ToolServices { web, gate, web_search, .. } = services.clone();
        WebSearch { web, gate, searching: web_search, time: None }
    }
}

impl Executor for WebSearch {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("num_results", "numResults"),
        ("context_max_characters", "contextMaxCharacters"),
        ("search_query", "query"),
    ];

    fn description(&self) -> Option<Cow<'_, str>> {
        let year = year(SystemTime::now()).to_string();
        Some(include_str!("websearch.txt").replace("{year}", &year).into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        check_query(&input.query)?;
        let service = self.searching.service(&context.session);
        let (tool, arguments) = match service.provider {
            Provider::Exa => ("web_search_exa", for_exa(input)),
            Provider::Parallel => ("web_search", for_parallel(input, context)),
        };
        let inquiry = Inquiry {
            service,
            purpose: Purpose::Web,
            action: Action::new(ACTION),
            query: &input.query,
            tool,
            arguments,
            time: self.time,
        };
        let text = inquiry.put(&self.web, &self.gate, context).await?;
        Ok(Output { provider: service.provider.as_str().to_owned(), text })
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let nothing = "No search results found. Please try a different query.";
        let label = Provider::parse(&output.provider).map_or("", Provider::label);
        Presented::text(output.text.as_deref().unwrap_or(nothing))
            .titled(format!("{label} Web Search: {}", input.query))
            .with("provider", output.provider.as_str())
    }
}

/// Whether a query says anything, and not too much.
fn check_query(query: &str) -> Result<(), ToolError> {
    let chars = query.chars().count();
    match chars {
        _ if query.trim().is_empty() => Err(ToolError::failure("the query is empty; say what to look for")),
        ..=QUERY_CHARS_MAX => Ok(()),
        _ => Err(ToolError::Failure(format!(
            "the query has {chars} characters; use a shorter one, of at most {QUERY_CHARS_MAX}"
        ))),
    }
}

fn for_exa(input: &Input) -> Value {
    let mut arguments = json!({
        "query": input.query,
        "type": input.depth.unwrap_or(Depth::Auto),
        "numResults": input.num_results.unwrap_or(RESULTS),
        "livecrawl": input.livecrawl.unwrap_or(Livecrawl::Fallback),
    });
    if let Some(chars) = input.context_max_characters {
        arguments["contextMaxCharacters"] = chars.into();
    }
    arguments
}

fn for_parallel(input: &Input, context: &ToolContext) -> Value {
    json!({
        "objective": input.query,
        "search_queries": [input.query],
        "session_id": context.session.as_str(),
    })
}

/// The year, by the calendar of everybody.
fn year(now: SystemTime) -> u64 {
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut days = seconds / 86_400;
    let mut year = 1970;
    loop {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = if is_leap { 366 } else { 365 };
        if days < length {
            return year;
        }
        days -= length;
        year += 1;
    }
}

#[cfg(test)]
mod tests;
