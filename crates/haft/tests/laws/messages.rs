//! What a model reads when its input was bad: the field, what was expected there, what was sent, what was near.

use expect_test::{Expect, expect};
use haft::{Call, Executor, Input, Issue, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Say, World, dynamic, settle, tool};

/// Changes a file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only their decoding matters")]
struct Change {
    /// The file.
    file_path: String,
    /// How.
    mode: Option<Mode>,
    /// How many lines.
    limit: Option<u32>,
    /// What to replace.
    #[serde(default)]
    edits: Vec<Edit>,
    /// What to do then.
    next: Option<Next>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Append,
    Replace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only their decoding matters")]
struct Edit {
    old_string: String,
    new_string: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(dead_code, reason = "only their decoding matters")]
enum Next {
    Format { with: String },
    Stage { branch: String },
}

struct Changer;

impl Executor for Changer {
    type Input = Change;
    type Output = String;
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("path", "filePath"), ("file_path", "filePath")];

    async fn execute(&self, _: &Change, _: &ToolContext) -> Result<String, ToolError> {
        Ok("changed".to_owned())
    }
}

fn message(input: Value) -> String {
    let told = World::new().settle_one(Tool::new(Changer), input);
    let told =
        told.strip_prefix("rejected as invalid_input: Invalid tool input: ").unwrap_or(&told).to_owned();
    let told = told.strip_prefix("The tool tool was called with invalid arguments: ").unwrap_or(&told);
    told.strip_suffix("\nPlease rewrite the input so it satisfies the expected schema.")
        .unwrap_or(told)
        .to_owned()
}

fn check(input: Value, expected: &Expect) {
    expected.assert_eq(&message(input));
}

