//! The codec boundary: what a model sent becomes typed input or an error that the model can act on.
//!
//! Models misspell, send numbers as text and `null` for what they leave out. Aliases, numeric strings and nulls are
//! put right first; everything else is checked against the schema, and every problem names the field, what was
//! expected there and what was sent.

use std::fmt;

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::name::nearest;
use crate::schema::Schema;

/// How much of a value is repeated in a message.
const SENT_CHARS_MAX: usize = 60;
/// How much is told of one problem, and how much of a field's name.
const TOLD_CHARS_MAX: usize = 400;
const PATH_CHARS_MAX: usize = 120;
/// How many problems are told at once.
const ISSUES_MAX: usize = 8;

/// Input that does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    /// What the model is told.
    pub message: String,
    /// The problems, one by one.
    pub issues: Vec<Issue>,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

/// One problem with an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Where, such as `edits[0].old`; empty for the input as a whole.
    pub path: String,
    /// What is wrong, what was expected, what was sent.
    pub problem: String,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.problem),
            path => write!(f, "{path}: {}", self.problem),
        }
    }
}

/// An output that does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OutputError(pub String);

impl OutputError {
    pub(crate) fn new(problem: &dyn fmt::Display) -> OutputError {
        OutputError(clipped(&problem.to_string(), TOLD_CHARS_MAX))
    }
}

/// Puts right what is certain to be meant, then checks. Returns the input as the tool is to see it.
pub(crate) fn check(
    schema: &Schema,
    aliases: &[(&str, &str)],
    mut input: Value,
) -> Result<Value, Vec<Issue>> {
    rename(aliases, &mut input)?;
    normalise(schema.json(), &mut input);
    let validator =
        schema.validator().map_err(|why| vec![whole(format!("the tool's schema is unusable: {why}"))])?;
    if validator.is_valid(&input) {
        return Ok(input);
    }
    let mut issues: Vec<Issue> =
        validator.iter_errors(&input).flat_map(|error| explain(schema, &error)).collect();
    issues.truncate(ISSUES_MAX);
    Err(issues)
}

/// Checks an encoded output.
pub(crate) fn check_output(schema: &Schema, output: &Value) -> Result<(), OutputError> {
    let validator = schema.validator().map_err(|why| OutputError::new(&why))?;
    validator.validate(output).map_err(|error| {
        let brief = error.masked_with(excerpt(error.instance()));
        OutputError::new(&format_args!("{brief} at {:?}", error.instance_path().as_str()))
    })
}

/// Decodes checked input into its type.
pub(crate) fn decode<T: DeserializeOwned>(input: Value) -> Result<T, Vec<Issue>> {
    let immense = immense(&input);
    serde_path_to_error::deserialize(input).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        let problem = match immense.into_iter().find(|(name, _)| *name == path) {
            Some((_, number)) => format!("{number:?} is too large"),
            None => error.inner().to_string(),
        };
        vec![Issue { path, problem }]
    })
}

/// Whole numbers that no type holds, by their fields. To a schema they are integers like any other.
fn immense(input: &Value) -> Vec<(String, f64)> {
    let is_immense = |number: &f64| number.fract() == 0.0 && number.abs() >= (1_u64 << 63) as f64;
    let fields = input.as_object().into_iter().flatten();
    let numbers = fields.filter(|(_, value)| value.is_f64());
    numbers.filter_map(|(name, value)| Some((name.clone(), value.as_f64().filter(is_immense)?))).collect()
}

/// The words of a bad call, unless the tool has its own.
pub(crate) fn message(tool: &str, issues: &[Issue], own_words: Option<String>) -> InputError {
    let brief = |issue: &Issue| Issue {
        path: clipped(&issue.path, PATH_CHARS_MAX),
        problem: clipped(&issue.problem, TOLD_CHARS_MAX),
    };
    let issues: Vec<Issue> = issues.iter().map(brief).collect();
    let detail = own_words.unwrap_or_else(|| match issues.as_slice() {
        [only] => only.to_string(),
        several => several.iter().map(|issue| format!("\n- {issue}")).collect(),
    });
    let stop = if detail.ends_with(['.', '?', '!']) { "" } else { "." };
    let message = format!(
        "The {tool} tool was called with invalid arguments: {detail}{stop}\nPlease rewrite the input so it satisfies the expected schema."
    );
    InputError { message, issues }
}

