//! What is found in scripts, and what is decided about them, as tables.

mod asked;
mod attacks;
mod bypasses;
mod decisions;
mod everyday;
mod files;
mod hostile;
mod kinds;
mod oracle;
mod parsing;
mod reach;
mod spellings;

use std::path::Path;

use haft::Action;
use haft::permission::{Ask, Effect, Layer, Origin, Rule, Ruleset};

use super::{Analysis, CommandTarget, Surroundings, analyse};
use crate::workspace::Workspace;

/// What a script would do in a directory that does not matter.
fn read(script: &str) -> Analysis {
    analyse(script, &Surroundings { directory: "/nowhere/ws".into(), home: Some("/nowhere/home".into()) })
}

/// Rules for commands, each `pattern: effect`, the last that matches decides.
fn rules(lines: &[&str]) -> Ruleset {
    let rule = |line: &&str| {
        let (pattern, effect) = line.rsplit_once(": ").unwrap();
        let (action, pattern) = pattern.split_once(" = ").unwrap_or(("bash", pattern));
        Rule::new(action, pattern, Effect::parse(effect).unwrap(), Origin::named(Layer::Session, "test"))
    };
    Ruleset::new(lines.iter().map(rule))
}

/// The strictest decision about everything that a script raises.
fn decided(workspace: &Workspace, rules: &Ruleset, script: &str) -> Effect {
    let target = CommandTarget::new(workspace, script, None, Some("/nowhere/home".into())).unwrap();
    let questions = target.questions();
    let each =
        questions.iter().flat_map(|question| question.resources.iter().map(|one| (&question.action, one)));
    each.map(|(action, resource)| rules.effect(action, resource)).max().unwrap_or(Effect::Allow)
}

/// What is asked about besides commands, as `action resource`.
fn asked(workspace: &Workspace, script: &str) -> Vec<String> {
    let target = CommandTarget::new(workspace, script, None, Some("/nowhere/home".into())).unwrap();
    let others = target.questions().into_iter().filter(|question| question.action != Action::new("bash"));
    others
        .flat_map(|one| one.resources.into_iter().map(move |to| format!("{} {}", one.action, to.name())))
        .collect()
}

/// A workspace in a directory of its own, with something beside it.
struct Place {
    directory: tempfile::TempDir,
    workspace: Workspace,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let ws = directory.path().join("ws");
        std::fs::create_dir_all(ws.join("sub")).unwrap();
        std::fs::create_dir_all(directory.path().join("out")).unwrap();
        std::fs::write(ws.join("f.txt"), "data\n").unwrap();
        let workspace = Workspace::open(&ws, None).unwrap();
        Place { directory, workspace }
    }

    fn outside(&self) -> &Path {
        self.directory.path()
    }
}
