//! What a command runs besides itself, as far as its words tell.

use super::command::{Command, Direction, Redirection};
use super::options::subcommand;
use super::variables::{is_run, run_by};
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
        "eval" => vec![joined(arguments)],
        "trap" => trap(arguments),
        // An alias is read again where it is used, together with what stands behind it.
        "alias" => arguments.iter().map(aliased).chain([Inner::Opaque]).collect(),
        "source" | "." => match arguments.first().map(Word::known) {
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
        "dpkg-architecture" => {
            let at = arguments.iter().position(|word| matches!(word.text(), "-c" | "--command"));
            at.map(|at| words_or_script(&arguments[at + 1..])).into_iter().collect()
        }
        "command" if asks_where(arguments) => Vec::new(),
        "find" => after_exec(arguments, &["-exec", "-execdir", "-ok", "-okdir"]),
        "fd" | "fdfind" => after_exec(arguments, &["-x", "-X", "--exec", "--exec-batch"]),
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
            None if runs_code(name, arguments)
                || named_variables(name, arguments).into_iter().any(evaluates) =>
            {
                vec![Inner::Opaque]
            }
            None => Vec::new(),
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
                is_fed |= cluster.contains('s');
                // Each of these takes a word, wherever in the cluster it stands.
                let options = cluster.chars().filter(|letter| matches!(letter, 'o' | 'O')).count();
                is_sure &= arguments.iter().skip(at).take(options).all(|option| option.known().is_some());
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
fn words_or_script(words: &[Word]) -> Inner {
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
        if text == "-c" {
            found.extend(next().and_then(git_setting));
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
    let is_plain = value.starts_with('-') || is_one_word(value);
    (!name.starts_with('-') && !is_plain).then(|| script(&Word::exact(value)))
}

/// Builtins that name variables: options that take a name, options that take something else, and whether their operands
/// are names.
const NAMING: &[(&str, &str, &str, bool)] = &[
    ("printf", "v", "", false),
    ("test", "vR", "", false),
    ("wait", "p", "", false),
    ("getopts", "", "", true),
    ("read", "a", "dinNptu", true),
    ("mapfile", "", "CcdnOsu", true),
    ("readarray", "", "CcdnOsu", true),
];

/// The words by which a builtin names variables.
fn named_variables<'w>(name: &str, arguments: &'w [Word]) -> Vec<&'w Word> {
    let Some((_, naming, valued, takes_operands)) = NAMING.iter().find(|(builtin, ..)| *builtin == name)
    else {
        return Vec::new();
    };
    let mut named = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let cluster = word.text().strip_prefix('-').filter(|cluster| !cluster.is_empty());
        match cluster.and_then(|cluster| cluster.chars().last()) {
            Some(letter) if naming.contains(letter) => named.extend(rest.next()),
            Some(letter) if valued.contains(letter) => drop(rest.next()),
            // What is attached may be a name.
            Some(_) => named.extend(Some(word).filter(|word| word.text().contains('['))),
            None if *takes_operands => named.push(word),
            None => {}
        }
    }
    named
}

/// Whether to name a variable so evaluates a text, or sets what is evaluated later.
fn evaluates(word: &Word) -> bool {
    let Some(text) = word.known() else { return true };
    let is_number = |index: &str| index.trim_end_matches(']').chars().all(|c| c.is_ascii_digit());
    is_run(text) || text.split_once('[').is_some_and(|(_, index)| !is_number(index))
}

/// Whether code for an interpreter is given by an option or fed: nobody has looked at it.
fn runs_code(name: &str, arguments: &[Word]) -> bool {
    let operands = || arguments.iter().any(|word| !word.text().starts_with('-'));
    let short = |letters: &[char]| {
        arguments.iter().any(|word| {
            let text = word.text();
            text.strip_prefix('-')
                .is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains(letters))
        })
    };
    let long = |options: &[&str]| {
        arguments.iter().any(|word| options.iter().any(|one| word.text().starts_with(one)))
    };
    match name {
        "python" | "python2" | "python3" | "pypy" | "pypy3" => {
            let module = |word: &Word| matches!(word.text(), "timeit" | "pdb" | "code" | "asyncio");
            short(&['c']) || !operands() || short(&['m']) && arguments.iter().any(module)
        }
        "perl" | "ruby" => short(&['e', 'E']) || !operands(),
        "node" | "nodejs" | "bun" => short(&['e', 'p']) || long(&["--eval", "--print"]) || !operands(),
        "php" => short(&['r', 'R', 'B', 'E']) || !operands(),
        "lua" | "luajit" | "tclsh" | "julia" | "Rscript" => short(&['e', 'E']) || !operands(),
        "deno" => arguments.first().is_some_and(|word| word.text() == "eval"),
        "awk" | "gawk" | "mawk" | "nawk" => super::programs::does_more(name, arguments),
        "sed" | "gsed" => super::programs::does_more(name, arguments),
        _ => false,
    }
}