fn whole(problem: String) -> Issue {
    Issue { path: String::new(), problem }
}

fn rename(aliases: &[(&str, &str)], input: &mut Value) -> Result<(), Vec<Issue>> {
    let Value::Object(fields) = input else { return Ok(()) };
    for (alias, name) in aliases {
        let Some(value) = fields.shift_remove(*alias) else { continue };
        match fields.get(*name) {
            None | Some(Value::Null) => {
                fields.insert((*name).to_owned(), value);
            }
            Some(present) if *present == value || value.is_null() => {}
            Some(_) => {
                let problem = format!("given twice with different values, also as {alias}");
                return Err(vec![Issue { path: (*name).to_owned(), problem }]);
            }
        }
    }
    Ok(())
}

/// Numeric strings become numbers where a number is wanted; `null` for a field that may be absent becomes absence.
fn normalise(schema: &Value, value: &mut Value) {
    match (schema.get("type").and_then(Value::as_str), &mut *value) {
        (Some("object"), Value::Object(fields)) => {
            let required = schema.get("required").and_then(Value::as_array);
            let is_required =
                |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
            let property = |name: &str| schema.get("properties").and_then(|properties| properties.get(name));
            let takes_null = |name: &str| match property(name) {
                Some(property) => admits_null(property),
                None => schema.get("additionalProperties") != Some(&Value::Bool(false)),
            };
            fields.retain(|name, value| !value.is_null() || is_required(name) || takes_null(name));
            for (name, value) in fields {
                if let Some(schema) = property(name) {
                    normalise(schema, value);
                }
            }
        }
        (Some("array"), Value::Array(items)) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| normalise(schema, item));
            }
        }
        (Some("integer"), Value::String(text)) => {
            if let Ok(number) = text.trim().parse::<i64>() {
                *value = number.into();
            }
        }
        // What JavaScript writes as 5.0 is an integer to JSON Schema, and not to Rust.
        (Some("integer"), Value::Number(number)) => {
            let whole = number.as_f64().filter(|float| !number.is_i64() && float.fract() == 0.0);
            if let Some(float) = whole.filter(|float| float.abs() < (1u64 << 53) as f64) {
                *value = (float as i64).into();
            }
        }
        (Some("number"), Value::String(text)) => {
            if let Some(number) = text.trim().parse().ok().and_then(serde_json::Number::from_f64) {
                *value = number.into();
            }
        }
        _ => {}
    }
}

/// Whether a schema has a use for `null`.
fn admits_null(schema: &Value) -> bool {
    let any = |key: &str| schema.get(key).and_then(Value::as_array);
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => match any("anyOf").or_else(|| any("oneOf")) {
            Some(branches) => branches.iter().any(admits_null),
            None => any("enum").is_none_or(|options| options.contains(&Value::Null)),
        },
    }
}

