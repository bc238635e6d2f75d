//! Questions about scripts: what was parsed, and which words name a command.

use haft_tools::{Workspace, shell};
use serde_json::{Value, json};

use super::{Answer, list, text};
use crate::exit::{Exit, Failure};
use crate::setting::Setting;

pub(super) fn scan(setting: &Setting, question: &Value) -> Answer {
    let workspace = Workspace::open(&setting.directory, setting.worktree.as_deref())
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let (script, workdir) = (text(question, "command")?, question["workdir"].as_str());
    let target =
        shell::CommandTarget::new(&workspace, script, workdir, setting.env.home()).map_err(Failure::usage)?;
    let shell::Report { names, patterns, always, dirs } =
        shell::report(&workspace, target.analysis(), target.workdir());
    Ok(json!({ "names": names, "patterns": patterns, "always": always, "dirs": dirs }))
}

pub(super) fn arity(question: &Value) -> Answer {
    let tokens: Vec<&str> = list(question, "tokens")?.iter().filter_map(Value::as_str).collect();
    Ok(json!({ "prefix": shell::prefix(&tokens) }))
}
