//! What a model is shown: agent, provider, client and flags decide, and none of them gives or takes authority.

use expect_test::{Expect, expect};
use haft::{Action, Offer, Registration, When};
use serde_json::json;

use crate::support::{World, dynamic, echo, looks_at, rules, settle, viewer};

/// The tools that change files, filed under one action, and one that only looks.
fn files(world: &World) -> Registration {
    let edits = || Offer::new(echo()).under(Action::new("edit"));
    let tools =
        [("read", Offer::new(echo())), ("edit", edits()), ("write", edits()), ("apply_patch", edits())];
    world.location.register(tools).unwrap()
}

fn check_rules(text: &str, expected: &Expect) {
    let mut world = World::ruled(text);
    world.spec.audience = viewer(None, "cli", &[]);
    let _files = files(&world);
    expected.assert_eq(&world.advertised());
}

#[test]
fn a_denied_action_hides_every_tool_that_is_filed_under_it() {
    check_rules("* *: allow\nedit *: deny", &expect!["read"]);
    check_rules("* *: deny\nedit *: allow", &expect!["edit write apply_patch"]);
}

#[test]
fn a_later_narrower_rule_shows_it_again() {
    check_rules("edit *: deny\nedit *.md: allow", &expect!["read edit write apply_patch"]);
    check_rules("edit *: deny\nedit *.md: deny", &expect!["read edit write apply_patch"]);
}

#[test]
fn a_later_deny_of_everything_hides_everything() {
    check_rules("* *: allow\nedit *.md: allow\n* *: deny", &expect![""]);
}

#[test]
fn what_is_asked_for_or_unmentioned_is_shown() {
    check_rules("", &expect!["read edit write apply_patch"]);
    check_rules("* *: ask", &expect!["read edit write apply_patch"]);
}

#[test]
fn an_untrusted_rule_may_hide_and_never_show() {
    check_rules("* *: allow\nuntrusted edit *: deny", &expect!["read"]);
    check_rules("edit *: deny\nuntrusted edit *: allow", &expect!["read"]);
}

#[test]
fn an_operator_is_shown_everything() {
    let world = World::ruled("* *: deny");
    let _files = files(&world);
    let _never = world.register("hidden", Offer::new(echo()).when(When::Never));
    assert_eq!(world.advertised(), "read edit write apply_patch hidden");
    assert_eq!(
        settle(&world.turn(), world.call("hidden", json!({ "text": "reached" }))),
        "completed: reached"
    );
}

#[test]
fn hiding_a_tool_is_no_authority_and_showing_it_neither() {
    let mut world = World::ruled("edit *: deny");
    let _edit = world.register("edit", looks_at(&world, "edit"));
    let refused = settle(&world.turn(), world.call("edit", json!({ "text": "a" })));
    assert!(refused.starts_with("rejected as denied"), "{refused}");
    world.spec.audience = viewer(None, "cli", &[]);
    let unknown = settle(&world.turn(), world.call("edit", json!({ "text": "a" })));
    assert!(unknown.starts_with("rejected as unknown_tool"), "{unknown}");

    // The rules of the turn decide what is shown; those of the gate what may be done.
    let mut world = World::new();
    world.spec.rules = std::sync::Arc::new(rules("edit *: deny"));
    let _edit = world.register("edit", looks_at(&world, "edit"));
    assert_eq!(settle(&world.turn(), world.call("edit", json!({ "text": "a" }))), "completed: did a");
}

/// Which of the conditions hold, by name.
fn check_viewer(model: Option<&str>, client: &str, flags: &[&str], expected: &Expect) {
    let mut world = World::new();
    let gpt = || When::Model(|model| model.id.contains("gpt-"));
    let conditions = [
        ("always", When::Always),
        ("never", When::Never),
        ("clients", When::Client(&["app", "cli"])),
        ("lsp", When::Flag("lsp")),
        ("exa", When::Provider(vec!["opencode".to_owned()])),
        ("patch", gpt()),
        ("all", When::All(vec![gpt(), When::Flag("lsp")])),
        ("any", When::Any(vec![gpt(), When::Flag("lsp")])),
        ("none", When::Any(Vec::new())),
    ];
    let offers = conditions.map(|(name, when)| (name, Offer::new(echo()).when(when)));
    let _all = world.location.register(offers).unwrap();
    world.spec.audience = viewer(model, client, flags);
    expected.assert_eq(&world.advertised());
}

#[test]
fn a_model_is_shown_what_provider_client_and_flags_let_it_see() {
    check_viewer(Some("anthropic/claude"), "mcp", &[], &expect!["always"]);
    check_viewer(Some("anthropic/claude"), "cli", &["lsp"], &expect!["always clients lsp any"]);
    check_viewer(Some("opencode/claude"), "acp", &[], &expect!["always exa"]);
    check_viewer(Some("openai/gpt-5"), "acp", &["other"], &expect!["always patch any"]);
    check_viewer(Some("openai/gpt-5"), "app", &["lsp"], &expect!["always clients lsp patch all any"]);
}

#[test]
fn without_a_model_there_is_no_model_filter() {
    check_viewer(None, "mcp", &[], &expect!["always patch any"]);
}

#[test]
fn a_name_too_long_for_the_provider_fails_the_turn() {
    let mut world = World::new();
    let name = format!("x{}", "y".repeat(63));
    let _long = world.register(&name, echo());
    world.spec.audience = viewer(Some("google/gemini"), "cli", &[]);
    expect!["no turn: the tool xyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy cannot be offered to a model of google: its name has 64 characters, and 63 are allowed"]
        .assert_eq(&world.advertised());
    world.spec.audience = viewer(Some("anthropic/claude"), "cli", &[]);
    assert_eq!(world.advertised(), name);
}

#[test]
fn a_schema_no_provider_takes_fails_the_turn() {
    let mut world = World::new();
    world.spec.audience = viewer(Some("anthropic/claude"), "cli", &[]);
    let offered = |input| {
        let _tool = world.register("odd", dynamic(input, json!(true), Ok));
        world.advertised()
    };
    expect!["no turn: the tool odd cannot be offered to a model of anthropic: its input schema is not of type object"]
        .assert_eq(&offered(json!({ "type": "string" })));
    let unusable = offered(json!({ "type": "object", "properties": { "a": { "type": "nonsense" } } }));
    assert!(
        unusable.contains("odd cannot be offered to a model of anthropic: its schema is unusable"),
        "{unusable}"
    );
}

#[test]
fn a_tool_that_is_not_shown_cannot_fail_the_turn() {
    let mut world = World::ruled("* *: allow\nodd *: deny");
    let _odd = world.register("odd", dynamic(json!({ "type": "string" }), json!(true), Ok));
    let _echo = world.register("echo", echo());
    world.spec.audience = viewer(Some("anthropic/claude"), "cli", &[]);
    assert_eq!(world.advertised(), "echo");
}
