//! Runs the cases: a few at a time, each in its workspace, each step in turn.

use std::ffi::OsStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde_json::Value;

use crate::case::{Case, Question, Step};
use crate::content::Names;
use crate::drive::{Answer, Haft, Run, User, is_root, on_path};
use crate::expect;
use crate::inventory::Inventory;
use crate::load::Loaded;
use crate::matching::matches;
use crate::outcome::{Failure, Outcome, mismatch};
use crate::pattern;
use crate::server::Server;
use crate::workspace::Workspace;

/// Runs all cases and returns their outcomes in the same order.
pub(crate) fn all(loaded: &Loaded, haft: &Haft, inventory: &Inventory, threads: usize) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::with_capacity(loaded.cases.len()));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = loaded.cases.get(index) else { break };
                    let outcome = one(case, loaded, haft, inventory);
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn one(case: &Case, loaded: &Loaded, haft: &Haft, inventory: &Inventory) -> Outcome {
    if let Some(reason) = inventory.lacks(case) {
        return Outcome::Skipped(reason);
    }
    let user = if case.unprivileged && is_root() { User::Nobody } else { User::Ourselves };
    if user == User::Nobody && on_path("setpriv").is_none() {
        let reason = "WARNING: NOT TESTED: we are root, and there is no setpriv to become somebody else";
        return Outcome::Skipped(reason.to_owned());
    }
    Outcome::judge(verdict(case, haft, user), loaded.superseded.get(&case.id), case.disputed)
}

fn verdict(case: &Case, haft: &Haft, user: User) -> Result<(), Failure> {
    let server = case.server.as_ref().map(|routes| Server::start(routes.clone())).transpose()?;
    let url = server.as_ref().map_or("", |server| &server.url);
    let mut attempt = Attempt { case, haft, user, workspace: Workspace::lay_out(case, url)? };
    match &case.question {
        Question::Probe { kind, input, expect } => attempt.probe(kind, input, expect)?,
        Question::Calls(steps) => {
            for (index, step) in steps.iter().enumerate() {
                attempt.step(index, step).map_err(|failure| match steps.len() {
                    1 => failure,
                    _ => failure.at(&format!("step {}", index + 1)),
                })?;
            }
        }
    }
    let log = server.as_ref().map_or(Value::Array(Vec::new()), Server::log);
    for want in &case.expect_requests {
        matches(want, &log, &attempt.workspace.names, "requests")?;
    }
    Ok(())
}

/// One case, laid out and under way.
struct Attempt<'a> {
    case: &'a Case,
    haft: &'a Haft,
    user: User,
    workspace: Workspace,
}

impl Attempt<'_> {
    fn probe(&self, kind: &str, input: &Value, expect: &Value) -> Result<(), Failure> {
        let input = self.workspace.names.fill_value(input)?.to_string();
        let cwd = self.workspace.cwd.as_os_str();
        let answer = self.ask(&["probe".as_ref(), kind.as_ref(), "--cwd".as_ref(), cwd], &input)?;
        matches(expect, &answer.json, &self.workspace.names, "probe")
    }

    fn step(&mut self, index: usize, step: &Step) -> Result<(), Failure> {
        for (name, content) in &step.write {
            self.workspace.write(&self.workspace.path(name), content)?;
        }
        let answer = self.call(index, step)?;
        for (name, wanted) in &step.bind {
            let output = answer.json.get("output").and_then(Value::as_str).unwrap_or_default();
            let found = pattern::compile(wanted, &Names::default())?.captures(output);
            let Some(value) = found.and_then(|found| Some(found.get(1)?.as_str().to_owned())) else {
                mismatch!("bind {name}: /{wanted}/ is not in the output");
            };
            self.workspace.names.bind(name, value);
        }
        expect::check(&step.expect, &answer.json, &self.workspace, answer.elapsed)
    }

    fn call(&self, index: usize, step: &Step) -> anyhow::Result<Answer> {
        let input = self.workspace.names.fill_value(&step.input)?.to_string();
        let rules = match &step.permission {
            Some(rules) => self.workspace.rules(&format!("permission-{index}.json"), rules)?,
            None => self.workspace.permission.clone(),
        };
        let session = format!("case-{}", self.case.id);
        let arguments: [&OsStr; 10] = [
            "call".as_ref(),
            step.tool.as_ref(),
            input.as_ref(),
            "--cwd".as_ref(),
            self.workspace.cwd.as_ref(),
            "--permission".as_ref(),
            rules.as_ref(),
            "--session".as_ref(),
            session.as_ref(),
            "--json".as_ref(),
        ];
        self.ask(&arguments, "")
    }

    fn ask(&self, arguments: &[&OsStr], stdin: &str) -> anyhow::Result<Answer> {
        let Attempt { case, user, workspace, .. } = self;
        self.haft.ask(&Run { workspace, env: &case.env, user: *user, arguments, stdin })
    }
}
