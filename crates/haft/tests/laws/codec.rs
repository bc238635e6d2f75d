//! The codec boundary: execution sees decoded input, presentation sees encoded output, and what does not fit ends there.

use expect_test::expect;
use haft::{Encoded, Executor, Invalid, Issue, Presented, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::support::{Runs, Say, World, dynamic, echo, now, settle, tool};

/// A length that is written in metres and kept in millimetres.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Length {
    millimetres: u64,
}

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{} m", self.millimetres / 1000))
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Length, D::Error> {
        let text = String::deserialize(deserializer)?;
        let metres = text.strip_suffix(" m").and_then(|metres| metres.parse::<u64>().ok());
        let metres = metres.ok_or_else(|| serde::de::Error::custom(format!("{text:?} is no length")))?;
        Ok(Length { millimetres: metres * 1000 })
    }
}

impl JsonSchema for Length {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Length".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// Cuts a length.
#[derive(Deserialize, JsonSchema)]
struct Cut {
    /// How much.
    by: Length,
}

struct Cutter(Runs);

impl Executor for Cutter {
    type Input = Cut;
    type Output = Length;

    async fn execute(&self, input: &Cut, _: &ToolContext) -> Result<Length, ToolError> {
        self.0.note();
        // More than the encoded form can say.
        Ok(Length { millimetres: input.by.millimetres + 7 })
    }

