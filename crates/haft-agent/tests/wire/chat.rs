//! Chat completions, as several servers speak them.

use expect_test::{Expect, expect};
use haft_agent::wire::Format;
use serde_json::{Value, json};

use crate::support::{Reply, events, runtime, said};

fn check(reply: Reply, expected: Expect) {
    expected.assert_eq(&runtime().block_on(said(Format::Chat, reply)));
}

fn delta(delta: Value) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn piece(index: u64, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut piece = json!({"index": index, "function": {"arguments": arguments}});
    if let Some(id) = id {
        piece["id"] = json!(id);
        piece["type"] = json!("function");
    }
    if let Some(name) = name {
        piece["function"]["name"] = json!(name);
    }
    delta(json!({"tool_calls": [piece]}))
}

fn stream(documents: &[Value]) -> Reply {
    Reply::stream(events(documents) + "data: [DONE]\n\n")
}

#[test]
fn text_with_usage_at_the_end() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 20}, "completion_tokens_details": {"reasoning_tokens": 4}}});
    check(
        stream(&[
            delta(json!({"role": "assistant", "content": ""})),
            delta(json!({"content": "Grüß "})),
            delta(json!({"content": "dich 👋"})),
            finish("stop"),
            usage,
        ]),
        expect![[r#"
            text "Grüß dich 👋"
            usage in 10 out 9 thoughts 4 cache 20/0
            finished Stop"#]],
    );
}

#[test]
fn parallel_calls_also_interleaved() {
    check(
        stream(&[
            piece(0, Some("call_a"), Some("read"), ""),
            piece(0, None, None, "{\"filePath\":"),
            piece(1, Some("call_b"), Some("grep"), "{\"pat"),
            piece(0, None, None, "\"a.rs\"}"),
            piece(1, None, None, "tern\":\"x\"}"),
            piece(2, Some("call_c"), Some("todoread"), ""),
            finish("tool_calls"),
        ]),
        expect![[r#"
            calling read
            calling grep
            call call_a read {"filePath":"a.rs"}
            call call_b grep {"pattern":"x"}
            calling todoread
            call call_c todoread {}
            finished Calls"#]],
    );
}

#[test]
fn a_call_is_told_as_soon_as_the_next_one_begins() {
    check(
        stream(&[
            piece(0, Some("a"), Some("read"), "{\"filePath\": \"x\"}"),
            piece(1, Some("b"), Some("read"), "{\"filePath\": \"y\"}"),
            finish("tool_calls"),
        ]),
        expect![[r#"
            calling read
            call a read {"filePath": "x"}
            calling read
            call b read {"filePath": "y"}
            finished Calls"#]],
    );
}

#[test]
fn servers_without_indices_or_with_one_for_all_send_whole_calls() {
    let whole = |id: &str, path: &str| json!({"id": id, "function": {"name": "read", "arguments": {"filePath": path}}});
    check(
        stream(&[delta(json!({"tool_calls": [whole("", "x"), whole("", "y")]})), finish("stop")]),
        expect![[r#"
            calling read
            call call_0 read {"filePath":"x"}
            calling read
            call call_1 read {"filePath":"y"}
            finished Calls"#]],
    );
    let same =
        |id: &str, path: &str| piece(0, Some(id), Some("read"), &format!("{{\"filePath\":\"{path}\"}}"));
    check(
        stream(&[same("a", "x"), same("b", "y"), finish("tool_calls")]),
        expect![[r#"
        calling read
        call a read {"filePath":"x"}
        calling read
        call b read {"filePath":"y"}
        finished Calls"#]],
    );
}

#[test]
fn an_id_used_twice_is_left_to_whoever_begins_the_calls() {
    let call =
        |index, path: &str| piece(index, Some("dup"), Some("read"), &format!("{{\"filePath\":\"{path}\"}}"));
    check(
        stream(&[call(0, "x"), call(1, "x"), call(2, "y"), finish("tool_calls")]),
        expect![[r#"
            calling read
            call dup read {"filePath":"x"}
            calling read
            call dup read {"filePath":"x"}
            calling read
            call dup read {"filePath":"y"}
            finished Calls"#]],
    );
}

#[test]
fn thoughts_keep_what_their_server_wants_back() {
    check(
        stream(&[
            delta(json!({"reasoning_content": "hm, "})),
            delta(json!({"reasoning_content": "so"})),
            delta(json!({"content": "Yes."})),
            finish("stop"),
        ]),
        expect![[r#"
            thought "hm, so"
            thought ends {"format":"chat","value":{"field":"reasoning_content"}}
            text "Yes."
            finished Stop"#]],
    );
    let detail = |text: &str, signature: Value| json!({"reasoning": text, "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text, "signature": signature}]});
    check(
        stream(&[
            delta(detail("a", Value::Null)),
            delta(detail("b", json!("sig"))),
            piece(0, Some("a"), Some("read"), "{}"),
            finish("tool_calls"),
        ]),
        expect![[r#"
            thought "ab"
            thought ends {"format":"chat","value":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"ab","signature":"sig"}]}}
            calling read
            call a read {}
            finished Calls"#]],
    );
}

#[test]
fn a_call_that_ran_out_of_room_is_told_as_cut() {
    check(
        stream(&[
            piece(0, Some("a"), Some("read"), "{}"),
            piece(1, Some("b"), Some("write"), "{\"content\": \"half"),
            finish("length"),
        ]),
        expect![[r#"
            calling read
            call a read {}
            calling write
            call b write {"content": "half cut
            finished Length"#]],
    );
}

#[test]
fn a_server_that_does_not_stream_is_understood_and_the_marker_may_be_missing() {
    let message = json!({"role": "assistant", "content": "Hi", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}]});
    check(
        Reply::json(
            200,
            &json!({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}),
        ),
        expect![[r#"
            text "Hi"
            calling read
            call a read {}
            usage in 1 out 2 thoughts 0 cache 0/0
            finished Calls"#]],
    );
    check(
        Reply::stream(events(&[delta(json!({"content": "Hi"})), finish("stop")])),
        expect![[r#"
        text "Hi"
        finished Stop"#]],
    );
    let bare = format!("data: {}\n\ndata: {}", delta(json!({"content": "Hi"})), finish("stop"));
    check(
        Reply::stream(bare),
        expect![[r#"
        text "Hi"
        finished Stop"#]],
    );
}
