//! Walks the tree of a script and takes down every command in it, in the order in which they stand.

mod comments;
mod decode;
mod evaluate;
mod heredoc;
mod numbers;
mod redirect;
mod values;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use tree_sitter::Node;

use super::command::{Command, MOVING, Sort, Why};
use super::guesses::takes_flags;
use super::surroundings::Surroundings;
use super::trees::{listed, tells_names};
use super::variables;
use super::word::Word;
use comments::COMMENT;
use decode::{Words, adjoin, end};
use redirect::HERE_DOCUMENT;
use values::Values;

/// What the grammar calls commands that are joined by `&&` and `||`.
const AND_OR: &str = "list";
/// Deeper than this nobody nests by hand; whatever does is not looked into.
const NESTING_MAX: usize = 100;
/// For so many variables the whole script is looked through.
const INHERITED_MAX: usize = 64;
/// As many directories as a command may run in before that counts as unknown.
const DIRECTORIES_MAX: usize = 8;

/// What a walk found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) commands: Vec<Command>,
    /// Why everything in the script is affected, if it is.
    pub(super) taints: Vec<Why>,
    pub(super) is_too_deep: bool,
}

pub(super) struct Walker<'s> {
    source: &'s str,
    surroundings: &'s Surroundings,
    home: Option<&'s str>,
    /// Where the next command may run; none if that is not known.
    directories: Vec<PathBuf>,
    /// Where it runs instead if the last change of directory failed.
    otherwise: Vec<PathBuf>,
    /// Whether the grammar overlooked a substitution in what was read last.
    overlooked: Cell<bool>,
    /// Where the last comment ended.
    comment_end: usize,
    /// How many variables are yet looked for among what it sets.
    inherited_left: Cell<usize>,
    /// Whether it hands on every variable that it sets.
    exports_all: bool,
    /// Whether what is met stands in an expansion.
    is_expanded: bool,
    /// Whether another script runs this one, and may have set its variables.
    is_inner: bool,
    /// What the script puts into variables.
    values: Values,
    /// How often numbers are put into variables that were asked about.
    numbers: RefCell<HashMap<String, Option<usize>>>,
    /// Whether nothing else than what is seen is put into variables.
    are_values_seen: bool,
    found: Found,
}