    fn present(input: &Cut, output: &Encoded<Length>) -> Presented {
        Presented::text(format!(
            "cut {} mm, encoded {}, read back {} mm",
            input.by.millimetres,
            output.json(),
            output.millimetres
        ))
    }
}

#[test]
fn execution_sees_decoded_input() {
    let world = World::new();
    let told = world.settle_one(Tool::new(Cutter(Runs::default())), json!({ "by": "3 m" }));
    assert!(told.starts_with("completed: cut 3000 mm"), "{told}");
}

#[test]
fn the_presentation_sees_the_encoded_output() {
    let world = World::new();
    expect![[r#"completed: cut 3000 mm, encoded "3 m", read back 3000 mm"#]]
        .assert_eq(&world.settle_one(Tool::new(Cutter(Runs::default())), json!({ "by": "3 m" })));
}

#[test]
fn invalid_input_never_runs() {
    let world = World::new();
    let runs = Runs::default();
    let _cutter = world.register("cut", Tool::new(Cutter(runs.clone())));
    let _echo = world.register("echo", runs.echo());
    let turn = world.turn();
    for (name, input) in [
        ("cut", json!({ "by": "three" })),
        ("cut", json!({})),
        ("cut", json!("3 m")),
        ("cut", Value::Null),
        ("echo", json!({ "text": 3 })),
        ("echo", json!({ "text": "a", "more": "b" })),
        ("echo", json!([])),
    ] {
        let told = settle(&turn, world.call(name, input.clone()));
        assert!(told.starts_with("rejected as invalid_input"), "{input}: {told}");
    }
    assert_eq!(runs.count(), 0);
    assert!(!world.states().contains("running"), "{}", world.states());
}

/// An output that can be written and not read, or neither.
#[derive(JsonSchema)]
struct Odd(&'static str);

impl Serialize for Odd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            "" => Err(serde::ser::Error::custom("there is nothing to write")),
            text => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Odd {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Odd, D::Error> {
        Err(serde::de::Error::custom("it cannot be read back"))
    }
}

struct Oddly(&'static str);

impl Executor for Oddly {
    type Input = Say;
    type Output = Odd;

    async fn execute(&self, _: &Say, _: &ToolContext) -> Result<Odd, ToolError> {
        Ok(Odd(self.0))
    }

    fn present(_: &Say, _: &Encoded<Odd>) -> Presented {
        panic!("an output that was not encoded is not presented")
    }
}

#[test]
fn invalid_output_never_completes() {
    let world = World::new();
    let text = json!({ "text": "" });
    expect!["rejected as invalid_output: Tool returned an invalid value for its output schema: there is nothing to write"]
        .assert_eq(&world.settle_one(Tool::new(Oddly("")), text.clone()));
    expect!["rejected as invalid_output: Tool returned an invalid value for its output schema: it cannot be read back"]
        .assert_eq(&world.settle_one(Tool::new(Oddly("odd")), text));
    let wrong = dynamic(
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": { "size": { "type": "integer" } } }),
        |_| Ok(json!({ "size": "large" })),
    );
    expect![[r#"rejected as invalid_output: Tool returned an invalid value for its output schema: "large" is not of type "integer" at "/size""#]]
        .assert_eq(&world.settle_one(wrong, json!({})));
}

/// Half a share at most.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Share {
    #[schemars(range(max = 50))]
    percent: u32,
}

struct Sharer;

impl Executor for Sharer {
    type Input = Say;
    type Output = Share;

    async fn execute(&self, _: &Say, _: &ToolContext) -> Result<Share, ToolError> {
        Ok(Share { percent: 80 })
    }
}

#[test]
fn an_output_beyond_its_advertised_schema_never_completes() {
    let told = World::new().settle_one(Tool::new(Sharer), json!({ "text": "" }));
    assert!(told.starts_with("rejected as invalid_output"), "{told}");
}

/// A finding, which may have a note.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Finding {
    line: u32,
    note: Option<String>,
}

struct Finder;

impl Executor for Finder {
    type Input = Say;
    type Output = Finding;

    async fn execute(&self, _: &Say, _: &ToolContext) -> Result<Finding, ToolError> {
        Ok(Finding { line: 1, note: None })
    }
}

#[test]
fn the_advertised_output_schema_admits_what_the_tool_returns() {
    let world = World::new();
    let _finder = world.register("find", Tool::new(Finder));
    let turn = world.turn();
    let settled = now(turn.settle(world.call("find", json!({ "text": "" })))).unwrap();
    let haft::Settlement::Completed(completed) = settled else { panic!("it was rejected") };
    let schema = &turn.definitions()[0].output.json();
    let problem = jsonschema::validate(schema, &completed.structured).err();
    assert!(problem.is_none(), "{} does not fit {schema}: {problem:?}", completed.structured);
}

#[test]
fn text_is_shown_as_text_and_anything_else_as_structured_output() {
    let world = World::new();
    assert_eq!(world.settle_one(echo(), json!({ "text": "as it is" })), "completed: as it is");
    let structured = dynamic(json!({ "type": "object" }), json!(true), |_| Ok(json!({ "a": [1] })));
    expect![[r#"
        completed: {
          "a": [
            1
          ]
        }"#]]
    .assert_eq(&world.settle_one(structured, json!({})));
}

/// Greets somebody,
/// or nobody.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Greet {
    /// Whom to greet,
    /// by name.
    #[serde(rename = "fullName")]
    full_name: String,
    /// How often.
    times: Option<u32>,
}

struct Greeter;

impl Executor for Greeter {
    type Input = Greet;
    type Output = String;
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("name", "fullName"), ("full_name", "fullName")];

    async fn execute(&self, input: &Greet, _: &ToolContext) -> Result<String, ToolError> {
        Ok(format!("{} {}", input.full_name, input.times.unwrap_or(1)))
    }
}

#[test]
fn the_schema_is_derived_and_mentions_no_alias() {
    let world = World::new();
    let _greeter = world.register("greet", Tool::new(Greeter));
    let turn = world.turn();
    let definition = &turn.definitions()[0];
    assert_eq!(definition.description, "Greets somebody, or nobody.");
    expect![[r#"{"type":"object","additionalProperties":false,"properties":{"fullName":{"type":"string","description":"Whom to greet, by name."},"times":{"type":"integer","minimum":0,"description":"How often."}},"required":["fullName"]}"#]]
        .assert_eq(&definition.input.json().to_string());
}

#[test]
fn aliases_numeric_text_and_null_are_put_right() {
    let world = World::new();
    let _greeter = world.register("greet", Tool::new(Greeter));
    let turn = world.turn();
    for (input, expected) in [
        (json!({ "fullName": "Ada", "times": "2" }), "completed: Ada 2"),
        (json!({ "name": "Ada", "times": " 3 " }), "completed: Ada 3"),
        (json!({ "full_name": "Ada", "times": null }), "completed: Ada 1"),
        (json!({ "name": "Ada", "fullName": "Ada" }), "completed: Ada 1"),
        (json!({ "name": "Ada", "fullName": null }), "completed: Ada 1"),
        (json!({ "name": null, "fullName": "Ada" }), "completed: Ada 1"),
    ] {
        assert_eq!(settle(&turn, world.call("greet", input.clone())), expected, "{input}");
    }
}

#[test]
fn a_whole_number_may_be_written_with_a_point() {
    let told = World::new().settle_one(Tool::new(Greeter), json!({ "fullName": "Ada", "times": 2.0 }));
    assert_eq!(told, "completed: Ada 2");
}

#[test]
fn a_null_that_the_schema_allows_is_kept() {
    let nullable = json!({ "type": "object", "properties": { "owner": { "type": ["string", "null"] } } });
    let told = World::new().settle_one(
        dynamic(nullable, json!(true), |input| Ok(input.to_string().into())),
        json!({ "owner": null }),
    );
    assert_eq!(told, r#"completed: {"owner":null}"#);
}

#[test]
fn what_only_the_tool_could_find_wrong_is_told_like_any_invalid_input() {
    let issue = Issue { path: "text".to_owned(), problem: "must rhyme".to_owned() };
    let picky = |words: Option<&str>| {
        let invalid = Invalid { issues: vec![issue.clone()], words: words.map(str::to_owned) };
        tool(move |_, _| std::future::ready(Err(ToolError::Invalid(invalid.clone()))))
    };
    let told = World::new().settle_one(picky(None), json!({ "text": "orange" }));
    assert!(told.starts_with("rejected as ") && told.contains("text: must rhyme."), "{told}");
    assert!(told.contains("Please rewrite the input so it satisfies the expected schema."), "{told}");
    let told = World::new().settle_one(picky(Some("find a rhyme")), json!({ "text": "orange" }));
    assert!(told.contains("find a rhyme.") && !told.contains("must rhyme"), "{told}");
}
