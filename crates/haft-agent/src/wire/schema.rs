//! Schemas of tools as providers take them.

use haft::Definition;
use serde_json::{Map, Value, json};

use super::fault::Fault;

/// The longest name of a tool that every provider takes.
const NAME_CHARS_MAX: usize = 64;
/// How deep references may be followed.
const DEPTH_MAX: usize = 32;
/// What Gemini's schemas may hold, as they are.
const GEMINI_PLAIN: &[&str] = &[
    "title",
    "description",
    "default",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minProperties",
    "maxProperties",
    "nullable",
];
const GEMINI_FORMATS: &[&str] = &["enum", "date-time", "float", "double", "int32", "int64"];
const UNIONS: &[&str] = &["oneOf", "anyOf", "allOf", "not", "enum"];

/// The schema of a tool's input for OpenAI and Anthropic: an object at the top, and no word about dialects.
pub(crate) fn plain(tool: &Definition) -> Result<Value, Fault> {
    let root = root(tool)?;
    let mut schema = root.clone();
    schema.shift_remove("$schema");
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Ok(Value::Object(schema))
}

/// The schema in Gemini's subset of OpenAPI; none if the tool takes nothing.
pub(crate) fn gemini(tool: &Definition) -> Result<Option<Value>, Fault> {
    let root = root(tool)?;
    let Some(properties) = root.get("properties").and_then(Value::as_object) else { return Ok(None) };
    if properties.is_empty() {
        return Ok(None);
    }
    let whole = Value::Object(root.clone());
    let translation = Translation { root: &whole };
    let schema = translation.schema(&whole, 0);
    schema.map(Some).map_err(|problem| incompatible(tool, problem))
}

fn root(tool: &Definition) -> Result<&Map<String, Value>, Fault> {
    if tool.name.as_str().chars().count() > NAME_CHARS_MAX {
        return Err(incompatible(tool, format!("its name is longer than {NAME_CHARS_MAX} characters")));
    }
    let root = tool.input.json().as_object().ok_or_else(|| incompatible(tool, "its schema is no object"))?;
    if let Some(union) = UNIONS.iter().find(|union| root.contains_key(**union)) {
        return Err(incompatible(
            tool,
            format!("its schema has {union} at the top, where only an object may stand"),
        ));
    }
    match root.get("type") {
        None => Ok(root),
        Some(kind) if kind == "object" => Ok(root),
        Some(kind) => Err(incompatible(tool, format!("its input is {kind}, not an object"))),
    }
}

fn incompatible(tool: &Definition, problem: impl Into<String>) -> Fault {
    Fault::Incompatible { tool: tool.name.to_string(), problem: problem.into() }
}

struct Translation<'a> {
    root: &'a Value,
}

