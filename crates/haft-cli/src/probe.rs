//! `haft probe`: answers the questions of behaviour cases about parts of haft that no tool call reaches alone.
//!
//! A question is one JSON value on standard input, the answer one on standard output.

mod bound;
mod permission;
mod registry;
mod scan;
mod session;
mod truncate;
mod wildcard;

use serde_json::{Value, json};

use crate::cli::ConsentArgs;
use crate::exit::Failure;
use crate::location::{Life, Location, Mode};
use crate::setting::Setting;

/// What a probe answers, or why it cannot.
type Answer = Result<Value, Failure>;

/// A question of one kind, and what answers it.
type Probe = (&'static str, fn(&Value) -> Answer);

const PROBES: &[Probe] = &[
    ("arity", scan::arity),
    ("bound", bound::answer),
    ("permission", permission::answer),
    ("registry", registry::answer),
    ("truncate", truncate::answer),
    ("wildcard", wildcard::answer),
];

/// A question that depends on where it is asked, and what answers it.
type ProbeHere = (&'static str, fn(&Setting, &Value) -> Answer);

const PROBES_HERE: &[ProbeHere] = &[("scan", scan::scan), ("tools", tools)];

/// Answers a question; `here` is where it is asked.
pub(crate) fn answer(
    kind: &str,
    question: &Value,
    here: impl FnOnce() -> Result<Setting, Failure>,
) -> Answer {
    if kind == "kinds" {
        let here = PROBES_HERE.iter().map(|(kind, _)| *kind);
        let kinds: Vec<&str> = PROBES.iter().map(|(kind, _)| *kind).chain(here).collect();
        return Ok(json!({ "kinds": kinds }));
    }
    if let Some((_, answer)) = PROBES_HERE.iter().find(|(known, _)| *known == kind) {
        return answer(&here()?, question);
    }
    match PROBES.iter().find(|(known, _)| *known == kind) {
        Some((_, answer)) => answer(question),
        None => {
            Err(Failure::usage(format_args!("there is no probe of kind {kind:?}; see `haft probe kinds`")))
        }
    }
}

/// The names of the tools that are visible here.
fn tools(setting: &Setting, _: &Value) -> Answer {
    let location = Location::open(setting, &ConsentArgs::default(), Mode::Rehearsal, Life::OneCall)?;
    tokio::runtime::Handle::current().block_on(location.plugins().refresh());
    let ids: Vec<String> = location.registry().ids().iter().map(ToString::to_string).collect();
    Ok(json!({ "ids": ids }))
}

fn text<'q>(question: &'q Value, field: &str) -> Result<&'q str, Failure> {
    question[field]
        .as_str()
        .ok_or_else(|| Failure::usage(format_args!("the question lacks the text {field:?}")))
}

fn list<'q>(question: &'q Value, field: &str) -> Result<&'q [Value], Failure> {
    let items = question[field].as_array().map(Vec::as_slice);
    items.ok_or_else(|| Failure::usage(format_args!("the question lacks the list {field:?}")))
}

fn number(question: &Value, field: &str, otherwise: usize) -> usize {
    question[field].as_u64().map_or(otherwise, |number| number as usize)
}

/// Runs a future that never waits for the outside.
fn now<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime without drivers can be made").block_on(future)
}
