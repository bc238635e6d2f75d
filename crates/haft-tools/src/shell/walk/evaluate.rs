//! What the shell evaluates besides commands: conditions, arithmetic, and what is put into variables.

use tree_sitter::Node;

use super::comments::COMMENT;
use super::decode::{Words, adjoin};
use super::numbers::expands_numbers;
use super::{Walker, children};
use crate::shell::builtins::{EVALUATING, evaluates_index};
use crate::shell::command::{Command, Sort, Why};
use crate::shell::variables;
use crate::shell::word::Word;

impl Walker<'_> {
    /// `[ … ]` looks at files and texts; what evaluates arithmetic or names a variable by a text does more.
    pub(super) fn test(&mut self, node: Node<'_>) {
        let text = self.text(node);
        let by_number = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let double = text.starts_with("[[");
        let is_evaluating = text
            .split_ascii_whitespace()
            .any(|word| matches!(word, "-v" | "-R") || double && by_number.contains(&word));
        if is_evaluating {
            self.evaluating(node, Sort::Test);
        }
    }

    /// What runs apart may be something else to the shell than to the grammar: two brackets where a command begins are
    /// arithmetic, and between backquotes some backslashes are taken away before anything is read.
    pub(super) fn reread(&mut self, node: Node<'_>) {
        let text = self.text(node);
        if text.trim_start_matches('$').starts_with("((") {
            self.evaluating(node, Sort::Arithmetic);
        }
        if text.starts_with('`') && is_read_again(text) {
            self.overlook(text);
        }
    }

    pub(super) fn evaluating(&mut self, node: Node<'_>, sort: Sort) {
        let header = children(node).into_iter().find(|child| child.kind() == "do_group");
        let end = header.map_or(node.end_byte(), |body| body.start_byte());
        let text = self.between(node.start_byte(), end).trim_end_matches([' ', ';', '\n', '\t']);
        let mut command = Command::new(sort, text);
        command.because(Why::Evaluates);
        // What a variable holds may name a command to run.
        command.is_opaque = text.contains(|c: char| c.is_alphabetic() || matches!(c, '$' | '_' | '['));
        self.found.commands.push(command);
    }

    /// Arithmetic evaluates what is in its variables, unless that can only be numbers.
    pub(super) fn arithmetic(&mut self, node: Node<'_>) {
        if !self.is_of_numbers(self.text(node)) {
            self.evaluating(node, Sort::Arithmetic);
        }
    }

    /// `((…))`, and what stands behind `for` like it.
    pub(super) fn arithmetic_command(&mut self, node: Node<'_>) {
        let text = self.text(node);
        let within = text.split_once("((").and_then(|(_, rest)| rest.split_once("))"));
        if !within.is_some_and(|(inner, _)| is_balanced(inner) && self.is_of_numbers(inner)) {
            self.evaluating(node, Sort::Arithmetic);
        }
    }

    fn is_of_numbers(&self, text: &str) -> bool {
        let mut names = text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
        let inner = text.trim_start_matches("$[").trim_start_matches("$((");
        let is_simple = !inner.contains(['[', '`', '"', '\'', '{', '\\']) && expands_numbers(inner);
        is_simple && names.all(|name| self.is_number(name))
    }

    /// `${x@P}` expands what is in a variable as a prompt, `${!x}` and an index evaluate it, and `${x:=y}` sets it.
    pub(super) fn expansion(&mut self, node: Node<'_>) {
        let text = self.text(node).trim_start_matches("${").trim_end_matches('}');
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let named = text.trim_start_matches(['!', '#']);
        let rest = match named.trim_start_matches(is_part) {
            // What the shell was given has a sign for its name.
            rest if rest.len() == named.len() => rest.strip_prefix(['@', '*', '?', '-', '$']).unwrap_or(rest),
            rest => rest,
        };
        let name = &text[..text.len() - rest.len()];
        let is_fixed =
            |text: &str| text.chars().all(|c| c.is_ascii_digit() || matches!(c, '@' | '*' | '-' | ' ' | ':'));
        let (index, behind) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((index, behind)) => (index, behind),
            None => ("", rest),
        };
        let is_indirect =
            name.starts_with('!') && name.len() > 1 && index.is_empty() && !behind.starts_with(['*', '@']);
        let slice = behind.strip_prefix(':').filter(|rest| !rest.starts_with(['-', '=', '?', '+']));
        let sets = behind.trim_start_matches(':').starts_with('=') && variables::is_run(name);
        let prompts = behind.starts_with("@P");
        let numbers = |text: &str| is_fixed(text) || self.all_numbers(text);
        if is_indirect || sets || prompts || !numbers(index) || !slice.is_none_or(numbers) {
            self.evaluating(node, Sort::Arithmetic);
        }
    }

    pub(super) fn declaration(&mut self, node: Node<'_>) {
        self.taint(Why::Assignment);
        if self.text(node).contains('[') && !self.is_keyed(node) {
            self.evaluating(node, Sort::Arithmetic);
        }
        self.exports(node);
        // What it sets may stand in quotes, or be known only when it runs.
        let mut words = Words::default();
        for child in children(node).into_iter().skip(1) {
            if !matches!(child.kind(), "variable_assignment" | "variable_name" | COMMENT) {
                words.push(child);
            }
        }
        let is_unset = self.text(node).starts_with("unset");
        for group in words.groups(self.source) {
            let word = self.word(&group);
            if is_unset && names_by_text(&word) {
                self.evaluating(node, Sort::Arithmetic);
            }
            let is_option = word.text().starts_with(['-', '+']);
            if is_option && !is_unset && word.text().contains(EVALUATING) && !self.declares_numbers(node) {
                self.evaluating(node, Sort::Arithmetic);
            }
            if is_unset || is_option {
                continue;
            }
            let (name, value) = word.text().split_once('=').unwrap_or((word.text(), ""));
            match word.known() {
                Some(_) => self.set(node, name, Word::exact(value)),
                None if word.text().contains('=') => self.set(node, name, Word::unknown()),
                None => self.set(node, "ENV", Word::unknown()),
            }
        }
    }

    /// Whether a declaration makes arrays whose keys are texts, which are not evaluated, and nothing else.
    fn is_keyed(&self, node: Node<'_>) -> bool {
        let mut has_option = false;
        let others = children(node).into_iter().skip(1);
        let is_plain = |child: Node<'_>| match child.kind() {
            "variable_assignment" => {
                let name = child.child_by_field_name("name").map_or("", |name| self.text(name));
                child.child_by_field_name("value").is_some_and(|value| value.kind() == "array")
                    && !name.contains('[')
                    && !variables::is_evaluated(name)
            }
            "variable_name" => true,
            _ => {
                has_option |= matches!(self.text(child), "-A" | "-gA" | "-Ag" | "-rA" | "-Ar");
                matches!(self.text(child), "-A" | "-gA" | "-Ag" | "-rA" | "-Ar" | "-g" | "-r")
            }
        };
        others.into_iter().all(is_plain) && has_option
    }

    /// Takes down what a declaration hands on to other programs: it may name a file to them.
    fn exports(&mut self, node: Node<'_>) {
        let is_exporting =
            |child: Node<'_>| self.text(child).starts_with('-') && self.text(child).contains('x');
        if !self.text(node).starts_with("export") && !children(node).into_iter().any(is_exporting) {
            return;
        }
        for child in children(node).into_iter().skip(1) {
            let values = match child.kind() {
                "variable_assignment" => vec![self.value(child)],
                "variable_name" => self.values.get(self.text(child)).cloned().unwrap_or_default(),
                _ => {
                    let word = self.word(&[child]);
                    word.known()
                        .and_then(|text| text.split_once('='))
                        .map(|(_, value)| Word::exact(value))
                        .into_iter()
                        .collect()
                }
            };
            values.into_iter().for_each(|value| self.name_file(node, value));
        }
    }

    /// Whether a declaration says of variables that they are numbers, and nothing else is ever put into them.
    fn declares_numbers(&self, node: Node<'_>) -> bool {
        let mut names = children(node).into_iter().skip(1).filter_map(|child| match child.kind() {
            "variable_assignment" => child.child_by_field_name("name").map(|name| self.text(name)),
            "variable_name" => Some(self.text(child)),
            _ if self.text(child).starts_with('-') && !self.text(child).contains('n') => None,
            // Others are not looked into.
            _ => Some(""),
        });
        names.all(|name| !name.is_empty() && self.numbers_set(name).is_some())
    }

    pub(super) fn assignment(&mut self, node: Node<'_>) {
        let name = node.child_by_field_name("name");
        let name = name.map_or("", |name| self.text(name));
        self.taint(if variables::is_dangerous(name) { Why::Environment } else { Why::Assignment });
        if self.is_apart(node) {
            self.overlook(self.text(node));
        }
        if name.contains('[') && !name.ends_with("[@]") {
            let index = name.split_once('[').map_or("", |(_, index)| index);
            if !index.trim_end_matches(']').chars().all(|c| c.is_ascii_digit()) {
                self.evaluating(node, Sort::Arithmetic);
            }
        }
        // An index before a value of an array is evaluated like any other.
        let value = node.child_by_field_name("value").filter(|value| value.kind() == "array");
        let is_evaluated = |element: Node<'_>| {
            let index = self.text(element).strip_prefix('[').and_then(|text| text.split(']').next());
            index.is_some_and(|index| !index.chars().all(|c| c.is_ascii_digit()))
        };
        let is_keyed = || {
            let declared = node.parent().filter(|parent| parent.kind() == "declaration_command");
            declared.is_some_and(|declared| self.is_keyed(declared))
        };
        if value.is_some_and(|value| children(value).into_iter().any(is_evaluated)) && !is_keyed() {
            self.evaluating(node, Sort::Arithmetic);
        }
        self.set(node, name, self.value(node));
    }

    /// Whether the value of an assignment does not stand right behind its sign: then it is a word of its own.
    pub(super) fn is_apart(&self, assignment: Node<'_>) -> bool {
        let inside = children(assignment);
        inside.windows(2).any(|pair| !adjoin(self.source, pair.first(), pair[1]))
    }

    /// What stands in quotes within an expansion is not protected by them if quotes stand around all of it, and what looks
    /// like text there may be a substitution.
    pub(super) fn expanded(&mut self, node: Node<'_>) {
        let text = self.text(node);
        if ["$(", "${", "$[", "`", "<(", ">("].iter().any(|begins| text.contains(begins)) {
            self.overlook(text);
        }
    }

    /// A loop sets its variable to each of its words.
    pub(super) fn looped(&mut self, variable: Node<'_>) {
        let name = self.text(variable);
        self.set(variable, name, Word::unknown());
    }

    /// Takes down that a variable is set, if what is in it is run by others.
    fn set(&mut self, node: Node<'_>, name: &str, value: Word) {
        let runs = variables::is_run(name) || variables::run_by(name, &value).is_some();
        if !runs {
            if variables::names_file(name) || self.exports_all {
                self.name_file(node, value);
            }
            return;
        }
        let mut command = Command::new(Sort::Assignment, self.text(node));
        command.because(Why::Environment);
        command.directories.clone_from(&self.directories);
        command.assignments.push(name.to_owned());
        command.values.push(value);
        self.found.commands.push(command);
    }

    /// Takes down that a variable names a file to others.
    fn name_file(&mut self, node: Node<'_>, value: Word) {
        let mut command = Command::new(Sort::Setting, self.text(node));
        command.directories.clone_from(&self.directories);
        command.values.push(value);
        self.found.commands.push(command);
    }

    /// What a variable is set to.
    pub(super) fn value(&self, assignment: Node<'_>) -> Word {
        let name =
            assignment.child_by_field_name("name").map_or(assignment.start_byte(), |name| name.end_byte());
        match assignment.child_by_field_name("value") {
            _ if self.between(name, assignment.end_byte()).starts_with('+') => Word::unknown(),
            Some(value) => self.word(&[value]),
            None => Word::exact(""),
        }
    }

    /// `$(< file)` reads a file.
    pub(super) fn contents(&mut self, node: Node<'_>) {
        let mut command = Command::new(Sort::Redirections, self.text(node));
        command.directories.clone_from(&self.directories);
        self.redirection(node, &mut command, &mut Words::default());
        self.found.commands.push(command);
    }
}

/// Whether each bracket that is closed was opened before, and each that is opened is closed.
fn is_balanced(text: &str) -> bool {
    let mut open = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return false,
            b')' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

/// Whether a word names a variable by a text that is evaluated, or by one that is not known.
fn names_by_text(word: &Word) -> bool {
    word.known().is_none_or(evaluates_index)
}

/// Whether backslashes are taken away from what stands between backquotes: those before a dollar, a backquote, another
/// backslash and, within double quotes, a quote.
fn is_read_again(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && matches!(pair[1], b'$' | b'`' | b'\\' | b'"'))
}
