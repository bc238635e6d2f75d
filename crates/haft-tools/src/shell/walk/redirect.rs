//! Redirections: what they open, and which words behind them belong to the command.

use tree_sitter::Node;

use super::comments::COMMENT;
use super::decode::{Words, adjoin};
use super::{AND_OR, Walker, children};
use crate::shell::command::{Command, Direction, Redirection, Sort, Why};
use crate::shell::word::Word;

/// What the grammar calls a here document.
pub(super) const HERE_DOCUMENT: &str = "heredoc_redirect";

impl Walker<'_> {
    pub(super) fn redirected(&mut self, node: Node<'_>, depth: usize) {
        let body = node.child_by_field_name("body");
        if let Some(body) = body.filter(|body| body.kind() == "command") {
            return self.command(body, Some(node), depth);
        }
        let redirects =
            || children(node).into_iter().filter(|child| Some(child.id()) != body.map(|body| body.id()));
        let from = redirects().next().map_or(node.start_byte(), |first| first.start_byte());
        let mut command = Command::new(Sort::Redirections, self.between(from, node.end_byte()).trim());
        let before = self.directories.clone();
        let mut words = Words::default();
        redirects().for_each(|redirect| self.redirection(redirect, &mut command, &mut words));
        if self.overlooked.take() {
            command.because(Why::Substitution);
            command.is_opaque = true;
        }
        if !words.0.is_empty() {
            // They belong to a command inside, but to which is not said.
            command.is_opaque = true;
            command.because(Why::Unclear);
        }
        if let Some(body) = body {
            self.visit(body, depth + 1);
        }
        // Of commands that are joined it belongs to the last, which runs where those before it led.
        let is_known = !before.is_empty() && !self.directories.is_empty();
        let both = before.into_iter().chain(self.directories.iter().cloned());
        command.directories = if is_known { both.collect() } else { Vec::new() };
        command.directories.sort();
        command.directories.dedup();
        if command.is_opaque || !redirections_are_idle(&command.redirections) {
            self.found.commands.push(command);
        }
        redirects().for_each(|redirect| self.apart(|walker| walker.visit(redirect, depth + 1)));
    }

    /// Walks a function. What stands behind its body is opened whenever it is called.
    pub(super) fn defined(&mut self, node: Node<'_>, depth: usize) {
        let is_redirect = |child: &Node<'_>| child.kind().ends_with("_redirect");
        let redirects: Vec<Node<'_>> = children(node).into_iter().filter(is_redirect).collect();
        if let Some(first) = redirects.first() {
            let text = self.between(first.start_byte(), node.end_byte()).trim();
            let mut command = Command::new(Sort::Redirections, text);
            let mut words = Words::default();
            redirects.iter().for_each(|redirect| self.redirection(*redirect, &mut command, &mut words));
            if self.overlooked.take() {
                command.because(Why::Substitution);
                command.is_opaque = true;
            }
            if !words.0.is_empty() {
                command.because(Why::Unclear);
                command.is_opaque = true;
            }
            command.directories.clone_from(&self.directories);
            if command.is_opaque || !redirections_are_idle(&command.redirections) {
                self.found.commands.push(command);
            }
        }
        self.visit_all(node, depth);
    }

    pub(super) fn redirection<'t>(&mut self, node: Node<'t>, command: &mut Command, words: &mut Words<'t>) {
        if node.kind() == HERE_DOCUMENT {
            self.here_document(node);
        }
        let mut direction = Direction::In;
        let mut is_literal = false;
        let mut text = None;
        let mut target: Option<Vec<Node<'t>>> = None;
        for child in children(node) {
            match child.kind() {
                // A number that is none of a descriptor is a word, and calls something.
                "file_descriptor" => {
                    let text = self.text(child);
                    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
                    if is_number && text.parse::<i32>().is_err() {
                        self.overlooked.set(true);
                    }
                }
                "<" => direction = Direction::In,
                ">" | ">>" | ">|" | "&>" | "&>>" => direction = Direction::Out,
                ">&" | "<&" | ">&-" | "<&-" => direction = Direction::Descriptor,
                "<<" | "<<-" | "<<<" => direction = Direction::Text,
                "heredoc_body" => {
                    text = Some(Word::exact(self.text(child)));
                    if !is_literal {
                        self.look_for_overlooked(child);
                    }
                }
                "heredoc_start" => is_literal = self.text(child).contains(['\'', '"', '\\']),
                "heredoc_end" | COMMENT => {}
                // Commands that stand behind the beginning of a here document are not its words.
                "pipeline" | AND_OR | "command" | "redirected_statement" | "&&" | "||" | "|" | "|&" => {}
                "file_redirect" | "herestring_redirect" => self.redirection(child, command, words),
                _ => match &mut target {
                    None if node.kind() == HERE_DOCUMENT => words.push(child),
                    None => target = Some(vec![child]),
                    Some(pieces) if adjoin(self.source, pieces.last(), child) => pieces.push(child),
                    // What follows the target is an argument of the command.
                    Some(_) => words.push(child),
                },
            }
        }
        let target = match target {
            Some(pieces) => self.word(&pieces),
            None => text.unwrap_or_else(Word::unknown),
        };
        if direction == Direction::Descriptor {
            let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '-');
            let stays = self.text(node).ends_with("&-") || target.known().is_some_and(is_number);
            direction = if stays { direction } else { Direction::Out };
        }
        command.redirections.push(Redirection { direction, target });
        if !redirections_are_idle(&command.redirections) {
            command.because(Why::Redirection);
        }
    }
}

/// Whether redirections leave every file alone.
fn redirections_are_idle(redirections: &[Redirection]) -> bool {
    redirections.iter().all(|redirection| match redirection.direction {
        Direction::Descriptor => true,
        Direction::In | Direction::Out => redirection.target.known() == Some("/dev/null"),
        Direction::Text => false,
    })
}