fn explain(schema: &Schema, error: &ValidationError<'_>) -> Vec<Issue> {
    let path = dotted(error.instance_path().as_str());
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let sent = || excerpt(error.instance());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let wanted = property_of(schema, error, name).map_or("a value".to_owned(), describe);
            vec![Issue {
                path: at(name),
                problem: format!("is required: expected {wanted}, but it is missing"),
            }]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let known =
                properties(schema, error).map(|fields| fields.keys().map(String::as_str).collect::<Vec<_>>());
            let known = known.unwrap_or_default();
            let problem = |name: &String| match nearest(name, known.iter().copied()) {
                Some(nearest) => format!("unknown field, did you mean {nearest}?"),
                None if known.is_empty() => "unknown field; no fields are expected here".to_owned(),
                None => format!("unknown field; the fields are {}", known.join(", ")),
            };
            unexpected.iter().map(|name| Issue { path: at(name), problem: problem(name) }).collect()
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(kind) => article(&kind.to_string()),
                TypeKind::Multiple(kinds) => {
                    kinds.iter().map(|kind| article(&kind.to_string())).collect::<Vec<_>>().join(" or ")
                }
            };
            vec![Issue { path, problem: format!("expected {wanted}, got {}", sent()) }]
        }
        ValidationErrorKind::Enum { options } => {
            let options: Vec<&str> =
                options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            vec![not_one_of(path, &options, error.instance())]
        }
        // The branch that came furthest says more than "no branch matched".
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            if let Some(issue) = wrong_tag(context) {
                return vec![issue];
            }
            // A branch whose tag fits is the one that was meant.
            let promise = |errors: &&Vec<ValidationError<'static>>| {
                let depth =
                    errors.iter().map(|error| error.instance_path().as_str().len()).max().unwrap_or(0);
                (errors.iter().all(|error| tag(error).is_none()), depth)
            };
            match context.iter().max_by_key(promise) {
                Some(branch) if !branch.is_empty() => {
                    branch.iter().flat_map(|e| explain(schema, e)).collect()
                }
                _ => vec![Issue { path, problem: format!("{error}") }],
            }
        }
        _ => vec![Issue { path, problem: format!("{}, got {}", error.masked_with("it"), sent()) }],
    }
}

/// What a tag should have been, if that is what is wrong.
fn tag<'e>(error: &'e ValidationError<'_>) -> Option<&'e str> {
    match error.kind() {
        ValidationErrorKind::Constant { expected_value } => expected_value.as_str(),
        _ => None,
    }
}

/// The problem with a value whose tag fits none of the branches.
fn wrong_tag(branches: &[Vec<ValidationError<'static>>]) -> Option<Issue> {
    let wrong: Vec<_> =
        branches.iter().map(|errors| errors.iter().find(|e| tag(e).is_some())).collect::<Option<_>>()?;
    let first = wrong.first()?;
    let options: Vec<&str> = wrong.iter().filter_map(|error| tag(error)).collect();
    Some(not_one_of(dotted(first.instance_path().as_str()), &options, first.instance()))
}

fn not_one_of(path: String, options: &[&str], sent: &Value) -> Issue {
    let hint = sent.as_str().and_then(|text| nearest(text, options.iter().copied()));
    let hint = hint.map(|nearest| format!("; did you mean {nearest:?}?")).unwrap_or_default();
    Issue { path, problem: format!("expected one of {}, got {}{hint}", options.join(", "), excerpt(sent)) }
}

/// The schema object that an error is about, found by walking to its instance.
fn parent<'s>(schema: &'s Schema, error: &ValidationError<'_>) -> Option<&'s Value> {
    let mut at: &Value = schema.json();
    for step in error.instance_path().as_str().split('/').skip(1) {
        at = match step.parse::<usize>() {
            Ok(_) if at.get("items").is_some() => at.get("items")?,
            _ => at.get("properties")?.get(step.replace("~1", "/").replace("~0", "~"))?,
        };
    }
    Some(at)
}

fn properties<'s>(schema: &'s Schema, error: &ValidationError<'_>) -> Option<&'s Map<String, Value>> {
    parent(schema, error)?.get("properties")?.as_object()
}

fn property_of<'s>(schema: &'s Schema, error: &ValidationError<'_>, name: &str) -> Option<&'s Value> {
    properties(schema, error)?.get(name)
}

fn describe(schema: &Value) -> String {
    match (schema.get("type").and_then(Value::as_str), schema.get("enum").and_then(Value::as_array)) {
        (_, Some(options)) => {
            format!("one of {}", options.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
        }
        (Some(kind), None) => article(kind),
        (None, None) => "a value".to_owned(),
    }
}

fn article(kind: &str) -> String {
    match kind {
        "array" | "integer" | "object" => format!("an {kind}"),
        "null" => "null".to_owned(),
        _ => format!("a {kind}"),
    }
}

/// `/edits/0/old` as people write it: `edits[0].old`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        match step.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) if path.is_empty() => path.push_str(&step),
            Err(_) => path.push_str(&format!(".{step}")),
        }
    }
    path
}

fn excerpt(value: &Value) -> String {
    clipped(&value.to_string(), SENT_CHARS_MAX)
}

fn clipped(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
