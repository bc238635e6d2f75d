//! Batches, settled in a turn like the calls they stand for.

use expect_test::expect;
use haft::{SettleError, Settlement};
use serde_json::{Value, json};

use crate::testing::Bench;

fn call(tool: &str, parameters: &Value) -> Value {
    json!({"tool": tool, "parameters": parameters})
}

fn batch(calls: &[Value]) -> Value {
    json!({"tool_calls": calls})
}

#[test]
fn every_result_is_in_the_answer() {
    let bench = Bench::new();
    bench.file("a.txt", "one\n");
    let read = call("read", &json!({"filePath": "a.txt"}));
    let write = call("write", &json!({"filePath": "b.txt", "content": "two\n"}));
    let done = bench.completed("batch", batch(&[read, write]));
    assert!(
        done.text().starts_with("All 2 tools executed successfully.\n\n<result index=\"1\" tool=\"read\"")
    );
    assert!(done.text().contains("1: one") && bench.text("b.txt") == "two\n", "{}", done.text());
    assert_eq!(done.title, "Batch execution (2/2 successful)");
    let facts = json!({
        "totalCalls": 2, "successful": 2, "failed": 0, "tools": ["read", "write"],
        "details": [{"tool": "read", "success": true}, {"tool": "write", "success": true}],
    });
    for (key, value) in facts.as_object().unwrap() {
        assert_eq!(&done.metadata[key], value, "{key}");
    }
}

#[test]
fn images_come_along() {
    let bench = Bench::new();
    let image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";
    bench.file("p.png", image);
    let read = call("read", &json!({"filePath": "p.png"}));
    let done = bench.completed("batch", batch(&[read.clone(), read]));
    assert_eq!(done.content.len(), 3, "{:?}", done.content);
}

#[test]
fn what_fails_fails_alone() {
    let bench = Bench::new();
    bench.file("a.txt", "one\n");
    let denied = bench.denying(&[("edit", "*")]);
    denied.check(
        "batch",
        batch(&[
            call("batch", &json!({"tool_calls": []})),
            call("raed", &json!({})),
            call("write", &json!({"filePath": "b.txt", "content": "x"})),
            call("todoread", &json!({})),
        ]),
        expect![[r#"
            title: Batch execution (1/4 successful)
            Executed 1/4 tools successfully. 3 failed.

            <result index="1" tool="batch" status="error">
            Tool 'batch' is not allowed in batch. Disallowed tools: batch
            </result>

            <result index="2" tool="raed" status="error">
            Unknown tool: raed. Did you mean read?
            </result>

            <result index="3" tool="write" status="error">
            permission denied: edit b.txt is forbidden by the rule edit "*": deny (the test); do not try to get around it
            </result>

            <result index="4" tool="todoread" status="completed">
            []
            </result>"#]],
    );
    assert!(!bench.path("b.txt").exists());
}

#[test]
fn only_so_many_run() {
    let bench = Bench::new();
    let calls: Vec<Value> =
        (0..30).map(|n| call("write", &json!({"filePath": format!("{n}.txt"), "content": "x"}))).collect();
    let done = bench.completed("batch", batch(&calls));
    assert_eq!(done.metadata["successful"], 25);
    assert!(done.text().contains("Maximum of 25 tools allowed in batch"), "{}", done.text());
    assert!(bench.path("24.txt").exists() && !bench.path("25.txt").exists());
}

#[test]
fn a_person_who_says_no_ends_the_batch() {
    let bench = Bench::new().ruled(&[("edit", "*", "ask")]).rejecting();
    bench.file("a.txt", "one\n");
    let write = call("write", &json!({"filePath": "b.txt", "content": "x"}));
    let read = call("read", &json!({"filePath": "a.txt"}));
    assert!(matches!(bench.attempt("batch", batch(&[read, write])), Err(SettleError::Declined)));
    assert!(!bench.path("b.txt").exists());
}

#[test]
fn a_rehearsed_batch_does_nothing_and_asks_what_its_calls_would_ask() {
    let bench = Bench::new();
    let write = call("write", &json!({"filePath": "b.txt", "content": "x"}));
    bench.check_questions(
        "batch",
        batch(&[write.clone(), write]),
        expect![[r#"
            edit on b.txt = $ws/b.txt (always: *)
            edit on b.txt = $ws/b.txt (always: *)
            create b.txt
            --- $ws/b.txt
            +++ $ws/b.txt
            @@ -0,0 +1,1 @@
            +x
            \ No newline at end of file
        "#]],
    );
    assert!(!bench.path("b.txt").exists());
}

#[test]
fn a_batch_that_is_none_is_explained_in_its_own_words() {
    let bench = Bench::new();
    let Settlement::Rejected(rejection) = bench.settle("batch", json!({"tool_calls": [{"tool": "read"}]}))
    else {
        panic!("it was run")
    };
    let text = rejection.to_string();
    assert!(text.contains("Invalid parameters for tool 'batch':\n  - tool_calls[0].parameters:"), "{text}");
    assert!(text.contains("Expected payload format:"), "{text}");
}
