//! What rules for `read` and `edit` say about a script: what they deny to file tools they deny to commands that name it,
//! and what they might deny is asked about.
//!
//! Only rules that deny, and that speak of these actions by name, count: consent to a command is consent to what it
//! does. What a program only finds out by itself while it runs is beyond this.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use haft::Action;
use haft::permission::{Allowed, Effect, Question, Resource, Rule, Ruleset, decide};

use super::analysis::Analysis;
use super::effects::{FileEffect, Touch};
use super::globs::NAMES_MAX;
use super::held::{NamedFile, Pathspec, Use, named};
use super::questions::{every, is_of_its_own};
use super::trees::Extent;
use crate::workspace::{Kind, Place, Workspace};

/// So many files are named in a question.
const NAMED_MAX: usize = 100;

/// What rules for files say about a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// What they deny, or what they might deny of a directory; to be decided like any other question.
    pub questions: Vec<Question>,
    /// What is done without anybody knowing beforehand whether they deny it.
    pub perhaps: Vec<Question>,
}

/// Holds a script to the rules for files.
pub(super) fn held(workspace: &Workspace, analysis: &Analysis, workdir: &Place, rules: &Ruleset) -> Held {
    let mut judging = Judging::new(workspace, rules);
    if !judging.reading.is_denied && !judging.editing.is_denied {
        return Held::default();
    }
    if workdir.real() != workspace.directory() {
        let path = workdir.spelled().to_owned();
        judging.file(&NamedFile { path, used: Use::Reads, extent: Extent::Whole });
    }
    let mut seen: HashSet<NamedFile> = HashSet::new();
    let mut left = NAMES_MAX;
    for command in every(analysis) {
        let named = named(command, workspace.base(), &mut left);
        for file in named.files {
            if !seen.contains(&file) {
                judging.file(&file);
                seen.insert(file);
            }
        }
        let are_known =
            named.pathspecs.iter().all(|(pathspec, used)| judging.pathspec(pathspec, *used, &mut left));
        if named.is_open || !are_known {
            judging.open(&command.text);
        }
    }
    // What is denied comes first, so that nobody is asked in vain.
    judging.held.questions.append(&mut judging.possible);
    judging.held
}

/// Whether the rules deny anything by name under an action.
struct Denying {
    action: Action,
    is_denied: bool,
    /// Whether all that no rule names is denied, so that what nobody knows is kept from commands by the kernel.
    is_whole: bool,
}

impl Denying {
    fn new(rules: &Ruleset, action: &str) -> Denying {
        let action = Action::new(action);
        let anything = Resource::new("a file that no rule names");
        let is_whole = decide(rules, &[], &action, &anything).is_denied_by_name();
        Denying { is_denied: rules.denies_some(&action), action, is_whole }
    }
}

struct Judging<'r> {
    workspace: &'r Workspace,
    rules: &'r Ruleset,
    reading: Denying,
    editing: Denying,
    held: Held,
    /// What is to be asked about, where nothing is denied.
    possible: Vec<Question>,
}

