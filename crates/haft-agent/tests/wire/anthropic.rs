//! Anthropic's messages.

use expect_test::{Expect, expect};
use haft_agent::wire::Format;
use serde_json::{Value, json};

use crate::support::{Reply, events, runtime, said};

fn check(reply: Reply, expected: Expect) {
    expected.assert_eq(&runtime().block_on(said(Format::Anthropic, reply)));
}

fn start() -> Value {
    let usage = json!({"input_tokens": 12, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7, "output_tokens": 1});
    json!({"type": "message_start", "message": {"id": "msg", "role": "assistant", "content": [], "usage": usage}})
}

fn begin(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn json_delta(index: u64, json: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": json}))
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 40}}),
        json!({"type": "message_stop"}),
    ]
}

fn stream(blocks: &[Value], reason: &str) -> Reply {
    let all: Vec<Value> = [start(), json!({"type": "ping"})]
        .into_iter()
        .chain(blocks.iter().cloned())
        .chain(end(reason))
        .collect();
    Reply::stream(events(&all))
}

#[test]
fn thoughts_text_and_calls() {
    check(
        stream(
            &[
                begin(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
                delta(0, json!({"type": "thinking_delta", "thinking": "let me "})),
                delta(0, json!({"type": "thinking_delta", "thinking": "see"})),
                delta(0, json!({"type": "signature_delta", "signature": "EqQB"})),
                stop(0),
                begin(1, json!({"type": "redacted_thinking", "data": "hidden"})),
                stop(1),
                begin(2, json!({"type": "text", "text": ""})),
                delta(2, json!({"type": "text_delta", "text": "I will look."})),
                stop(2),
                begin(3, json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}})),
                json_delta(3, ""),
                json_delta(3, "{\"filePath\": \"ä"),
                json_delta(3, ".txt\"}"),
                stop(3),
                begin(4, json!({"type": "tool_use", "id": "toolu_2", "name": "todoread", "input": {}})),
                stop(4),
            ],
            "tool_use",
        ),
        expect![[r#"
            usage in 12 out 1 thoughts 0 cache 100/7
            thought "let me see"
            thought ends {"format":"anthropic","value":{"signature":"EqQB"}}
            thought ends {"format":"anthropic","value":{"redacted":"hidden"}}
            text "I will look."
            calling read
            call toolu_1 read {"filePath": "ä.txt"}
            calling todoread
            usage in 12 out 40 thoughts 0 cache 100/7
            call toolu_2 todoread {}
            finished Calls"#]],
    );
}

#[test]
fn interleaved_blocks_and_one_id_twice_as_they_come() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    check(
        stream(
            &[
                begin(0, call("t")),
                begin(1, call("t")),
                json_delta(0, "{\"a\":"),
                json_delta(1, "{\"b\":"),
                json_delta(0, "1}"),
                json_delta(1, "2}"),
                stop(1),
                stop(0),
            ],
            "tool_use",
        ),
        expect![[r#"
            usage in 12 out 1 thoughts 0 cache 100/7
            calling read
            calling read
            call t read {"b":2}
            call t read {"a":1}
            usage in 12 out 40 thoughts 0 cache 100/7
            finished Calls"#]],
    );
}

#[test]
fn a_call_that_ran_out_of_room_is_told_as_cut_and_refusals_are_filtered() {
    let call = json!({"type": "tool_use", "id": "t", "name": "write", "input": {}});
    check(
        stream(&[begin(0, call), json_delta(0, "{\"content\": \"ha"), stop(0)], "max_tokens"),
        expect![[r#"
            usage in 12 out 1 thoughts 0 cache 100/7
            calling write
            usage in 12 out 40 thoughts 0 cache 100/7
            call t write {"content": "ha cut
            finished Length"#]],
    );
    check(
        stream(&[], "refusal"),
        expect![[r#"
        usage in 12 out 1 thoughts 0 cache 100/7
        usage in 12 out 40 thoughts 0 cache 100/7
        finished Filtered"#]],
    );
}

#[test]
fn an_error_within_the_stream_is_of_its_kind() {
    let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "so it is"}});
    check(
        Reply::stream(events(&[start(), error("overloaded_error")])),
        expect![[r#"
        usage in 12 out 1 thoughts 0 cache 100/7
        error: acme is busy: so it is"#]],
    );
    check(
        Reply::stream(events(&[start(), error("invalid_request_error")])),
        expect![[r#"
        usage in 12 out 1 thoughts 0 cache 100/7
        error: acme refused the request: so it is"#]],
    );
}

#[test]
fn a_whole_answer_is_understood() {
    let content = json!([{"type": "text", "text": "Hi"}, {"type": "tool_use", "id": "t", "name": "read", "input": {"filePath": "x"}}]);
    let answer = json!({"type": "message", "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}});
    check(
        Reply::json(200, &answer),
        expect![[r#"
        text "Hi"
        calling read
        call t read {"filePath":"x"}
        usage in 3 out 4 thoughts 0 cache 0/0
        finished Calls"#]],
    );
}