#[test]
fn a_bad_call_is_told_in_full() {
    expect![[r#"
        rejected as invalid_input: Invalid tool input: The tool tool was called with invalid arguments: filePath: is required: expected a string, but it is missing.
        Please rewrite the input so it satisfies the expected schema."#]]
    .assert_eq(&World::new().settle_one(Tool::new(Changer), json!({})));
}

#[test]
fn a_wrong_type_is_told_with_what_was_sent() {
    check(json!({ "filePath": 7 }), &expect!["filePath: expected a string, got 7."]);
    check(
        json!({ "filePath": "a", "limit": "many" }),
        &expect![[r#"limit: expected an integer, got "many"."#]],
    );
    check(
        json!({ "filePath": "a", "limit": -1 }),
        &expect!["limit: it is less than the minimum of 0, got -1."],
    );
    check(json!("a.rs"), &expect![[r#"expected an object, got "a.rs"."#]]);
    check(json!({ "filePath": null }), &expect!["filePath: expected a string, got null."]);
}

#[test]
fn an_unknown_field_is_told_with_the_nearest() {
    check(json!({ "filePath": "a", "limmit": 3 }), &expect!["limmit: unknown field, did you mean limit?"]);
    check(
        json!({ "filePath": "a", "colour": 3 }),
        &expect!["colour: unknown field; the fields are filePath, mode, limit, edits, next."],
    );
}

#[test]
fn an_unknown_word_is_told_with_the_nearest() {
    check(
        json!({ "filePath": "a", "mode": "replce" }),
        &expect![[r#"mode: expected one of append, replace, got "replce"; did you mean "replace"?"#]],
    );
    check(
        json!({ "filePath": "a", "mode": "upside down" }),
        &expect![[r#"mode: expected one of append, replace, got "upside down"."#]],
    );
}

#[test]
fn a_problem_deep_inside_is_told_with_its_path() {
    check(
        json!({ "filePath": "a", "edits": [{ "oldString": "x", "newString": "y" }, { "oldString": "x" }] }),
        &expect!["edits[1].newString: is required: expected a string, but it is missing."],
    );
    check(
        json!({ "filePath": "a", "edits": [{ "old_string": "x", "newString": "y" }] }),
        &expect![[r#"

            - edits[0].oldString: is required: expected a string, but it is missing
            - edits[0].old_string: unknown field, did you mean oldString?"#]],
    );
}

#[test]
fn every_problem_is_told_up_to_eight() {
    check(
        json!({ "mode": 1, "limit": true }),
        &expect![[r#"

            - mode: expected a string, got 1
            - mode: expected one of append, replace, got 1
            - limit: expected an integer, got true
            - filePath: is required: expected a string, but it is missing."#]],
    );
    let many: serde_json::Map<String, Value> = (0..50).map(|n| (format!("field{n}"), json!(n))).collect();
    assert_eq!(message(many.into()).lines().filter(|line| line.starts_with("- ")).count(), 8);
}

#[test]
fn a_tagged_variant_is_explained_by_its_own_branch() {
    let said = message(json!({ "filePath": "a", "next": { "kind": "format" } }));
    assert!(said.contains("next.with"), "{said}");
}

#[test]
fn a_field_given_twice_is_told() {
    check(
        json!({ "filePath": "a", "path": "b" }),
        &expect!["filePath: given twice with different values, also as path."],
    );
    check(
        json!({ "file_path": "a", "path": "b" }),
        &expect!["filePath: given twice with different values, also as file_path."],
    );
}

#[test]
fn what_is_not_json_is_told_as_such() {
    let world = World::new();
    let _changer = world.register("change", Tool::new(Changer));
    let text = r#"{"filePath": "a","#.to_owned();
    let problem = haft::json::parse(&text).unwrap_err().to_string();
    let call = Call { input: Input::Malformed { text, problem }, ..world.call("change", Value::Null) };
    expect![[r#"
        rejected as invalid_input: Invalid tool input: The change tool was called with invalid arguments: the input is not valid JSON: EOF while parsing a value at line 1 column 17.
        Please rewrite the input so it satisfies the expected schema."#]]
    .assert_eq(&settle(&world.turn(), call));
}

struct Particular;

impl Executor for Particular {
    type Input = Change;
    type Output = String;

    fn explain(issues: &[Issue]) -> Option<String> {
        let fields: Vec<&str> = issues.iter().map(|issue| issue.path.as_str()).collect();
        Some(format!("look at {}", fields.join(" and ")))
    }

    async fn execute(&self, _: &Change, _: &ToolContext) -> Result<String, ToolError> {
        Ok(String::new())
    }
}

#[test]
fn a_tool_may_have_words_of_its_own() {
    expect![[r#"
        rejected as invalid_input: Invalid tool input: The tool tool was called with invalid arguments: look at limit and filePath.
        Please rewrite the input so it satisfies the expected schema."#]]
    .assert_eq(&World::new().settle_one(Tool::new(Particular), json!({ "limit": "many" })));
}

#[test]
fn what_was_sent_is_repeated_only_in_part() {
    check(
        json!({ "filePath": "a", "limit": "x".repeat(100_000) }),
        &expect![[
            r#"limit: expected an integer, got "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (100002 bytes)."#
        ]],
    );
}

#[test]
fn no_message_about_an_input_is_long() {
    let long = "x".repeat(1_000_000);
    for input in [
        json!({ "filePath": "a", long.as_str(): 1 }),
        json!({ "filePath": "a", "next": { "kind": long } }),
        json!({ "filePath": "a", "mode": long }),
        json!({ "filePath": 7, "edits": [long] }),
    ] {
        let said = message(input);
        assert!(said.len() < 10_000, "{} bytes: {}…", said.len(), &said[..100]);
    }
}

#[test]
fn no_message_about_an_output_is_long() {
    let long = dynamic(json!({ "type": "object" }), json!({ "type": "integer" }), |_| {
        Ok("x".repeat(1_000_000).into())
    });
    let told = World::new().settle_one(long, json!({}));
    assert!(told.starts_with("rejected as invalid_output") && told.len() < 10_000, "{} bytes", told.len());
}

#[test]
fn a_long_failure_is_told_within_the_limits() {
    let world = World::new();
    let fails =
        tool(async |_: Say, _| -> Result<String, ToolError> { Err(ToolError::failure("x".repeat(1 << 20))) });
    let told = world.settle_one(fails, json!({ "text": "hello" }));
    assert!(told.len() < 60 * 1024, "{} bytes", told.len());
    assert!(told.contains("bytes truncated..."), "it says that something is missing");
}
