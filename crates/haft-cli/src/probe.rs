//! `haft probe`: answers the questions of behaviour cases about parts of haft that no tool call reaches alone.
//!
//! A question is one JSON value on standard input, the answer one on standard output.

mod bound;
mod permission;
mod registry;
mod session;
mod truncate;
mod wildcard;

use serde_json::{Value, json};

use crate::exit::Failure;

/// What a probe answers, or why it cannot.
type Answer = Result<Value, Failure>;

/// A question of one kind, and what answers it.
type Probe = (&'static str, fn(&Value) -> Answer);

const PROBES: &[Probe] = &[
    ("bound", bound::answer),
    ("permission", permission::answer),
    ("registry", registry::answer),
    ("truncate", truncate::answer),
    ("wildcard", wildcard::answer),
];

/// Answers a question. `tools` are the names visible here, which one kind of question asks for.
pub(crate) fn answer(kind: &str, question: &Value, tools: impl FnOnce() -> Answer) -> Answer {
    match kind {
        "kinds" => {
            let kinds: Vec<&str> = PROBES.iter().map(|(kind, _)| *kind).chain(["tools"]).collect();
            Ok(json!({ "kinds": kinds }))
        }
        "tools" => tools(),
        _ => match PROBES.iter().find(|(known, _)| *known == kind) {
            Some((_, answer)) => answer(question),
            None => Err(Failure::usage(format_args!(
                "there is no probe of kind {kind:?}; see `haft probe kinds`"
            ))),
        },
    }
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