impl<'r> Judging<'r> {
    fn new(workspace: &'r Workspace, rules: &'r Ruleset) -> Judging<'r> {
        let (reading, editing) = (Denying::new(rules, "read"), Denying::new(rules, "edit"));
        Judging { workspace, rules, reading, editing, held: Held::default(), possible: Vec::new() }
    }

    /// Takes down what the rules say about a file that is named.
    fn file(&mut self, file: &NamedFile) {
        let denying = match file.used {
            Use::Reads => &self.reading,
            Use::Edits => &self.editing,
            // What may change nothing at all is no reason to ask whether it changes this.
            Use::MayEdit if self.editing.is_whole => return,
            Use::MayEdit => &self.editing,
        };
        let looks = FileEffect { path: file.path.clone(), touch: Touch::Looks };
        if !denying.is_denied || file.used == Use::Reads && is_of_its_own(&looks) {
            return;
        }
        let action = denying.action.clone();
        // What cannot be reached cannot be touched either.
        let Ok(place) = self.workspace.locate(&file.path) else { return };
        for resource in place.looking().resources {
            let decision = decide(self.rules, &[], &action, &resource);
            if decision.is_denied_by_name() {
                self.deny(file.used, &action, resource);
            }
        }
        let is_there = match place.kind() {
            Kind::Directory => true,
            // What is put there may be a directory.
            Kind::Missing => file.used != Use::Reads,
            Kind::File | Kind::Special(_) => false,
        };
        if file.extent == Extent::Itself || !is_there {
            return;
        }
        for resource in place.everything_below() {
            let decision = decide(self.rules, &[], &action, &resource);
            if decision.is_denied_by_name() {
                self.deny(file.used, &action, resource);
            } else if self.might_be_denied(file, &action, &resource) {
                add(&mut self.possible, &action, resource);
            }
        }
    }

    /// Takes down what the rules say about what git is told by a pattern; whether all of that was looked at. Only where a
    /// rule names a directory something special lies in it.
    fn pathspec(&mut self, pathspec: &Pathspec, used: Use, left: &mut usize) -> bool {
        let action = match used {
            Use::Reads => &self.reading.action,
            Use::Edits | Use::MayEdit => &self.editing.action,
        };
        let denies = |rule: &&Rule| rule.effect == Effect::Deny && rule.action.matches(action.as_str());
        let named = self.rules.rules().filter(denies).filter_map(|rule| rule.resource.directory());
        let roots = [self.workspace.base(), self.workspace.directory()];
        let mut within: Vec<PathBuf> = named.flat_map(|named| roots.map(|root| root.join(named))).collect();
        within.sort();
        within.dedup();
        let mut matching = Vec::new();
        while let Some(directory) = within.pop() {
            for entry in directory.read_dir().into_iter().flatten().flatten() {
                if *left == 0 {
                    return false;
                }
                *left -= 1;
                match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    true => within.push(entry.path()),
                    false => matching.extend(Some(entry.path()).filter(|path| pathspec.matches(path))),
                }
            }
        }
        matching.into_iter().for_each(|path| self.file(&NamedFile { path, used, extent: Extent::Itself }));
        true
    }

    fn deny(&mut self, used: Use, action: &Action, resource: Resource) {
        let list = match used {
            Use::Reads | Use::Edits => &mut self.held.questions,
            Use::MayEdit => &mut self.held.perhaps,
        };
        add(list, action, resource);
    }

    /// Whether something that a rule denies by name lies below a directory, and the command may come upon it.
    fn might_be_denied(&self, file: &NamedFile, action: &Action, below: &Resource) -> bool {
        let is_in = |directory: &str| below.spellings().any(|text| text.starts_with(directory));
        let may_come_upon = |rule: &Rule, directory: &str| match (file.extent, file.used) {
            (Extent::Itself, _) => false,
            // Whether it goes further down than what is named nobody knows.
            (Extent::Whole, _) | (Extent::Tree, Use::MayEdit) => is_in(directory),
            (Extent::Tree, Use::Reads) => is_in(directory) || self.is_there(rule),
            (Extent::Tree, Use::Edits) => true,
        };
        let denies = |rule: &&Rule| rule.effect == Effect::Deny && !rule.action.is_everything();
        let possible = self.rules.possible(action, below);
        let mut denying = possible.into_iter().filter(denies);
        denying.any(|rule| rule.resource.directory().is_some_and(|directory| may_come_upon(rule, directory)))
    }

    /// Whether the directory that a rule names is there, so that something could be found in it.
    fn is_there(&self, rule: &Rule) -> bool {
        let roots = [self.workspace.base(), self.workspace.directory()];
        let directory = rule.resource.directory().unwrap_or_default();
        roots.iter().any(|root| Path::new(root).join(directory).is_dir())
    }

    /// Takes down that a command opens what nobody knows.
    fn open(&mut self, text: &str) {
        let denies = |denying: &&Denying| {
            let rule = self.rules.might_deny(&denying.action);
            !denying.is_whole && rule.is_some_and(|rule| !rule.action.is_everything())
        };
        // One question is enough.
        if let Some(denying) = [&self.reading, &self.editing].into_iter().find(denies) {
            let resource = Resource::new(text).allowed(Allowed::ByNothing).beginning("");
            add(&mut self.held.perhaps, &denying.action, resource);
        }
    }
}

/// Adds a resource to the question about an action. No "always" answers it: no consent outranks what is denied.
fn add(questions: &mut Vec<Question>, action: &Action, resource: Resource) {
    match questions.iter_mut().find(|question| question.action == *action) {
        Some(question) if question.resources.len() >= NAMED_MAX || question.resources.contains(&resource) => {
        }
        Some(question) => question.resources.push(resource),
        None => questions.push(Question::new(action.clone(), resource)),
    }
}
