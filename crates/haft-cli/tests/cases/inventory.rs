//! What the binary can do, as it says itself. A case for anything else is skipped; the core must be there.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use anyhow::Context as _;
use serde_json::{Map, Value};

use crate::case::{Case, Question};
use crate::drive::{Haft, Run, User};
use crate::outcome::Outcome;
use crate::report::Report;
use crate::workspace::Workspace;

/// Without these a binary is no haft, so their absence is a failure and not a reason to skip.
const CORE_TOOLS: [&str; 7] = ["read", "edit", "write", "todowrite", "todoread", "list", "invalid"];
const CORE_KINDS: [&str; 7] = ["registry", "permission", "wildcard", "truncate", "bound", "scan", "arity"];
/// Those of the core tools that the workspace's own cases call.
const CORE_TOOLS_WITH_CASES: [&str; 4] = ["read", "edit", "write", "todowrite"];

/// The tools and the kinds of probe that exist.
#[derive(Default)]
pub(crate) struct Inventory {
    tools: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl Inventory {
    /// Asks the binary once. What it cannot tell is reported, and counts as not there.
    pub(crate) fn ask(haft: &Haft, report: &mut Report) -> Inventory {
        let mut inventory = Inventory::default();
        match tools(haft) {
            Ok(tools) => inventory.tools = tools,
            Err(error) => report.fail("haft tools list", &format!("{error:#}")),
        }
        match kinds(haft) {
            Ok(kinds) => inventory.kinds = kinds,
            Err(error) => report.fail("haft probe kinds", &format!("{error:#}")),
        }
        inventory
    }

    /// Says what a case needs and the binary does not have.
    pub(crate) fn lacks(&self, case: &Case) -> Option<String> {
        match &case.question {
            Question::Probe { kind, .. } => {
                (!self.kinds.contains(kind)).then(|| format!("probe kind {kind} is not built yet"))
            }
            Question::Calls(steps) => steps
                .iter()
                .find(|step| !self.tools.contains(&step.tool) && !is_about_others(case))
                .map(|step| format!("tool {} is not built yet", step.tool)),
        }
    }

    /// Fails for every part of the core that is not there.
    pub(crate) fn require_core(&self, report: &mut Report) {
        for tool in CORE_TOOLS.iter().filter(|tool| !self.tools.contains(**tool)) {
            report.fail("core", &format!("the binary has no tool {tool}"));
        }
        for kind in CORE_KINDS.iter().filter(|kind| !self.kinds.contains(**kind)) {
            report.fail("core", &format!("the binary has no probe kind {kind}"));
        }
    }

    /// Fails for every part of the core that is there and that no case looked at.
    /// A run that tests nothing must not pass.
    pub(crate) fn require_core_ran(&self, cases: &[Case], outcomes: &[Outcome], report: &mut Report) {
        let ran = || {
            let pairs = cases.iter().zip(outcomes);
            pairs.filter(|(_, outcome)| !matches!(outcome, Outcome::Skipped(_))).map(|(case, _)| case)
        };
        for tool in CORE_TOOLS_WITH_CASES.iter().filter(|tool| self.tools.contains(**tool)) {
            if !ran().any(|case| case.steps().iter().any(|step| step.tool == *tool)) {
                report.fail("core", &format!("no case of tool {tool} ran"));
            }
        }
        for wanted in CORE_KINDS.iter().filter(|kind| self.kinds.contains(**kind)) {
            if !ran().any(|case| matches!(&case.question, Question::Probe { kind, .. } if kind == wanted)) {
                report.fail("core", &format!("no case of probe kind {wanted} ran"));
            }
        }
    }
}

/// Whether a case is about tools that are not haft's own: it brings them along, or is about there being none.
fn is_about_others(case: &Case) -> bool {
    let brings = |path: &String| path.contains(".opencode/tool") || path.contains(".opencode/plugin");
    case.files.keys().any(brings) || case.id.starts_with("custom-")
}

fn tools(haft: &Haft) -> anyhow::Result<BTreeSet<String>> {
    let answer = ask(haft, &["tools", "list", "--all", "--json"])?;
    let tools = answer.get("tools").and_then(Value::as_array).context("the answer has no tools")?;
    let name = |tool: &Value| Some(tool.get("name")?.as_str()?.to_owned());
    tools.iter().map(|tool| name(tool).with_context(|| format!("a tool has no name: {tool}"))).collect()
}

fn kinds(haft: &Haft) -> anyhow::Result<BTreeSet<String>> {
    let answer = ask(haft, &["probe", "kinds"])?;
    let kinds = answer.get("kinds").and_then(Value::as_array).context("the answer has no kinds")?;
    kinds.iter().map(|kind| Ok(kind.as_str().context("a kind is a string")?.to_owned())).collect()
}

fn ask(haft: &Haft, arguments: &[&str]) -> anyhow::Result<Value> {
    let workspace = Workspace::empty(None, "")?;
    let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    let run = Run {
        workspace: &workspace,
        env: &Map::new(),
        user: User::Ourselves,
        arguments: &arguments,
        stdin: "",
    };
    Ok(haft.ask(&run)?.json)
}
