//! A case as data: what is laid out, what is asked, what is expected.
//!
//! A key that the runner does not know is an error, so that no misspelt expectation passes unread.

use anyhow::{Context as _, bail, ensure};
use serde_json::{Map, Value, json};

use crate::expect::EXPECTATIONS;

const CASE_KEYS: [&str; 19] = [
    "config",
    "disputed",
    "env",
    "expect",
    "expect_requests",
    "files",
    "git",
    "held_out",
    "id",
    "input",
    "kind",
    "note",
    "permission",
    "requires_root",
    "server",
    "source",
    "steps",
    "subdir",
    "tool",
];
const STEP_KEYS: [&str; 6] = ["bind", "expect", "input", "permission", "tool", "write"];

/// One behaviour case.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) question: Question,
    /// Paths and what stands there, in the order in which they are made.
    pub(crate) files: Map<String, Value>,
    pub(crate) git: bool,
    pub(crate) subdir: Option<String>,
    pub(crate) config: Option<Value>,
    pub(crate) permission: Value,
    pub(crate) env: Map<String, Value>,
    /// The routes of a local HTTP server.
    pub(crate) server: Option<Map<String, Value>>,
    /// One matcher each over the whole log of requests.
    pub(crate) expect_requests: Vec<Value>,
    pub(crate) disputed: bool,
    /// The case says nothing when it runs as root.
    pub(crate) unprivileged: bool,
}

/// What a case asks the binary.
pub(crate) enum Question {
    Probe { kind: String, input: Value, expect: Value },
    Calls(Vec<Step>),
}

/// One call of a tool.
pub(crate) struct Step {
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) expect: Map<String, Value>,
    /// Files to write before the call.
    pub(crate) write: Map<String, Value>,
    /// Names for later steps, each with a pattern whose first group is the value.
    pub(crate) bind: Vec<(String, String)>,
    pub(crate) permission: Option<Value>,
}

impl Case {
    /// Tells whether a value has the shape of a behaviour case, well-formed or not.
    pub(crate) fn recognises(value: &Value) -> bool {
        let has = |key: &str| value.get(key).is_some();
        has("id") && (has("input") || has("steps")) && !has("interface")
    }

    pub(crate) fn parse(value: &Value) -> anyhow::Result<Case> {
        let fields = value.as_object().context("a case is an object")?;
        known(fields, &CASE_KEYS)?;
        let get = |key: &str| fields.get(key).filter(|value| !value.is_null());
        let truthy = |key: &str| get(key).is_some_and(|value| value != &Value::Bool(false));
        Ok(Case {
            id: string(fields, "id")?.to_owned(),
            question: Question::parse(fields)?,
            files: object(fields, "files")?,
            git: truthy("git"),
            subdir: get("subdir").and_then(Value::as_str).map(str::to_owned),
            config: get("config").cloned(),
            permission: get("permission").cloned().unwrap_or_else(allow_everything),
            env: object(fields, "env")?,
            server: get("server").map(|_| object(fields, "server")).transpose()?,
            expect_requests: get("expect_requests").and_then(Value::as_array).cloned().unwrap_or_default(),
            disputed: truthy("disputed"),
            unprivileged: get("requires_root") == Some(&Value::Bool(false)),
        })
    }

    /// The calls of the case; a probe has none.
    pub(crate) fn steps(&self) -> &[Step] {
        match &self.question {
            Question::Probe { .. } => &[],
            Question::Calls(steps) => steps,
        }
    }
}

impl Question {
    fn parse(fields: &Map<String, Value>) -> anyhow::Result<Question> {
        match fields.get("kind").and_then(Value::as_str) {
            None | Some("call") => {}
            Some(kind) => {
                let part = |key: &str| fields.get(key).cloned().with_context(|| format!("{key} is missing"));
                return Ok(Question::Probe {
                    kind: kind.to_owned(),
                    input: part("input")?,
                    expect: part("expect")?,
                });
            }
        }
        let tool = fields.get("tool").and_then(Value::as_str);
        let steps = match fields.get("steps").and_then(Value::as_array) {
            Some(steps) if !steps.is_empty() => {
                ensure!(!fields.contains_key("input"), "a case has steps or an input, not both");
                steps.iter().map(|step| Step::parse(step, tool)).collect::<Result<_, _>>()?
            }
            _ => {
                let step: Map<String, Value> = ["input", "expect"]
                    .into_iter()
                    .filter_map(|key| Some((key.to_owned(), fields.get(key)?.clone())))
                    .collect();
                vec![Step::parse(&Value::Object(step), tool)?]
            }
        };
        Ok(Question::Calls(steps))
    }
}

impl Step {
    fn parse(value: &Value, tool_of_case: Option<&str>) -> anyhow::Result<Step> {
        let fields = value.as_object().context("a step is an object")?;
        known(fields, &STEP_KEYS)?;
        let expect = fields.get("expect").and_then(Value::as_object).context("expect is missing")?;
        known(expect, &EXPECTATIONS).context("in expect")?;
        let bind = object(fields, "bind")?;
        let bind = bind.iter().map(|(name, _)| Ok((name.clone(), string(&bind, name)?.to_owned())));
        Ok(Step {
            tool: fields
                .get("tool")
                .and_then(Value::as_str)
                .or(tool_of_case)
                .context("no tool is named")?
                .to_owned(),
            input: fields.get("input").context("input is missing")?.clone(),
            expect: expect.clone(),
            write: object(fields, "write")?,
            bind: bind.collect::<anyhow::Result<_>>()?,
            permission: fields.get("permission").cloned(),
        })
    }
}

fn allow_everything() -> Value {
    json!([{"permission": "*", "pattern": "*", "action": "allow"}])
}

fn known(fields: &Map<String, Value>, keys: &[&str]) -> anyhow::Result<()> {
    match fields.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => bail!("unknown key {key:?}"),
        None => Ok(()),
    }
}

fn string<'a>(fields: &'a Map<String, Value>, key: &str) -> anyhow::Result<&'a str> {
    fields.get(key).and_then(Value::as_str).with_context(|| format!("{key} is not a string"))
}

fn object(fields: &Map<String, Value>, key: &str) -> anyhow::Result<Map<String, Value>> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(object)) => Ok(object.clone()),
        Some(other) => bail!("{key} is not an object: {other}"),
    }
}
