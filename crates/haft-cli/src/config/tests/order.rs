//! Every source is read, and later ones win.

use serde_json::json;

use super::World;
use haft::permission::Layer;

const ALL: [(&str, Layer); 29] = [
    ("home/.config/opencode/config.json", Layer::Global),
    ("home/.config/opencode/opencode.json", Layer::Global),
    ("home/.config/opencode/opencode.jsonc", Layer::Global),
    ("home/.config/opencode/haft.json", Layer::Global),
    ("home/.config/opencode/haft.jsonc", Layer::Global),
    ("home/.config/haft/opencode.json", Layer::Global),
    ("home/.config/haft/opencode.jsonc", Layer::Global),
    ("home/.config/haft/haft.json", Layer::Global),
    ("home/.config/haft/haft.jsonc", Layer::Global),
    ("named/o.json", Layer::Global),
    ("named/h.json", Layer::Global),
    ("repo/opencode.json", Layer::Project),
    ("repo/opencode.jsonc", Layer::Project),
    ("repo/haft.json", Layer::Project),
    ("repo/haft.jsonc", Layer::Project),
    ("repo/sub/opencode.json", Layer::Project),
    ("repo/sub/opencode.jsonc", Layer::Project),
    ("repo/sub/haft.json", Layer::Project),
    ("repo/sub/haft.jsonc", Layer::Project),
    ("repo/sub/.opencode/opencode.json", Layer::Project),
    ("repo/sub/.opencode/opencode.jsonc", Layer::Project),
    ("repo/sub/.haft/haft.json", Layer::Project),
    ("repo/sub/.haft/haft.jsonc", Layer::Project),
    ("repo/.opencode/opencode.jsonc", Layer::Project),
    ("repo/.haft/opencode.json", Layer::Project),
    ("repo/.haft/haft.jsonc", Layer::Project),
    ("home/.opencode/opencode.json", Layer::Global),
    ("named/dir/opencode.json", Layer::Global),
    ("named/dir/haft.jsonc", Layer::Global),
];
const VARIABLES: [&str; 4] =
    ["OPENCODE_CONFIG_CONTENT", "HAFT_CONFIG_CONTENT", "OPENCODE_PERMISSION", "HAFT_PERMISSION"];

