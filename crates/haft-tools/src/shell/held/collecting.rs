//! Takes down what a command names, in every directory that it may work in.

use std::path::{Path, PathBuf};

use super::listed::reads_untold;
use super::loading::loads_computed;
use super::pathspecs::{Pathspec, Told, told};
use super::spelling::{CODED, is_number, is_open};
use super::{Named, NamedFile, Use};
use crate::shell::command::{Command, Direction, Redirection, Sort, Why};
use crate::shell::effects::{CHANGING, DEVICES, READING};
use crate::shell::elsewhere::{Elsewhere, elsewhere};
use crate::shell::globs::{Matches, has_wildcards, matches};
use crate::shell::operands::{TEXT, is_output, operands};
use crate::shell::programs::awk::opens_computed;
use crate::shell::trees::{Extent, opens_nothing};
use crate::shell::word::Word;
use crate::shell::wrappers::{SHELLS, wrapper_of};

pub(super) struct Collecting<'c> {
    command: &'c Command,
    /// Where its names may start.
    bases: Vec<PathBuf>,
    left: &'c mut usize,
    named: Named,
}

impl<'c> Collecting<'c> {
    pub(super) fn new(command: &'c Command, root: &Path, left: &'c mut usize) -> Collecting<'c> {
        let name = command.name().unwrap_or_default();
        let words = command.words.get(1..).unwrap_or_default();
        let mut bases = command.directories.clone();
        let mut is_unknown = bases.is_empty();
        for directory in &command.directories {
            match elsewhere(name, words, directory) {
                Elsewhere::In(directories) => bases.extend(directories),
                Elsewhere::Unknown => is_unknown = true,
            }
        }
        if name == "git" {
            bases.push(root.to_owned());
        }
        bases.sort();
        bases.dedup();
        let is_open =
            is_unknown && opens_its_names(command, name, words) || opens_unknown(command, name, words);
        Collecting { command, bases, left, named: Named { is_open, ..Named::default() } }
    }

    /// Adds a path as it is spelled, and what its wildcards match.
    pub(super) fn add(&mut self, text: &str, used: Use, extent: Extent) {
        let is_device = DEVICES.contains(&text) || text.starts_with("/dev/fd/");
        if text.is_empty() || text.contains('\0') || is_device {
            return;
        }
        // What changes how names are matched may have made hidden ones match.
        let with_hidden = self.command.why.contains(&Why::Shadowed);
        for base in self.bases.clone() {
            self.push(NamedFile { path: base.join(text), used, extent });
            if !has_wildcards(text) {
                continue;
            }
            match matches(&base, text, with_hidden, self.left) {
                Matches::All(found) => {
                    // A directory that merely matches is gone into by those who go into every one.
                    let extent = if extent == Extent::Tree { extent } else { Extent::Itself };
                    found.into_iter().for_each(|path| self.push(NamedFile { path, used, extent }));
                }
                Matches::TooMany => self.named.is_open = true,
            }
        }
    }

    /// Adds what an operand of git stands for, if it is more than a path.
    pub(super) fn add_told(&mut self, text: &str, used: Use, extent: Extent) {
        match told(text) {
            None => {}
            Some(Told::Path(path)) => self.add(&path, used, extent),
            Some(Told::Others) => self.add(".", used, extent),
            Some(Told::Pattern(pattern, ignores_case)) => {
                let pathspec = Pathspec::new(self.bases.clone(), pattern, ignores_case);
                self.named.pathspecs.push((pathspec, used));
            }
        }
    }

    /// Notes that what a command prints of this are words of another one: of a directory it is what lies in it.
    pub(super) fn list(&mut self, text: &str) {
        for base in self.bases.clone() {
            let found = match has_wildcards(text) {
                true => matches(&base, text, false, self.left),
                false => Matches::All(vec![base.join(text)]),
            };
            let is_file = |path: &PathBuf| {
                path.symlink_metadata().is_ok_and(|found| !found.is_dir() && !found.is_symlink())
            };
            let are_files = matches!(found, Matches::All(paths) if paths.iter().all(is_file));
            self.named.is_open |= !are_files;
        }
    }

    pub(super) fn finish(self) -> Named {
        self.named
    }

    fn push(&mut self, file: NamedFile) {
        self.named.files.push(file);
    }
}

/// Whether a command opens what its words name, so that it matters where it runs.
fn opens_its_names(command: &Command, name: &str, words: &[Word]) -> bool {
    let opens = |one: &Redirection| matches!(one.direction, Direction::In | Direction::Out);
    let is_operand = |(_, word): &(usize, &Word)| !word.text().starts_with('-');
    let is_known = READING.contains(&name) || CHANGING.contains(&name);
    command.redirections.iter().any(opens)
        || is_known
            && !TEXT.contains(&name)
            && !opens_nothing(name, words)
            && operands(name, words).iter().any(is_operand)
}

/// Whether a command opens something that is known only when it runs.
fn opens_unknown(command: &Command, name: &str, words: &[Word]) -> bool {
    let opens = |one: &Redirection| matches!(one.direction, Direction::In | Direction::Out);
    if command.redirections.iter().any(|one| opens(one) && is_open(&one.target)) {
        return true;
    }
    if command.sort != Sort::Simple {
        return command.is_opaque
            && matches!(command.sort, Sort::Unread | Sort::Overlooked | Sort::Assignment);
    }
    // What a program does by itself is known to nobody; what a shell is given to do is one more script.
    let runs_scripts = SHELLS.contains(&name)
        || wrapper_of(name).is_some()
        || matches!(name, "eval" | "source" | "." | "trap" | "alias" | "su");
    if command.words.first().is_some_and(is_open) || command.is_opaque && runs_scripts || command.runs_written
    {
        return true;
    }
    // A module of Python is named by an option, too.
    let is_option = |word: &Word| word.text().starts_with('-') && !word.text().starts_with("-m");
    let is_fed_code = command.is_fed && CODED.contains(&name) && words.iter().all(is_option);
    let computes = opens_computed(name, words) || loads_computed(name, words);
    if is_fed_code || reads_untold(command, name, words) || computes {
        return true;
    }
    if TEXT.contains(&name) || opens_nothing(name, words) || command.is_found {
        return false;
    }
    let is_token_number = |at: usize| command.tokens.get(at + 1).is_some_and(|token| is_number(token));
    let is_known = |at: usize| is_token_number(at) || is_output(command, at + 1);
    operands(name, words).into_iter().any(|(at, word)| is_open(word) && !is_known(at))
}
