//! What a command runs besides itself, as far as its words tell.

use super::builtins::{DECLARING, declared, evaluates_names};
use super::command::{Command, Direction, Redirection};
use super::interpreters::runs_code;
use super::introduced::introduced;
use super::options::subcommand;
use super::variables::run_by;
use super::views::{View, view};
use super::word::{Word, WordBuilder};
use super::wrapped::{script_anywhere, wrapped};
use super::wrappers::{SHELLS, wrapper_of};

/// Something that a command runs.
#[derive(Debug, PartialEq)]
pub(super) enum Inner {
    /// A command of these words.
    Words(Vec<Word>),
    /// A script.
    Script(String),
    /// Something that is not known.
    Opaque,
}

/// Settings of git that are text, whatever they say.
const GIT_TEXTS: &[&str] =
    &["user.", "author.", "committer.", "color.", "column.", "advice.", "i18n.", "log.", "init.default"];
/// Shells that read what the grammar here reads.
const POSIX_SHELLS: &[&str] = &["sh", "bash", "dash", "ksh", "mksh", "ash", "rbash"];
/// Options of bash that take nothing.
const SHELL_FLAGS: &[&str] = &[
    "--norc",
    "--noprofile",
    "--login",
    "--posix",
    "--restricted",
    "--verbose",
    "--noediting",
    "--help",
    "--version",
];

/// Everything that a command runs; nothing, if it runs only itself.
pub(super) fn inner(command: &Command) -> Vec<Inner> {
    let set = command.assignments.iter().zip(&command.values);
    let mut found: Vec<Inner> = set.filter_map(|(name, value)| run_by(name, value)).collect();
    found.extend(of_words(command));
    found
}

fn of_words(command: &Command) -> Vec<Inner> {
    let Some((called, arguments)) = command.words.split_first() else { return Vec::new() };
    if called.known().is_none() {
        return vec![Inner::Opaque];
    }
    let name = command.name().unwrap_or_default();
    match name {
        _ if SHELLS.contains(&name) => shell(name, arguments, &command.redirections),
        "eval" => vec![joined(behind_dashes(arguments))],
        "trap" => trap(arguments),
        // An alias is read again where it is used, together with what stands behind it.
        "alias" => arguments.iter().map(aliased).chain([Inner::Opaque]).collect(),
        "source" | "." => match behind_dashes(arguments).first().map(Word::known) {
            Some(Some(_)) => Vec::new(),
            Some(None) | None => vec![Inner::Opaque],
        },
        // Without a script it starts a shell.
        "su" => vec![script_anywhere(arguments, "-c --command --session-command").unwrap_or(Inner::Opaque)],
        "sg" | "newgrp" => vec![as_group(arguments)],
        "capsh" => match arguments.iter().position(|word| word.text() == "--") {
            Some(at) => shell("bash", &arguments[at + 1..], &command.redirections),
            None => Vec::new(),
        },
        "command" if asks_where(arguments) => Vec::new(),
        "find" => after_exec(arguments, &["-exec", "-execdir", "-ok", "-okdir"]),
        "fd" | "fdfind" => after_exec(&split_exec(arguments), &["--exec"]),
        _ if DECLARING.contains(&name) => declared(arguments),
        "git" => git(arguments),
        "make" | "gmake" | "bmake" => arguments.iter().filter_map(made_with).collect(),
        "bwrap" => match view(arguments, &command.directories) {
            Some(View { command: [], .. }) => Vec::new(),
            Some(view) => vec![Inner::Words(view.command.to_vec())],
            None => vec![Inner::Opaque],
        },
        "ssh" => vec![Inner::Opaque],
        _ => match wrapper_of(name) {
            Some(wrapper) => wrapped(name, wrapper, arguments),
            None if runs_code(name, arguments) || evaluates_names(name, arguments) => vec![Inner::Opaque],
            None => introduced(name, arguments),
        },
    }
}

