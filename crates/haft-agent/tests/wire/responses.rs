//! OpenAI's responses.

use expect_test::{Expect, expect};
use haft_agent::wire::Format;
use serde_json::{Value, json};

use crate::support::{Reply, events, runtime, said};

fn check(reply: Reply, expected: Expect) {
    expected.assert_eq(&runtime().block_on(said(Format::Responses, reply)));
}

fn event(kind: &str, fields: Value) -> Value {
    let mut event = fields;
    event["type"] = json!(format!("response.{kind}"));
    event
}

fn completed() -> Value {
    let usage = json!({"input_tokens": 50, "input_tokens_details": {"cached_tokens": 32}, "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 8}});
    event("completed", json!({"response": {"status": "completed", "usage": usage, "error": null}}))
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments, "status": "completed"})
}

fn added(at: u64, item: Value) -> Value {
    event("output_item.added", json!({"output_index": at, "item": item}))
}

fn done(at: u64, item: Value) -> Value {
    event("output_item.done", json!({"output_index": at, "item": item}))
}

fn arguments(at: u64, delta: &str) -> Value {
    event("function_call_arguments.delta", json!({"output_index": at, "delta": delta}))
}

#[test]
fn thoughts_text_and_interleaved_calls() {
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"});
    let stream = [
        event("created", json!({"response": {"status": "in_progress"}})),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        event("reasoning_summary_part.added", json!({"output_index": 0})),
        event("reasoning_summary_text.delta", json!({"output_index": 0, "delta": "h"})),
        event("reasoning_summary_text.delta", json!({"output_index": 0, "delta": "m"})),
        event("reasoning_summary_part.added", json!({"output_index": 0})),
        event("reasoning_summary_text.delta", json!({"output_index": 0, "delta": "so"})),
        done(0, thought),
        added(1, json!({"type": "message", "content": []})),
        event("output_text.delta", json!({"output_index": 1, "delta": "Looking…"})),
        done(1, json!({"type": "message"})),
        added(2, call("a", "read", "")),
        arguments(2, "{\"file"),
        added(3, call("b", "grep", "")),
        arguments(3, "{\"pattern\":"),
        arguments(2, "Path\":\"x\"}"),
        event(
            "function_call_arguments.done",
            json!({"output_index": 2, "arguments": "{\"filePath\":\"x\"}"}),
        ),
        done(2, call("a", "read", "{\"filePath\":\"x\"}")),
        arguments(3, "\"y\"}"),
        done(3, call("b", "grep", "{\"pattern\":\"y\"}")),
        completed(),
    ];
    check(
        Reply::stream(events(&stream)),
        expect![[r#"
            thought "hm\n\nso"
            thought ends {"format":"responses","value":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA"}}
            text "Looking…"
            calling read
            calling grep
            call a read {"filePath":"x"}
            call b grep {"pattern":"y"}
            usage in 18 out 20 thoughts 8 cache 32/0
            finished Calls"#]],
    );
}

#[test]
fn one_id_twice_is_left_to_whoever_begins_the_calls() {
    let stream = [
        done(0, call("d", "read", "{\"a\":1}")),
        done(0, call("d", "read", "{\"a\":1}")),
        done(1, call("d", "read", "{\"a\":1}")),
        done(2, call("d", "read", "{\"a\":2}")),
        completed(),
    ];
    check(
        Reply::stream(events(&stream)),
        expect![[r#"
            call d read {"a":1}
            call d read {"a":1}
            call d read {"a":2}
            usage in 18 out 20 thoughts 8 cache 32/0
            finished Calls"#]],
    );
}

#[test]
fn what_ran_out_of_room_or_failed_is_told_so() {
    let mut cut = call("a", "write", "{\"content\": \"ha");
    cut["status"] = json!("incomplete");
    let incomplete = event(
        "incomplete",
        json!({"response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}}),
    );
    check(
        Reply::stream(events(&[added(0, cut.clone()), done(0, cut), incomplete])),
        expect![[r#"
            calling write
            call a write {"content": "ha cut
            finished Length"#]],
    );
    let failed = event(
        "failed",
        json!({"response": {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "slow down"}}}),
    );
    check(Reply::stream(events(&[failed])), expect!["error: acme is busy: slow down"]);
    let error = json!({"type": "error", "code": "context_length_exceeded", "message": "your input exceeds the context window"});
    check(
        Reply::stream(events(&[error])),
        expect!["error: the conversation is too long for the model: your input exceeds the context window"],
    );
    check(
        Reply::stream(events(&[added(0, call("a", "read", "")), completed()])),
        expect![[r#"
        calling read
        usage in 18 out 20 thoughts 8 cache 32/0
        error: the answer of acme broke off: it ended within a call"#]],
    );
}

#[test]
fn a_whole_answer_is_understood() {
    let output = json!([{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}, call("a", "read", "{}")]);
    check(
        Reply::json(
            200,
            &json!({"status": "completed", "error": null, "output": output, "usage": {"input_tokens": 3, "output_tokens": 4}}),
        ),
        expect![[r#"
            text "Hi"
            calling read
            call a read {}
            usage in 3 out 4 thoughts 0 cache 0/0
            finished Calls"#]],
    );
}
