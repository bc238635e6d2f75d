//! What is true of every built-in tool.

mod schemas;

use haft::ToolName;
use serde_json::Value;

use crate::testing::Bench;

/// Names stay short, because clients put prefixes before them.
const BUILT_IN_NAME_BYTES_MAX: usize = 48;

#[test]
fn every_tool_is_named_described_and_documented() {
    for tool in Bench::new().all_definitions() {
        let name = tool.name.as_str();
        assert!(ToolName::parse(name).is_ok() && name.len() <= BUILT_IN_NAME_BYTES_MAX, "{name}");
        assert!(!tool.description.trim().is_empty(), "{name} has no description");
        assert_eq!(tool.input.json()["type"], "object", "{name}");
        check_documented(name, tool.input.json());
        check_documented(name, tool.output.json());
    }
}

fn check_documented(at: &str, schema: &Value) {
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        let at = format!("{at}.{field}");
        let is_tag = schema.get("const").is_some();
        assert!(is_tag || schema["description"].is_string(), "{at} is not documented: {schema}");
        check_documented(&at, schema);
    }
    if let Some(items) = schema.get("items") {
        check_documented(at, items);
    }
}

#[test]
fn models_are_shown_what_suits_them() {
    let bench = Bench::new();
    let shown = |model| -> Vec<String> {
        bench.definitions(model).iter().map(|tool| tool.name.to_string()).collect()
    };
    let all = [
        "bash",
        "read",
        "glob",
        "grep",
        "edit",
        "write",
        "list",
        "webfetch",
        "todowrite",
        "todoread",
        "skill",
    ];
    assert_eq!(shown(None), [&all[..], &["apply_patch"]].concat());
    assert_eq!(shown(Some("claude-sonnet-4-5")), all);
    assert_eq!(
        shown(Some("gpt-5")),
        ["bash", "read", "glob", "grep", "list", "webfetch", "todowrite", "todoread", "skill", "apply_patch"]
    );
}

#[test]
fn what_needs_a_person_or_a_feature_is_shown_with_it() {
    let bench = Bench::new();
    let plain = bench.shown_to("mcp", &[]);
    let added = |client: &str, flags: &[&str]| -> Vec<String> {
        bench.shown_to(client, flags).into_iter().filter(|name| !plain.contains(name)).collect()
    };
    assert_eq!(added("cli", &[]), ["question"]);
    assert_eq!(added("desktop", &["plan"]), ["question"]);
    assert_eq!(added("cli", &["plan"]), ["question", "plan_exit", "plan_enter"]);
    assert_eq!(added("mcp", &["batch", "plan"]), ["batch"]);
    assert_eq!(added("mcp", &["lsp"]), ["lsp"]);
    assert_eq!(added("mcp", &["exa"]), ["websearch", "codesearch"]);
    assert_eq!(added("mcp", &["parallel"]), ["websearch", "codesearch"]);
}

#[test]
fn searches_are_shown_to_models_whose_provider_pays_for_them() {
    let bench = Bench::new();
    let searching = |provider: &str| {
        let shown = bench.definitions_of(Some((provider, "m")));
        shown.iter().any(|tool| tool.name.as_str() == "codesearch")
    };
    assert!(searching("opencode") && searching("opencode-go") && !searching("openai"));
    let mut local = bench.ruled(&[]);
    local.services.code_search.is_local = true;
    let local = local.registered_again();
    assert!(local.shown_to("mcp", &[]).iter().any(|name| name == "codesearch"), "asked for by local: true");
}

#[test]
fn tools_that_change_files_share_an_action() {
    let actions: Vec<String> =
        Bench::new().all_definitions().iter().map(|tool| format!("{} {}", tool.name, tool.action)).collect();
    let expected = [
        "invalid invalid",
        "question question",
        "bash bash",
        "jobs bash",
        "read read",
        "glob glob",
        "grep grep",
        "edit edit",
        "write edit",
        "list list",
        "task task",
        "webfetch webfetch",
        "todowrite todowrite",
        "todoread todoread",
        "websearch websearch",
        "codesearch codesearch",
        "skill skill",
        "apply_patch edit",
        "patch edit",
        "lsp lsp",
        "batch batch",
        "plan_exit plan_exit",
        "plan_enter plan_enter",
        "undo edit",
    ];
    assert_eq!(actions, expected);
}