impl Translation<'_> {
    fn schema(&self, schema: &Value, depth: usize) -> Result<Value, String> {
        if depth > DEPTH_MAX {
            return Err("its schema refers to itself".to_owned());
        }
        let object = match schema {
            Value::Object(object) => object,
            Value::Bool(true) => return Ok(json!({ "type": "string" })),
            _ => return Err(format!("its schema holds {schema}")),
        };
        if let Some(reference) = object.get("$ref") {
            let mut target = self.schema(self.target(reference)?, depth + 1)?;
            if let Some(description) = object.get("description") {
                target["description"] = description.clone();
            }
            return Ok(target);
        }
        let mut made = Map::new();
        for (key, value) in object {
            if GEMINI_PLAIN.contains(&key.as_str()) {
                made.insert(key.clone(), value.clone());
            }
        }
        if let Some(format) = object.get("format").filter(|format| is_known_format(format)) {
            made.insert("format".to_owned(), format.clone());
        }
        self.put_type(object, &mut made)?;
        put_enum(object, &mut made)?;
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            let translated =
                properties.iter().map(|(name, schema)| Ok((name.clone(), self.schema(schema, depth + 1)?)));
            made.insert("properties".to_owned(), Value::Object(translated.collect::<Result<_, String>>()?));
            made.extend(object.get("required").map(|required| ("required".to_owned(), required.clone())));
        }
        if let Some(items) = object.get("items") {
            made.insert("items".to_owned(), self.schema(items, depth + 1)?);
        } else if made.get("type") == Some(&json!("array")) {
            made.insert("items".to_owned(), json!({ "type": "string" }));
        }
        self.put_union(object, &mut made, depth)?;
        let is_empty_object = made.get("type") == Some(&json!("object")) && !made.contains_key("properties");
        match is_empty_object {
            true => Err("it takes an object of any keys, which Gemini has no words for".to_owned()),
            false => Ok(Value::Object(made)),
        }
    }

    /// `["string", "null"]` is a string that may be null.
    fn put_type(&self, object: &Map<String, Value>, made: &mut Map<String, Value>) -> Result<(), String> {
        let kinds: Vec<&str> = match object.get("type") {
            None => return Ok(()),
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            Some(other) => return Err(format!("its schema has the type {other}")),
        };
        let solid: Vec<&str> = kinds.iter().copied().filter(|kind| *kind != "null").collect();
        if solid.len() < kinds.len() {
            made.insert("nullable".to_owned(), json!(true));
        }
        match solid.as_slice() {
            [] => made.insert("type".to_owned(), json!("string")),
            [kind] => made.insert("type".to_owned(), json!(kind)),
            many => {
                made.insert("anyOf".to_owned(), many.iter().map(|kind| json!({ "type": kind })).collect())
            }
        };
        Ok(())
    }

    fn put_union(
        &self,
        object: &Map<String, Value>,
        made: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), String> {
        for key in ["anyOf", "oneOf"] {
            let Some(Value::Array(options)) = object.get(key) else { continue };
            let is_null = |option: &&Value| option["type"] == "null";
            if options.iter().any(|option| is_null(&option)) {
                made.insert("nullable".to_owned(), json!(true));
            }
            let solid: Vec<&Value> = options.iter().filter(|option| !is_null(option)).collect();
            match solid.as_slice() {
                [only] => self.merge(only, made, depth)?,
                many => {
                    let options = many.iter().map(|option| self.schema(option, depth + 1));
                    made.insert("anyOf".to_owned(), Value::Array(options.collect::<Result<_, _>>()?));
                }
            }
        }
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.merge(part, made, depth)?;
        }
        Ok(())
    }

    /// Puts a schema into another one that says nothing else about the same things.
    fn merge(&self, part: &Value, made: &mut Map<String, Value>, depth: usize) -> Result<(), String> {
        let Value::Object(part) = self.schema(part, depth + 1)? else { return Ok(()) };
        for (key, value) in part {
            match (made.get_mut(&key), value) {
                (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
                (Some(Value::Array(own)), Value::Array(more)) => own.extend(more),
                (Some(_), _) if key == "description" || key == "title" || key == "default" => {}
                (Some(own), value) if *own != value => {
                    return Err(format!("its schema says two things about {key}"));
                }
                (_, value) => {
                    made.insert(key, value);
                }
            }
        }
        Ok(())
    }

    fn target(&self, reference: &Value) -> Result<&Value, String> {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let target = pointer.and_then(|pointer| self.root.pointer(pointer));
        target.ok_or_else(|| format!("its schema refers to {reference}, which is not in it"))
    }
}

/// Gemini's enumerations are of texts.
fn put_enum(object: &Map<String, Value>, made: &mut Map<String, Value>) -> Result<(), String> {
    let values: Vec<&Value> = match (object.get("const"), object.get("enum").and_then(Value::as_array)) {
        (Some(value), _) => vec![value],
        (None, Some(values)) => values.iter().collect(),
        (None, None) => return Ok(()),
    };
    if values.iter().any(|value| value.is_null()) {
        made.insert("nullable".to_owned(), json!(true));
    }
    let solid: Vec<&Value> = values.into_iter().filter(|value| !value.is_null()).collect();
    if solid.iter().all(|value| value.is_string()) {
        made.entry("type").or_insert_with(|| json!("string"));
        made.insert("enum".to_owned(), solid.into_iter().cloned().collect());
        return Ok(());
    }
    let listed = solid.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let described =
        made.get("description").and_then(Value::as_str).map(|text| format!("{text} ")).unwrap_or_default();
    made.insert("description".to_owned(), json!(format!("{described}One of: {listed}.")));
    let kind = match solid.first() {
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(number)) if number.is_f64() => "number",
        Some(Value::Number(_)) => "integer",
        _ => return Err("its schema lists values that are neither texts, numbers nor switches".to_owned()),
    };
    made.entry("type").or_insert_with(|| json!(kind));
    Ok(())
}