/// A shell runs the script behind its options if they say so, or else a file, or else what it is fed.
fn shell(name: &str, arguments: &[Word], redirections: &[Redirection]) -> Vec<Inner> {
    let mut is_sure = POSIX_SHELLS.contains(&name);
    let (mut at, mut has_script, mut is_fed) = (0, false, false);
    while let Some(word) = arguments.get(at) {
        let Some(text) = word.known() else { return vec![Inner::Opaque] };
        let Some(cluster) = text.strip_prefix(['-', '+']) else { break };
        at += 1;
        match cluster {
            "" | "-" => break,
            "-rcfile" | "-init-file" => {
                if arguments.get(at).is_none_or(|file| file.known().is_none()) {
                    return vec![Inner::Opaque];
                }
                at += 1;
            }
            _ if cluster.starts_with('-') => is_sure &= SHELL_FLAGS.contains(&text),
            _ => {
                has_script |= cluster.contains('c');
                // What stands behind an exclamation mark is what was typed before.
                is_sure &= !cluster.contains('H');
                is_fed |= cluster.contains('s');
                // Each of these takes a word, wherever in the cluster it stands.
                let options = cluster.chars().filter(|letter| matches!(letter, 'o' | 'O')).count();
                let is_plain = |option: &Word| option.known().is_some_and(|option| option != "histexpand");
                is_sure &= arguments.iter().skip(at).take(options).all(is_plain);
                at += options;
            }
        }
    }
    let operand = arguments.get(at);
    let mut found = Vec::new();
    if has_script {
        found.push(operand.map_or(Inner::Opaque, script));
    } else if is_fed || operand.is_some_and(|file| file.known().is_none()) {
        found.push(Inner::Opaque);
    } else if operand.is_none() {
        let mut fed =
            redirections.iter().rev().filter(|one| matches!(one.direction, Direction::In | Direction::Text));
        let by_nothing =
            |one: &Redirection| one.direction == Direction::In && one.target.known() == Some("/dev/null");
        is_sure &= fed.next().is_some_and(by_nothing);
    }
    if !is_sure {
        found.push(Inner::Opaque);
    }
    found
}

/// The words without the one that only says that no option follows.
fn behind_dashes(arguments: &[Word]) -> &[Word] {
    match arguments {
        [first, rest @ ..] if first.known() == Some("--") => rest,
        _ => arguments,
    }
}

pub(super) fn script(word: &Word) -> Inner {
    word.known().map_or(Inner::Opaque, |text| Inner::Script(text.to_owned()))
}

pub(super) fn joined(words: &[Word]) -> Inner {
    let known: Option<Vec<&str>> = words.iter().map(Word::known).collect();
    known.map_or(Inner::Opaque, |words| Inner::Script(words.join(" ")))
}

/// What is run as another group: the words behind the group, as a script. Without any it starts a shell.
fn as_group(arguments: &[Word]) -> Inner {
    let words: Vec<Word> = arguments
        .iter()
        .filter(|word| !matches!(word.text(), "-" | "-l" | "-c" | "--command"))
        .skip(1)
        .cloned()
        .collect();
    if words.is_empty() { Inner::Opaque } else { joined(&words) }
}

/// Several words are a command, and a single one is a script.
pub(super) fn words_or_script(words: &[Word]) -> Inner {
    match words {
        [] => Inner::Opaque,
        [only] => script(only),
        several => Inner::Words(several.to_vec()),
    }
}

fn trap(arguments: &[Word]) -> Vec<Inner> {
    match arguments.first().map(Word::known) {
        Some(Some("-l" | "-p" | "-" | "")) => Vec::new(),
        Some(Some("--")) => arguments.get(1).map(script).into_iter().collect(),
        Some(_) => arguments.first().map(script).into_iter().collect(),
        None => Vec::new(),
    }
}

fn aliased(word: &Word) -> Inner {
    match word.known().and_then(|text| text.split_once('=')) {
        Some((_, value)) => Inner::Script(value.to_owned()),
        None => Inner::Opaque,
    }
}

fn asks_where(arguments: &[Word]) -> bool {
    let first = arguments.first().and_then(Word::known);
    first.is_some_and(|text| text.starts_with('-') && text.contains(['v', 'V']))
}

/// The commands behind options that run one for each file, up to what ends them.
fn after_exec(arguments: &[Word], options: &[&str]) -> Vec<Inner> {
    let mut commands = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(|word| options.contains(&word.text())) {
        rest = &rest[at + 1..];
        // A plus ends it only right behind the braces.
        let ends = |at: &usize| match rest[*at].text() {
            "+" => *at > 0 && rest[*at - 1].text() == "{}",
            text => text == ";",
        };
        let until = (0..rest.len()).find(ends).unwrap_or(rest.len());
        let words: Vec<Word> = rest[..until].iter().map(placeholder).collect();
        commands.push(if words.is_empty() { Inner::Opaque } else { Inner::Words(words) });
        rest = &rest[until..];
    }
    commands
}

