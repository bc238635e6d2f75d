//! The tool `lsp`: questions about code, answered by a language server.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use haft::permission::{Effect, Gate, Question};
use haft::{Action, Encoded, Executor, Presented, ToolContext, ToolError, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::blocking::blocking;
use crate::lsp::{LanguageServers, Languages, Operation, Query, TEXT_BYTES_MAX, path_of, text_of};
use crate::services::ToolServices;
use crate::workspace::{Opened, Place, ReadTarget, Workspace};

const ACTION: &str = "lsp";
const READ_ACTION: &str = "read";

/// Asks a language server about code.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// What to ask.
    operation: Operation,
    /// The file: absolute, or relative to the working directory.
    file_path: String,
    /// The line, counted from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The character in the line, counted from 1.
    #[schemars(range(min = 1))]
    character: u32,
    /// What names of symbols must match, for workspaceSymbol; leave it out for all that the server tells.
    query: Option<String>,
}

/// What the server answered.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// The file, relative to the root of the project.
    name: String,
    /// The results, as the protocol of language servers has them.
    result: Vec<Value>,
}

pub(crate) struct Lsp {
    workspace: Workspace,
    gate: Gate,
    languages: Languages,
}

impl Lsp {
    pub(crate) fn new(services: &ToolServices) -> Lsp {
        let ToolServices { workspace, gate, languages, .. } = services.clone();
        Lsp { workspace, gate, languages }
    }

    fn servers(&self) -> Result<&Arc<LanguageServers>, ToolError> {
        match &self.languages {
            Languages::On(servers) => Ok(servers),
            Languages::Off => Err(ToolError::failure(
                "language servers are switched off (\"lsp\": false in the configuration); search with grep instead",
            )),
            Languages::Untrusted => Err(ToolError::failure(
                "no language server is started in a project that nobody trusts, because it would run what the project \
                 tells it to; the person can trust it with `haft trust`. Search with grep instead",
            )),
        }
    }

    /// The text of the file, after consent.
    async fn text(&self, place: &Place, context: &ToolContext) -> Result<String, ToolError> {
        let asked = ReadTarget::new(place.clone(), Action::new(ACTION));
        drop(self.gate.grant(context, asked).await?);
        // What a server says of a file tells what is in it.
        let permit =
            self.gate.grant(context, ReadTarget::new(place.clone(), Action::new(READ_ACTION))).await?;
        let path = visible(&place.spelled_text());
        let file = match self.workspace.read(permit).await? {
            Opened::File(file) => file,
            Opened::Missing { .. } => return Err(ToolError::Failure(format!("File not found: {path}"))),
            Opened::Directory(_) => {
                return Err(ToolError::Failure(format!("{path} is a directory; name a file in it")));
            }
        };
        let read = move || {
            let mut bytes = Vec::new();
            file.into_file().take(TEXT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
        };
        let bytes = blocking(move |_| read()).await;
        let bytes = bytes.map_err(|error| ToolError::Failure(format!("could not read {path}: {error}")))?;
        if bytes.len() > TEXT_BYTES_MAX {
            return Err(ToolError::Failure(format!(
                "{path} is larger than the {TEXT_BYTES_MAX} bytes that language servers are shown; search it with grep instead"
            )));
        }
        text_of(&bytes).ok_or_else(|| ToolError::Failure(format!("{path} is not text")))
    }

    /// The results that speak of nothing but what may be read. The others are left out without a word.
    async fn readable(&self, results: Vec<Value>, context: &ToolContext) -> Result<Vec<Value>, ToolError> {
        let mut addresses: BTreeMap<String, bool> = BTreeMap::new();
        for result in &results {
            named(result, &mut |address| {
                addresses.insert(address.to_owned(), true);
            });
        }
        for (address, may_be_read) in &mut addresses {
            let place = path_of(address).and_then(|path| self.workspace.locate(&path).ok());
            if let Some(place) = place {
                let question: Question = place.looking();
                let decisions = self.gate.decisions(context, &question).await?;
                *may_be_read = decisions.iter().all(|decision| decision.effect == Effect::Allow);
            }
        }
        let may_be_shown = |result: &Value| {
            let mut all = true;
            named(result, &mut |address| all &= addresses.get(address).copied().unwrap_or(true));
            all
        };
        Ok(results.into_iter().filter(may_be_shown).collect())
    }
}

/// Calls back with every address in a result.
fn named(result: &Value, found: &mut impl FnMut(&str)) {
    match result {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(address) if matches!(key.as_str(), "uri" | "targetUri") => found(address),
                    Some(_) => {}
                    None => named(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Executor for Lsp {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("path", "filePath"), ("file_path", "filePath"), ("filepath", "filePath"), ("column", "character")];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("lsp.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let place = self.workspace.resolve(&input.file_path)?;
        let text = self.text(&place, context).await?;
        if !place.is_inside() {
            return Err(ToolError::Failure(format!(
                "{} lies outside the project, and language servers are only asked about what is in it; use read or grep",
                place.shown()
            )));
        }
        let query = Query {
            operation: input.operation,
            path: place.real().to_owned(),
            text,
            line: input.line,
            character: input.character,
            search: input.query.clone().unwrap_or_default(),
        };
        let answered = self.servers()?.ask(Arc::new(query)).await;
        let result = answered.map_err(|error| ToolError::Failure(error.to_string()))?;
        Ok(Output { name: place.name().to_owned(), result: self.readable(result, context).await? })
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let operation = input.operation.name();
        let result = Value::Array(output.result.clone());
        let text = match output.result.is_empty() {
            true => format!("No results found for {operation}"),
            false => format!("{result:#}"),
        };
        let title = format!("{operation} {}:{}:{}", output.name, input.line, input.character);
        Presented::text(text).titled(title).with("result", result)
    }
}