fn is_known_format(format: &Value) -> bool {
    format.as_str().is_some_and(|format| GEMINI_FORMATS.contains(&format))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};

    use super::*;

    fn tool(schema: Value) -> Definition {
        let name = haft::ToolName::parse("t").unwrap();
        let action = haft::Action::from(&name);
        Definition {
            name,
            description: "d".to_owned(),
            input: Arc::new(haft::Schema::given(schema)),
            output: Arc::new(haft::Schema::given(json!({}))),
            action,
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
    fn check(schema: Value, expected: Expect) {
        let made = match gemini(&tool(schema)) {
            Ok(Some(schema)) => schema["properties"].to_string(),
            Ok(None) => "nothing".to_owned(),
            Err(Fault::Incompatible { problem, .. }) => format!("incompatible: {problem}"),
            Err(other) => format!("{other:?}"),
        };
        expected.assert_eq(&made);
    }

    #[expect(clippy::needless_pass_by_value, reason = "documents are written where they are used")]
    fn property(schema: Value) -> Value {
        json!({"$schema": "x", "type": "object", "properties": {"p": schema}, "additionalProperties": false,
            "$defs": {"A": {"type": "string", "enum": ["x"]}, "R": {"type": "array", "items": {"$ref": "#/$defs/R"}}}})
    }

    #[test]
    fn gemini_is_given_its_subset() {
        check(
            property(json!({"type": ["integer", "null"], "format": "uint32", "minimum": 0})),
            expect![[r#"{"p":{"minimum":0,"nullable":true,"type":"integer"}}"#]],
        );
        check(
            property(json!({"const": "on", "description": "d"})),
            expect![[r#"{"p":{"description":"d","type":"string","enum":["on"]}}"#]],
        );
        check(
            property(json!({"enum": [1, 2]})),
            expect![[r#"{"p":{"description":"One of: 1, 2.","type":"integer"}}"#]],
        );
        check(
            property(json!({"$ref": "#/$defs/A", "description": "d"})),
            expect![[r#"{"p":{"type":"string","enum":["x"],"description":"d"}}"#]],
        );
        check(
            property(json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]})),
            expect![[r#"{"p":{"nullable":true,"type":"string","enum":["x"]}}"#]],
        );
        check(
            property(json!({"oneOf": [{"type": "string"}, {"type": "integer"}]})),
            expect![[r#"{"p":{"anyOf":[{"type":"string"},{"type":"integer"}]}}"#]],
        );
        check(
            property(json!({"type": "array"})),
            expect![[r#"{"p":{"type":"array","items":{"type":"string"}}}"#]],
        );
        check(json!({"type": "object", "properties": {}}), expect!["nothing"]);
    }

    #[test]
    fn what_cannot_be_said_is_an_error_that_names_it() {
        check(property(json!({"$ref": "#/$defs/R"})), expect!["incompatible: its schema refers to itself"]);
        check(
            property(json!({"$ref": "#/$defs/B"})),
            expect![[r##"incompatible: its schema refers to "#/$defs/B", which is not in it"##]],
        );
        check(
            property(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            expect!["incompatible: it takes an object of any keys, which Gemini has no words for"],
        );
        check(
            json!({"anyOf": []}),
            expect!["incompatible: its schema has anyOf at the top, where only an object may stand"],
        );
        check(json!({"type": "string"}), expect![[r#"incompatible: its input is "string", not an object"#]]);
    }

    #[test]
    fn others_get_the_schema_without_its_dialect() {
        assert_eq!(
            plain(&tool(json!({"$schema": "x"}))).unwrap(),
            json!({"type": "object", "properties": {}})
        );
    }
}