/// A world in which every source names itself as the model, and has a rule.
fn full() -> World {
    let world = World::new()
        .variable("OPENCODE_CONFIG", "{world}/named/o.json")
        .variable("HAFT_CONFIG", "../../named/h.json")
        .variable("OPENCODE_CONFIG_DIR", "{world}/named/dir")
        .variable("OPENCODE_CONFIG_CONTENT", r#"{"model": "inline o", "permission": {"x": "ask"}}"#)
        .variable("HAFT_CONFIG_CONTENT", r#"{"model": "inline h", "permission": {"x": "ask"}}"#)
        .variable("OPENCODE_PERMISSION", r#"{"x": "ask"}"#)
        .variable("HAFT_PERMISSION", r#"{"x": "ask"}"#);
    ALL.iter().fold(world, |world, (path, _)| {
        world.file(path, json!({ "model": path, "permission": { "x": "ask" } }).to_string())
    })
}

#[test]
fn every_source_is_read_in_its_order_and_knows_whose_word_it_is() {
    let world = full();
    let config = world.trusted();
    let read: Vec<(String, Layer)> =
        config.sources().iter().map(|source| (world.local(&source.name), source.layer)).collect();
    let expected = ALL.iter().map(|(path, layer)| (world.local(&world.path(path).to_string_lossy()), *layer));
    let variables = VARIABLES.map(|name| (name.to_owned(), Layer::Global));
    let expected: Vec<_> = expected.chain(variables).collect();
    let read: Vec<_> =
        read.into_iter().map(|(name, layer)| (name.replace("repo/sub/../../", ""), layer)).collect();
    assert_eq!(read, expected);

    let rules = config.ruleset("build", Vec::new()).unwrap();
    let order: Vec<String> = rules
        .rules()
        .filter(|rule| rule.origin.layer != Layer::Defaults)
        .map(|rule| world.local(&rule.origin.source).replace("repo/sub/../../", ""))
        .collect();
    assert_eq!(order, expected.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
}

#[test]
fn each_source_wins_over_those_before_it() {
    let mut world = full();
    let model = |world: &World| world.trusted().get("model").unwrap().as_text().unwrap().to_owned();
    assert_eq!(model(&world), "inline h");
    world.variables.retain(|(name, _)| name != "HAFT_CONFIG_CONTENT");
    assert_eq!(model(&world), "inline o");
    world.variables.retain(|(name, _)| name != "OPENCODE_CONFIG_CONTENT");
    for (path, _) in ALL.iter().rev() {
        assert_eq!(model(&world), *path);
        match *path {
            "named/o.json" => world.variables.retain(|(name, _)| name != "OPENCODE_CONFIG"),
            "named/h.json" => world.variables.retain(|(name, _)| name != "HAFT_CONFIG"),
            _ => {}
        }
        std::fs::remove_file(world.path(path)).unwrap();
    }
    assert!(world.trusted().get("model").is_none());
}

#[test]
fn objects_merge_lists_are_replaced_and_two_lists_grow() {
    let world = World::with(
        "repo/opencode.json",
        r#"{"mcp": {"a": {"enabled": true, "command": ["x", "y"]}}, "plugin": ["p", "q"], "instructions": ["i"],
            "watcher": {"ignore": ["a"]}, "share": {"a": 1}}"#,
    )
    .file(
        "repo/sub/opencode.json",
        r#"{"mcp": {"a": {"command": ["z"]}, "b": {}}, "plugin": ["q", "r"], "instructions": ["j"],
            "watcher": {"ignore": ["b"]}, "share": "manual"}"#,
    );
    let config = world.trusted();
    let json = |key: &str| config.get(key).unwrap().json();
    assert_eq!(json("mcp"), json!({ "a": { "enabled": true, "command": ["z"] }, "b": {} }));
    assert_eq!(json("plugin"), json!(["p", "q", "r"]));
    assert_eq!(json("instructions"), json!(["i", "j"]));
    assert_eq!((json("watcher"), json("share")), (json!({ "ignore": ["b"] }), json!("manual")));
    let command = config.get("mcp").unwrap().get("a").unwrap().get("command").unwrap();
    assert_eq!(world.local(command.span.name()), "repo/sub/opencode.json");
    assert_eq!((command.span.line, command.span.column), (1, 27));
}

#[test]
fn project_sources_can_be_switched_off() {
    let world = full().variable("OPENCODE_DISABLE_PROJECT_CONFIG", "1");
    assert!(world.trusted().sources().iter().all(|source| source.layer == Layer::Global));
}

#[test]
fn without_git_only_the_working_directory_counts() {
    let world = World::with("plain/opencode.json", "{}").file("plain/sub/opencode.json", "{}");
    let world = world.in_directory("plain/sub");
    let config = world.trusted();
    let read: Vec<String> = config.sources().iter().map(|source| world.local(&source.name)).collect();
    assert_eq!(read, ["plain/sub/opencode.json"]);
}

#[test]
fn a_directory_that_is_also_the_persons_is_the_persons() {
    let world = World::with("home/.opencode/opencode.json", "{}").in_directory("home");
    let config = world.untrusted();
    let layers: Vec<Layer> = config.sources().iter().map(|source| source.layer).collect();
    assert_eq!(layers, [Layer::Global]);

    let world =
        World::with("home/.config/opencode/opencode.json", "{}").in_directory("home/.config/opencode");
    assert_eq!(world.untrusted().sources().len(), 1);
}

#[test]
fn a_linked_file_of_a_project_stays_the_projects() {
    let world = World::with("home/.config/opencode/opencode.json", r#"{"permission": "allow"}"#);
    std::os::unix::fs::symlink(
        world.path("home/.config/opencode/opencode.json"),
        world.path("repo/opencode.json"),
    )
    .unwrap();
    let config = world.trusted();
    let layers: Vec<Layer> = config.sources().iter().map(|source| source.layer).collect();
    assert_eq!(layers, [Layer::Global, Layer::Project]);
}

#[test]
fn nothing_at_all_is_a_configuration_too_and_costs_little() {
    let world = World::new();
    let config = world.trusted();
    assert!(config.sources().is_empty() && config.warnings().is_empty());
    assert_eq!(config.default_agent(), "build");
}