impl<'s> Walker<'s> {
    pub(super) fn new(
        source: &'s str,
        surroundings: &'s Surroundings,
        directories: Vec<PathBuf>,
        is_inner: bool,
    ) -> Walker<'s> {
        // A script that sets its own home knows better.
        let home = surroundings.home_text().filter(|_| !source.contains("HOME="));
        let overlooked = Cell::new(false);
        Walker {
            source,
            surroundings,
            home,
            directories,
            otherwise: Vec::new(),
            overlooked,
            comment_end: 0,
            inherited_left: Cell::new(INHERITED_MAX),
            exports_all: ["set -a", "allexport"].iter().any(|all| source.contains(all)),
            is_expanded: false,
            is_inner,
            values: Values::new(),
            numbers: RefCell::default(),
            are_values_seen: false,
            found: Found::default(),
        }
    }

    pub(super) fn walk(mut self, root: Node<'_>) -> Found {
        self.gather_values(root);
        // What is overlooked is noted where it is met.
        self.overlooked.set(false);
        self.visit(root, 0);
        self.found
    }

    fn visit(&mut self, node: Node<'_>, depth: usize) {
        if depth > NESTING_MAX {
            self.found.is_too_deep = true;
            return;
        }
        match node.kind() {
            "command" => self.command(node, None, depth),
            "redirected_statement" => self.redirected(node, depth),
            "test_command" => {
                self.test(node);
                self.visit_all(node, depth);
            }
            "compound_statement" if self.text(node).starts_with("((") => {
                self.arithmetic_command(node);
                self.visit_all(node, depth);
            }
            "c_style_for_statement" => {
                self.arithmetic_command(node);
                self.branch(|walker| walker.visit_all(node, depth));
            }
            "function_definition" => {
                self.taint(Why::Shadowed);
                self.apart(|walker| walker.defined(node, depth));
            }
            "declaration_command" | "unset_command" => {
                self.declaration(node);
                self.visit_all(node, depth);
            }
            "arithmetic_expansion" => {
                self.arithmetic(node);
                self.visit_all(node, depth);
            }
            "expansion" => {
                self.expansion(node);
                let around = std::mem::replace(&mut self.is_expanded, true);
                self.visit_all(node, depth);
                self.is_expanded = around;
            }
            "variable_assignment" => {
                self.assignment(node);
                self.visit_all(node, depth);
            }
            "subshell" | "command_substitution" | "process_substitution" => {
                self.reread(node);
                self.apart(|walker| walker.visit_all(node, depth));
            }
            "pipeline" => {
                let mut before = None;
                for child in children(node).into_iter().filter(|child| child.is_named()) {
                    if child.kind() == COMMENT {
                        self.comment(child, node);
                        continue;
                    }
                    let at = self.found.commands.len();
                    self.apart(|walker| walker.visit(child, depth + 1));
                    if let Some(before) = before.replace(at) {
                        self.feed(before, at);
                    }
                }
            }
            // Whoever visits one does not know what it stands in, and that matters to none of them.
            COMMENT => self.comment(node, node),
            AND_OR => {
                for child in children(node) {
                    match child.kind() {
                        "&&" => self.otherwise.clear(),
                        "||" => self.settle_directories(),
                        _ => self.visit(child, depth + 1),
                    }
                }
            }
            "file_redirect"
                if node.parent().is_some_and(|parent| parent.kind() == "command_substitution") =>
            {
                self.contents(node);
                self.visit_all(node, depth);
            }
            "if_statement" | "while_statement" | "for_statement" | "case_statement" => {
                if let Some(variable) = node.child_by_field_name("variable") {
                    self.looped(variable);
                }
                self.branch(|walker| walker.visit_all(node, depth));
            }
            _ => self.visit_all(node, depth),
        }
    }

    fn visit_all(&mut self, node: Node<'_>, depth: usize) {
        for child in children(node) {
            if matches!(child.kind(), ";" | "\n" | "&") {
                self.settle_directories();
            }
            if child.child_count() > 0 {
                self.visit(child, depth + 1);
            } else {
                match child.kind() {
                    COMMENT => self.comment(child, node),
                    "raw_string" | "ansi_c_string" if self.is_expanded => self.expanded(child),
                    "raw_string" | "ansi_c_string" | "`" | "${" | "heredoc_body" => {}
                    _ => self.leaf(child),
                }
            }
        }
    }

    /// A substitution that the grammar took for text may run anything.
    fn leaf(&mut self, node: Node<'_>) {
        let text = self.text(node);
        if text.len() < 2 || text.starts_with("$(") && text.len() < 4 {
            return;
        }
        self.note_overlooked(text);
        if self.overlooked.take() {
            self.overlook(text);
        } else if self.is_expanded {
            self.expanded(node);
        }
    }

    fn overlook(&mut self, text: &str) {
        let mut command = Command::new(Sort::Overlooked, text);
        command.because(Why::Substitution);
        command.is_opaque = true;
        self.found.commands.push(command);
    }

    /// Notes which commands are fed by a pipe, and which are given as words what a search finds.
    fn feed(&mut self, before: usize, at: usize) {
        let (feeding, fed) = self.found.commands.split_at_mut(at);
        fed.iter_mut().for_each(|command| command.is_fed = true);
        let ([search], [taking, ..]) = (&mut feeding[before..], fed) else { return };
        if !taking.name().is_some_and(|name| matches!(name, "xargs" | "gxargs")) {
            return;
        }
        let is_search = search.name().is_some_and(|name| tells_names(name, &search.words[1..]))
            && search.words.iter().all(|word| word.known().is_some());
        if is_search {
            search.feeds = true;
            taking.is_found = true;
        } else if let Some(listed) = listed(search) {
            search.feeds = true;
            taking.given = listed;
        }
    }

    /// Walks something whose changes of directory end with it.
    fn apart(&mut self, walk: impl FnOnce(&mut Walker<'s>)) {
        let before = (self.directories.clone(), std::mem::take(&mut self.otherwise), self.is_expanded);
        self.is_expanded = false;
        walk(self);
        (self.directories, self.otherwise, self.is_expanded) = before;
    }

    /// Walks something that may or may not run.
    fn branch(&mut self, walk: impl FnOnce(&mut Walker<'s>)) {
        let before = self.directories.clone();
        walk(self);
        self.otherwise.extend(before);
        self.settle_directories();
    }

    fn settle_directories(&mut self) {
        let otherwise = std::mem::take(&mut self.otherwise);
        if self.directories.is_empty() {
            return;
        }
        for directory in otherwise {
            if !self.directories.contains(&directory) {
                self.directories.push(directory);
            }
        }
        if self.directories.len() > DIRECTORIES_MAX {
            self.directories.clear();
        }
    }

    fn command(&mut self, node: Node<'_>, statement: Option<Node<'_>>, depth: usize) {
        let mut command = Command::new(Sort::Simple, self.text(statement.unwrap_or(node)));
        command.directories.clone_from(&self.directories);
        let mut words = Words::default();
        let inside = children(node);
        for (at, child) in inside.iter().copied().enumerate() {
            // A value that goes on as a word of its own is not what the grammar took it for.
            let before = at.checked_sub(1).map(|before| &inside[before]);
            let is_torn = before.is_some_and(|before| before.kind() == "variable_assignment")
                && adjoin(self.source, before, child);
            if is_torn {
                self.overlooked.set(true);
            }
            match child.kind() {
                "variable_assignment" => {
                    if self.is_apart(child) {
                        self.overlooked.set(true);
                    }
                    let name = child.child_by_field_name("name").unwrap_or(child);
                    command.assignments.push(self.text(name).to_owned());
                    command.values.push(self.value(child));
                }
                "file_redirect" | HERE_DOCUMENT | "herestring_redirect" => {
                    self.redirection(child, &mut command, &mut words);
                }
                COMMENT => {}
                _ => words.push(child),
            }
        }
        let redirects: Vec<Node<'_>> =
            statement.into_iter().flat_map(children).filter(|child| child.id() != node.id()).collect();
        for redirect in &redirects {
            self.redirection(*redirect, &mut command, &mut words);
        }
        for group in words.groups(self.source) {
            command.tokens.push(self.between(group[0].start_byte(), end(&group)).to_owned());
            command.words.push(self.word(&group));
        }
        if command.name().is_some_and(takes_flags) {
            let inherited = (1..command.tokens.len()).filter(|at| self.is_inherited(&command.tokens[*at]));
            command.inherited = inherited.collect();
        }
        for name in &command.assignments.clone() {
            command.because(if variables::is_dangerous(name) { Why::Environment } else { Why::Assignment });
        }
        let has_any = ["$(", "`", "<(", ">(", "${"].iter().any(|one| command.text.contains(one));
        if has_any && has_substitution(statement.unwrap_or(node), depth) {
            command.because(Why::Substitution);
        }
        if self.overlooked.take() {
            command.because(Why::Substitution);
            command.is_opaque = true;
        }
        let target = moving(&command.words).map(|words| self.moved(words));
        self.found.commands.push(command);
        // What stands inside runs before the directory changes.
        self.apart(|walker| {
            for child in inside {
                match child.kind() {
                    // What it sets holds for this command only, and has been noted with it.
                    "variable_assignment" => walker.visit_all(child, depth + 1),
                    _ if child.child_count() > 0 => walker.visit(child, depth + 1),
                    COMMENT => walker.comment(child, node),
                    "raw_string" | "ansi_c_string" => {}
                    _ => walker.leaf(child),
                }
            }
        });
        for redirect in redirects {
            self.apart(|walker| walker.visit(redirect, depth + 1));
        }
        if let Some(target) = target {
            self.otherwise.extend(std::mem::replace(&mut self.directories, target));
        }
    }

    /// The directories in which a change of directory may end.
    fn moved(&self, words: &[Word]) -> Vec<PathBuf> {
        let name = words.first().and_then(Word::known);
        let mut operands =
            words[1..].iter().filter(|word| !word.text().starts_with('-') || word.text() == "-");
        let to = match (operands.next(), operands.next()) {
            (None, _) if words.len() == 1 && name == Some("cd") => self.home.map(PathBuf::from),
            (Some(word), None) => match word.known() {
                None | Some("-" | "") => None,
                Some(text) if text.starts_with('+') && name == Some("pushd") => None,
                Some(text) => Some(PathBuf::from(text)),
            },
            _ => None,
        };
        // A script that says where else directories are looked for knows better.
        let Some(to) = to.filter(|_| !self.source.contains("CDPATH")) else { return Vec::new() };
        self.directories.iter().map(|from| lexical(&from.join(&to))).collect()
    }

    fn taint(&mut self, why: Why) {
        if !self.found.taints.contains(&why) {
            self.found.taints.push(why);
        }
    }
}

/// The words that change the directory, also where another builtin runs them.
fn moving(words: &[Word]) -> Option<&[Word]> {
    let mut rest = words;
    while let Some("command" | "builtin") = rest.first()?.known() {
        let options = rest[1..].iter().take_while(|word| matches!(word.known(), Some("-p" | "--"))).count();
        rest = rest.get(1 + options..)?;
    }
    rest.first()?.known().is_some_and(|name| MOVING.contains(&name)).then_some(rest)
}

/// The path without `.` and `..`, by its letters.
pub(super) fn lexical(path: &Path) -> PathBuf {
    let mut lexical = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                lexical.pop();
            }
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => lexical.push(component),
        }
    }
    lexical
}

fn has_substitution(node: Node<'_>, depth: usize) -> bool {
    if depth > NESTING_MAX {
        return true;
    }
    matches!(node.kind(), "command_substitution" | "process_substitution")
        || children(node)
            .into_iter()
            .any(|child| child.child_count() > 0 && has_substitution(child, depth + 1))
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    // A cursor costs more than to count through the few children that most nodes have.
    const FEW: u32 = 6;
    let count = node.child_count();
    if count <= FEW {
        return (0..count).filter_map(|at| node.child(at)).collect();
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}
