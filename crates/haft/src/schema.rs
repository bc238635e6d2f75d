//! JSON Schemas of tools: derived from the types of typed tools, given for dynamic ones.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

type Deriving = Box<dyn FnOnce() -> Derived + Send>;

/// A schema in draft 2020-12, derived and compiled when it is first needed: a process that makes one call would
/// otherwise spend a quarter of its time on schemas that nobody looks at.
pub struct Schema {
    derived: LazyLock<Derived, Deriving>,
    compiled: OnceLock<Result<jsonschema::Validator, String>>,
}

struct Derived {
    json: Arc<Value>,
    /// What stands above the type in its source, as a model reads it.
    doc_comment: Option<String>,
}

impl Schema {
    /// A schema as it was written.
    pub fn given(json: Value) -> Schema {
        Schema::later(|| Derived { json: Arc::new(json), doc_comment: None })
    }

    fn later(derive: impl FnOnce() -> Derived + Send + 'static) -> Schema {
        Schema { derived: LazyLock::new(Box::new(derive)), compiled: OnceLock::new() }
    }

    /// Derives the schema of an input from its type, in the form providers understand: nothing by reference, optional
    /// fields merely absent instead of nullable, no integer formats.
    pub(crate) fn of_input<T: JsonSchema>() -> Schema {
        Schema::later(|| derived::<T>(SchemaSettings::draft2020_12(), drop_null))
    }

    /// Derives the schema of an output from its type: what is written, `null` where an absent value is written so.
    pub(crate) fn of_output<T: JsonSchema>() -> Schema {
        Schema::later(|| derived::<T>(SchemaSettings::draft2020_12().for_serialize(), |_| {}))
    }

    /// The schema itself.
    pub fn json(&self) -> &Arc<Value> {
        &self.derived.json
    }

    /// The doc comment of the type that it was derived from.
    pub(crate) fn doc_comment(&self) -> Option<&str> {
        self.derived.doc_comment.as_deref()
    }

    /// The compiled schema, or why it cannot be compiled.
    pub(crate) fn validator(&self) -> Result<&jsonschema::Validator, &str> {
        let compile = || jsonschema::validator_for(self.json()).map_err(|error| error.to_string());
        self.compiled.get_or_init(compile).as_ref().map_err(String::as_str)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json().fmt(f)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Schema) -> bool {
        self.json() == other.json()
    }
}

/// The schema of a type and, beside it, the type's doc comment.
fn derived<T: JsonSchema>(settings: SchemaSettings, nulls: fn(&mut Map<String, Value>)) -> Derived {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut json = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut json, nulls);
    let description = match &mut json {
        Value::Object(root) => {
            root.shift_remove("title");
            root.shift_remove("description")
        }
        _ => None,
    };
    let doc_comment = description.and_then(|text| text.as_str().map(unwrapped));
    Derived { json: Arc::new(json), doc_comment }
}

/// Doc comments are wrapped for people who read the source; a model reads paragraphs.
fn unwrapped(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}

fn simplify(schema: &mut Value, nulls: fn(&mut Map<String, Value>)) {
    match schema {
        Value::Object(object) => {
            let is_integer_format = |format: &Value| {
                format
                    .as_str()
                    .is_some_and(|f| f.starts_with("uint") || f.starts_with("int") || f == "double")
            };
            if object.get("format").is_some_and(is_integer_format) {
                object.shift_remove("format");
            }
            if object.get("default") == Some(&Value::Null) {
                object.shift_remove("default");
            }
            if let Some(Value::String(description)) = object.get_mut("description") {
                *description = unwrapped(description);
            }
            nulls(object);
            object.values_mut().for_each(|value| simplify(value, nulls));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| simplify(item, nulls)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `null` stands for an absent field and is taken away before validation, so no schema needs to mention it.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type") != Some(&Value::from("null")));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            object.shift_remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}
