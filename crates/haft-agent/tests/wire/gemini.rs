//! Google's Gemini.

use expect_test::{Expect, expect};
use haft_agent::wire::Format;
use serde_json::{Value, json};

use crate::support::{Reply, events, runtime, said};

fn check(reply: Reply, expected: Expect) {
    expected.assert_eq(&runtime().block_on(said(Format::Gemini, reply)));
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn finish(reason: &str) -> Value {
    let usage = json!({"promptTokenCount": 40, "cachedContentTokenCount": 30, "candidatesTokenCount": 6, "thoughtsTokenCount": 5});
    json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": reason}], "usageMetadata": usage})
}

fn call(name: &str, args: Value) -> Value {
    json!({"functionCall": {"name": name, "args": args}})
}

#[test]
fn thoughts_text_and_parallel_calls_with_signatures() {
    let mut signed = call("read", json!({"filePath": "ü"}));
    signed["thoughtSignature"] = json!("c2ln");
    let stream = [
        parts(json!([{"text": "let me see", "thought": true}])),
        parts(json!([{"text": "Looking."}])),
        parts(json!([signed, call("read", json!({"filePath": "y"}))])),
        parts(json!([{"functionCall": {"name": "todoread"}}])),
        finish("STOP"),
    ];
    check(
        Reply::stream(events(&stream)),
        expect![[r#"
        thought "let me see"
        thought ends 
        text "Looking."
        calling read
        call call_0 read {"filePath":"ü"} {"format":"gemini","value":"c2ln"}
        calling read
        call call_1 read {"filePath":"y"}
        calling todoread
        call call_2 todoread {}
        usage in 10 out 11 thoughts 5 cache 30/0
        finished Calls"#]],
    );
}

#[test]
fn a_signature_of_text_is_kept_for_what_comes_before_it() {
    let stream = [
        parts(json!([{"text": "Hi"}])),
        parts(json!([{"text": "", "thoughtSignature": "c2ln"}])),
        finish("STOP"),
    ];
    check(
        Reply::stream(events(&stream)),
        expect![[r#"
        text "Hi"
        thought ends {"format":"gemini","value":"c2ln"}
        usage in 10 out 11 thoughts 5 cache 30/0
        finished Stop"#]],
    );
}

#[test]
fn one_id_twice_is_left_to_whoever_begins_the_calls() {
    let with_id = |args: Value| json!({"functionCall": {"id": "d", "name": "read", "args": args}});
    let stream = [
        parts(json!([with_id(json!({"a": 1})), with_id(json!({"a": 1})), with_id(json!({"a": 2}))])),
        finish("STOP"),
    ];
    check(
        Reply::stream(events(&stream)),
        expect![[r#"
            calling read
            call d read {"a":1}
            calling read
            call d read {"a":1}
            calling read
            call d read {"a":2}
            usage in 10 out 11 thoughts 5 cache 30/0
            finished Calls"#]],
    );
}

#[test]
fn how_it_ends_is_told() {
    for (reason, expected) in [("MAX_TOKENS", "finished Length"), ("SAFETY", "finished Filtered")] {
        let said = runtime().block_on(said(Format::Gemini, Reply::stream(events(&[finish(reason)]))));
        assert!(said.ends_with(expected), "{said}");
    }
    check(
        Reply::stream(events(&[json!({"promptFeedback": {"blockReason": "SAFETY"}})])),
        expect!["finished Filtered"],
    );
    check(
        Reply::stream(events(&[finish("MALFORMED_FUNCTION_CALL")])),
        expect![[r#"
        usage in 10 out 11 thoughts 5 cache 30/0
        error: acme sent something that cannot be understood: the model wrote no call that can be read (MALFORMED_FUNCTION_CALL)"#]],
    );
    let error = json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    check(Reply::stream(events(&[error])), expect!["error: acme is busy: overloaded"]);
}

#[test]
fn whole_answers_are_understood_also_in_a_list() {
    let answer = json!([parts(json!([{"text": "Hi"}])), finish("STOP")]);
    check(
        Reply::json(200, &answer),
        expect![[r#"
        text "Hi"
        usage in 10 out 11 thoughts 5 cache 30/0
        finished Stop"#]],
    );
}
