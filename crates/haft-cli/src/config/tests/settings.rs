//! What is configured apart from rules.

use serde_json::Value;

use super::World;
use crate::config::schema;
use crate::config::settings::Retention;

fn config(text: &str) -> World {
    World::with("home/.config/haft/haft.jsonc", text)
}

#[test]
fn limits_and_retention_have_defaults_for_each_number() {
    let found =
        config(r#"{"tool_output": {"max_bytes": 100}, "retention": {"bytes": 18446744073709551615}}"#)
            .trusted();
    let shipped = haft::Limits::default();
    assert_eq!((found.limits().text.bytes, found.limits().text.lines), (100, shipped.text.lines));
    assert_eq!(found.retention(), Retention { days: 7, bytes: u64::MAX });
    assert_eq!(found.image_side_max(), 2000);
    let found = config(r#"{"tool_output": {"max_lines": 3, "max_media_bytes": 5, "max_image_side": 7}}"#);
    let found = found.trusted();
    assert_eq!((found.limits().text.lines, found.limits().media, found.image_side_max()), (3, 5, 7));
}

#[test]
fn features_are_switched_on_by_keys_or_variables() {
    let flags = |world: &World| world.trusted().flags().into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(flags(&World::new()), "");
    assert_eq!(
        flags(&config(r#"{"experimental": {"batch_tool": true, "exa": true, "lsp_tool": false}}"#)),
        "batch exa"
    );
    assert_eq!(flags(&World::new().variable("OPENCODE_EXPERIMENTAL_LSP_TOOL", "true")), "lsp");
    assert_eq!(flags(&World::new().variable("OPENCODE_EXPERIMENTAL_PLAN_MODE", "1")), "plan");
    assert_eq!(flags(&World::new().variable("OPENCODE_ENABLE_EXA", "1")), "exa");
    assert_eq!(flags(&World::new().variable("OPENCODE_ENABLE_PARALLEL", "1")), "parallel");
    assert_eq!(flags(&config(r#"{"experimental": {"parallel": true}}"#)), "parallel");
    assert_eq!(flags(&World::new().variable("OPENCODE_EXPERIMENTAL", "1")), "exa lsp plan");
}

#[test]
fn the_client_is_the_variable_or_the_key_or_the_surface() {
    assert_eq!(World::new().trusted().client("mcp"), "mcp");
    let world = config(r#"{"client": "app"}"#);
    assert_eq!(world.trusted().client("mcp"), "app");
    assert_eq!(world.variable("OPENCODE_CLIENT", "desktop").trusted().client("mcp"), "desktop");
}

#[test]
fn the_published_schema_names_only_keys_that_are_read() {
    let text = include_str!("../../../schema/haft.schema.json");
    let schema: Value = serde_json::from_str(text).unwrap();
    let known = schema::tests::known_paths();
    let properties = schema["properties"].as_object().unwrap();
    for (key, value) in properties {
        assert!(known.contains(key), "{key}");
        for inner in value["properties"].as_object().into_iter().flatten() {
            assert!(known.contains(&format!("{key}.{}", inner.0)), "{key}.{}", inner.0);
        }
    }
    assert_eq!(schema["additionalProperties"], Value::Bool(false));
    let missing: Vec<_> =
        known.iter().filter(|path| !path.contains('.') && !properties.contains_key(*path)).collect();
    assert!(missing.is_empty(), "the schema would reject {missing:?}");
}

#[test]
fn formatters_are_off_unless_somebody_asks_for_them() {
    assert_eq!(World::new().trusted().formatters(), None);
    assert_eq!(config(r#"{"formatter": false}"#).trusted().formatters(), None);
    assert_eq!(config(r#"{"formatter": true}"#).trusted().formatters(), Some(Vec::new()));
    let found = config(
        r#"{"files": {"format_seconds": 3}, "formatter": {"gofmt": {"disabled": true}, "mine": {
            "command": ["mine", "$FILE"], "extensions": [".m"], "environment": {"A": "b"}}}}"#,
    );
    let found = found.trusted();
    let [gofmt, mine] = &found.formatters().unwrap()[..] else { panic!("{:?}", found.formatters()) };
    assert!(gofmt.disabled && gofmt.command.is_none());
    assert_eq!((mine.name.as_str(), mine.disabled), ("mine", false));
    assert_eq!(mine.command.as_ref().unwrap().join(" "), "mine $FILE");
    assert_eq!(mine.extensions.as_ref().unwrap().join(" "), ".m");
    assert_eq!(mine.environment, [("A".to_owned(), "b".to_owned())]);
    assert_eq!(found.formatting_time().as_secs(), 3);
    // A project that nobody trusts configures none.
    let project = World::with("repo/opencode.json", r#"{"formatter": true}"#);
    assert_eq!((project.untrusted().formatters(), project.trusted().formatters()), (None, Some(Vec::new())));
}

#[test]
fn language_servers_are_waited_for_only_where_somebody_asks_for_it() {
    use crate::config::LanguageWords;

    assert_eq!(World::new().trusted().languages(), LanguageWords::Silence);
    assert_eq!(config(r#"{"lsp": false}"#).trusted().languages(), LanguageWords::Off);
    assert_eq!(config(r#"{"lsp": true}"#).trusted().languages(), LanguageWords::On(Vec::new()));
    let found = config(
        r#"{"files": {"diagnose_seconds": 3}, "lsp": {"gopls": {"disabled": true}, "mine": {
            "command": ["mine", "--stdio"], "extensions": [".m"], "env": {"A": "b"}, "initialization": {"x": [1]}}}}"#,
    );
    let found = found.trusted();
    let LanguageWords::On(entries) = found.languages() else { panic!("{:?}", found.languages()) };
    let [gopls, mine] = &entries[..] else { panic!("{entries:?}") };
    assert!(gopls.program.disabled && gopls.program.command.is_none() && gopls.initialization.is_none());
    assert_eq!((mine.program.name.as_str(), mine.program.disabled), ("mine", false));
    assert_eq!(mine.program.command.as_ref().unwrap().join(" "), "mine --stdio");
    assert_eq!(mine.program.environment, [("A".to_owned(), "b".to_owned())]);
    assert_eq!(mine.initialization, Some(serde_json::json!({ "x": [1] })));
    assert_eq!(found.diagnosing_time().as_secs(), 3);
    let project = World::with("repo/opencode.json", r#"{"lsp": true}"#);
    assert_eq!(project.untrusted().languages(), LanguageWords::Silence);
}

#[test]
fn search_services_are_configured_by_the_person_alone() {
    let text = r#"{"websearch": {"provider": "parallel", "exa": {"url": "http://127.0.0.1:1", "key": "k"}},
        "codesearch": {"local": true}}"#;
    let found = config(text).trusted();
    let exa = found.search_service("websearch", "exa").unwrap();
    assert_eq!((exa.url, exa.key), (Some("http://127.0.0.1:1"), Some("k")));
    assert!(found.search_service("websearch", "parallel").is_none());
    assert_eq!((found.search_provider(), found.searches_code_locally()), (Some("parallel"), true));
    let project = World::with("repo/haft.jsonc", text).untrusted();
    assert!(project.search_service("websearch", "exa").is_none() && project.search_provider().is_none());
    assert!(!project.searches_code_locally(), "not even this");

    for (text, expected) in [
        (r#"{"websearch": {"provider": "exo"}}"#, "exa"),
        (r#"{"websearch": {"exa": {"api": "k"}}}"#, "api"),
        (r#"{"codesearch": {"local": "yes"}}"#, "true or false"),
        (r#"{"codesearch": {"parallel": {}}}"#, "parallel"),
    ] {
        let error = config(text).load(true).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