/// The words of fd with the letters and the values of its options apart, so that what it runs stands behind one word. It
/// puts what it finds behind a command that has no place for it.
fn split_exec(arguments: &[Word]) -> Vec<Word> {
    let mut words = Vec::with_capacity(arguments.len() + 2);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.text();
        let value = ["--exec=", "--exec-batch="].iter().find_map(|option| text.strip_prefix(option));
        let letters = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
        let attached =
            letters.and_then(|letters| letters.split_once(['x', 'X'])).map(|(_, attached)| attached);
        let is_exec = value.is_some() || attached.is_some() || matches!(text, "--exec" | "--exec-batch");
        if !is_exec {
            words.push(word.clone());
            continue;
        }
        words.push(Word::exact("--exec"));
        match value.or(attached).filter(|value| !value.is_empty()) {
            Some(value) if word.known().is_some() => words.push(Word::exact(value)),
            Some(_) => words.push(Word::unknown()),
            None => {}
        }
        let command = rest.by_ref().take_while(|word| word.text() != ";");
        words.extend(command.cloned());
        words.extend([Word::unknown(), Word::exact(";")]);
    }
    words
}

/// A word with the name of a file put where its braces are.
pub(super) fn placeholder(word: &Word) -> Word {
    replaced(word, "{}")
}

/// A word with something unknown put where a mark is.
pub(super) fn replaced(word: &Word, mark: &str) -> Word {
    match word.known().and_then(|text| text.split_once(mark)) {
        Some((before, _)) if !mark.is_empty() => {
            let mut builder = WordBuilder::default();
            builder.quoted(before);
            builder.unknown();
            builder.finish(None)
        }
        Some(_) | None => word.clone(),
    }
}

fn git(arguments: &[Word]) -> Vec<Inner> {
    let mut found = Vec::new();
    let second = subcommand("git", arguments);
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text();
        let next = || arguments.get(at + 1);
        let attached = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
        match attached.and_then(|cluster| cluster.split_once('c')).map(|(_, attached)| attached) {
            Some("") => found.extend(next().and_then(git_setting)),
            Some(setting) if second == Some("clone") && setting.contains('=') => {
                found.extend(git_setting(&Word::exact(setting)));
            }
            Some(_) | None => {}
        }
        if let Some(value) =
            text.split_once('=').filter(|(option, _)| is_exec(option)).map(|(_, value)| value)
        {
            found.push(word.known().map_or(Inner::Opaque, |_| Inner::Script(value.to_owned())));
        } else if is_exec(text) {
            found.extend(next().map(script));
        }
        match (second, text) {
            (Some("rebase"), _) if !text.starts_with("--") => {
                let attached = text.strip_prefix('-').and_then(|cluster| cluster.split_once('x'));
                found.extend(match attached {
                    Some((_, "")) => next().map(script),
                    Some((_, attached)) => Some(script(&Word::exact(attached))),
                    None => None,
                });
            }
            (Some("bisect"), "run") => {
                found.push(Inner::Words(arguments[at + 1..].to_vec()));
                return found;
            }
            (Some("submodule"), "foreach") => {
                let is_option = |word: &&Word| word.text().starts_with("--");
                let rest = &arguments[at + 1..];
                found.push(joined(&rest[rest.iter().take_while(is_option).count()..]));
                return found;
            }
            _ => {}
        }
    }
    found
}

/// Whether a word is the option that gives git something to execute, abbreviated or not.
fn is_exec(option: &str) -> bool {
    option.len() > 4 && "--exec".starts_with(option)
}

/// What git may run because of a setting: an alias may be anything, and so may what is set for git to run.
fn git_setting(word: &Word) -> Option<Inner> {
    let Some((key, value)) = word.text().split_once('=') else {
        return word.known().is_none().then_some(Inner::Opaque);
    };
    let key = key.to_ascii_lowercase();
    if GIT_TEXTS.iter().any(|text| key.starts_with(text)) {
        return None;
    }
    if word.known().is_none() {
        return Some(Inner::Opaque);
    }
    Some(match value.strip_prefix('!') {
        Some(script) => Inner::Script(script.to_owned()),
        None if key.starts_with("alias.") => Inner::Script(format!("git {value}")),
        None => Inner::Script(value.to_owned()),
    })
}

/// What make may run because a variable is set: the programs that it calls are in variables.
fn made_with(word: &Word) -> Option<Inner> {
    let (name, value) = word.text().split_once('=')?;
    let is_one_word = |text: &str| !text.contains(|c: char| c.is_whitespace() || ";|&<>".contains(c));
    let is_options = value.starts_with('-') && !value.contains([';', '|', '&', '<', '>', '`', '$', '\n']);
    let is_plain = is_options || is_one_word(value);
    (!name.starts_with('-') && !is_plain).then(|| script(&Word::exact(value)))
}
