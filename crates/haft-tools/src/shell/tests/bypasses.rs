//! What a rule denies, spelled so that it might be overlooked; and everyday commands that a deny leaves alone.

use haft::permission::Effect;

use super::everyday::COMMANDS;
use super::{Place, decided, kinds, rules, spellings};

fn denying() -> haft::permission::Ruleset {
    rules(&[
        "*: allow",
        "rm *: deny",
        "git push *: deny",
        "npm publish *: deny",
        "cargo publish *: deny",
        "docker rm *: deny",
    ])
}

#[test]
fn no_spelling_hides_what_is_denied() {
    let place = Place::new();
    let rules = denying();
    let mut allowed = Vec::new();
    for (about, scripts) in spellings::DENIED.iter().chain(kinds::DENIED) {
        let passed = scripts.iter().filter(|one| decided(&place.workspace, &rules, one) == Effect::Allow);
        allowed.extend(passed.map(|script| format!("{about}: {script}")));
    }
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_subcommand_behind_options_is_denied_and_not_only_asked_about() {
    let place = Place::new();
    for (script, rule) in [
        ("git -C . push origin", "git push *"),
        ("git --no-pager rm -q h", "git rm *"),
        ("git -c a.b=c --git-dir x push", "git push *"),
        ("cargo +nightly publish", "cargo publish *"),
        ("bash -ceuo pipefail 'rm f'", "rm *"),
        ("env --split='rm f'", "rm *"),
        ("flock lk --command 'rm f'", "rm *"),
        ("script -q -c 'rm f' /dev/null", "rm *"),
        ("setarch x86_64 rm f", "rm *"),
        ("poetry run rm f", "rm *"),
        ("GIT_EDITOR='rm f;' git commit", "rm *"),
    ] {
        let rules = rules(&["*: allow", &format!("{rule}: deny")]);
        assert_eq!(decided(&place.workspace, &rules, script), Effect::Deny, "{script}");
    }
    // An allow is not made wider by it.
    let rules = rules(&["git status *: allow"]);
    assert_eq!(decided(&place.workspace, &rules, "git -C /elsewhere status"), Effect::Ask);
}

#[test]
fn everyday_commands_run_though_something_is_denied() {
    let place = Place::new();
    for rules in [denying(), rules(&["*: allow"])] {
        let stopped = |script: &&&str| decided(&place.workspace, &rules, script) != Effect::Allow;
        let stopped: Vec<&&str> = COMMANDS.iter().filter(stopped).collect();
        assert!(stopped.is_empty(), "{stopped:#?}");
    }
}

#[test]
fn a_rule_for_what_launches_others_covers_no_wrapper() {
    let place = Place::new();
    for (rule, script) in [
        ("git *", "echo connect git-upload-pack | git remote-ext x 'touch P'"),
        ("setarch *", "setarch x86_64 touch P"),
        ("pkexec *", "pkexec touch P"),
        ("python3.11 *", "python3.11 -c x"),
    ] {
        let rules = rules(&["echo *: allow", &format!("{rule}: allow")]);
        assert_ne!(decided(&place.workspace, &rules, script), Effect::Allow, "{script}");
    }
    // What a rule says in so many words holds.
    let rules = rules(&["poetry run *: allow", "uv run *: allow"]);
    for script in ["poetry run pytest -q", "uv run pytest -q"] {
        assert_eq!(decided(&place.workspace, &rules, script), Effect::Allow, "{script}");
    }
}
