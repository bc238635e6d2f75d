//! What a command runs besides itself, as far as its words tell.

use super::command::{Command, Direction, Redirection};
use super::views::{View, view};
use super::word::Word;
use super::wrappers::{Form, SHELLS, Wrapper, wrapper_of};

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

/// Everything that a command runs; nothing, if it runs only itself.
pub(super) fn inner(command: &Command) -> Vec<Inner> {
    let Some((called, arguments)) = command.words.split_first() else { return Vec::new() };
    if called.known().is_none() {
        return vec![Inner::Opaque];
    }
    let name = command.name().unwrap_or_default();
    match name {
        _ if SHELLS.contains(&name) => shell(arguments, &command.redirections),
        "eval" => vec![joined(arguments)],
        "trap" => trap(arguments),
        // An alias is read again where it is used, together with what stands behind it.
        "alias" => arguments.iter().map(aliased).chain([Inner::Opaque]).collect(),
        "source" | "." => match arguments.first().map(Word::known) {
            Some(Some(_)) => Vec::new(),
            Some(None) | None => vec![Inner::Opaque],
        },
        "su" => option_value(arguments, &["-c", "--command"]).map(script).into_iter().collect(),
        "command" if asks_where(arguments) => Vec::new(),
        "find" => after_exec(arguments, &["-exec", "-execdir", "-ok", "-okdir"]),
        "fd" | "fdfind" => after_exec(arguments, &["-x", "-X", "--exec", "--exec-batch"]),
        "git" => git(arguments),
        "bwrap" => match view(arguments, &command.directories) {
            Some(View { command: [], .. }) => Vec::new(),
            Some(view) => vec![Inner::Words(view.command.to_vec())],
            None => vec![Inner::Opaque],
        },
        "ssh" | "parallel" if arguments.is_empty() => vec![Inner::Opaque],
        "ssh" => vec![Inner::Opaque],
        _ => match wrapper_of(name) {
            Some(wrapper) => wrapped(name, wrapper, arguments),
            None if runs_code(name, arguments) => vec![Inner::Opaque],
            None => Vec::new(),
        },
    }
}

fn shell(arguments: &[Word], redirections: &[Redirection]) -> Vec<Inner> {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.known() else { return vec![Inner::Opaque] };
        if text == "--" {
            break;
        }
        let Some(cluster) = text.strip_prefix(['-', '+']).filter(|cluster| !cluster.is_empty()) else {
            // A file, which may be anything but can be looked at; standard input cannot.
            return if text == "-" { vec![Inner::Opaque] } else { Vec::new() };
        };
        if !cluster.starts_with('-') && cluster.contains('c') {
            let operand = rest.find(|word| !word.text().starts_with(['-', '+']));
            return vec![operand.map_or(Inner::Opaque, script)];
        }
        if !cluster.starts_with('-') && cluster.contains('s') {
            return vec![Inner::Opaque];
        }
        if matches!(text, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file") {
            rest.next();
        }
    }
    if rest.next().is_some() {
        return Vec::new();
    }
    let fed = redirections.iter().rev().find(|one| matches!(one.direction, Direction::In | Direction::Text));
    match fed {
        Some(Redirection { direction: Direction::In, target }) if target.known() == Some("/dev/null") => {
            Vec::new()
        }
        Some(_) | None => vec![Inner::Opaque],
    }
}

fn script(word: &Word) -> Inner {
    word.known().map_or(Inner::Opaque, |text| Inner::Script(text.to_owned()))
}

fn joined(words: &[Word]) -> Inner {
    let known: Option<Vec<&str>> = words.iter().map(Word::known).collect();
    known.map_or(Inner::Opaque, |words| Inner::Script(words.join(" ")))
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

fn option_value<'w>(arguments: &'w [Word], options: &[&str]) -> Option<&'w Word> {
    let at = arguments.iter().position(|word| options.contains(&word.text()))?;
    arguments.get(at + 1)
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
        let ends = |word: &Word| matches!(word.text(), ";" | "+");
        let until = rest.iter().position(ends).unwrap_or(rest.len());
        let words: Vec<Word> = rest[..until].iter().map(placeholder).collect();
        commands.push(if words.is_empty() { Inner::Opaque } else { Inner::Words(words) });
        rest = &rest[until..];
    }
    commands
}

/// A word with the name of a file put where its braces are.
fn placeholder(word: &Word) -> Word {
    match word.known() {
        Some(text) if text.contains("{}") => unknown_after(text.split("{}").next().unwrap_or_default()),
        Some(_) | None => word.clone(),
    }
}

fn unknown_after(beginning: &str) -> Word {
    let mut builder = super::word::WordBuilder::default();
    builder.quoted(beginning);
    builder.unknown();
    builder.finish(None)
}

fn git(arguments: &[Word]) -> Vec<Inner> {
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text();
        let setting = match text {
            "-c" => arguments.get(at + 1).map(Word::text),
            _ => None,
        };
        if let Some((_, value)) = setting.and_then(|setting| setting.split_once('=')) {
            // An alias may run anything, and so may what is set for git to run.
            found.push(Inner::Script(value.trim_start_matches('!').to_owned()));
        }
        match text {
            "-x" | "--exec" => found.extend(arguments.get(at + 1).map(script)),
            "run" | "foreach" if at > 0 => {
                found.push(Inner::Words(arguments[at + 1..].to_vec()));
                return found;
            }
            _ => found.extend(text.strip_prefix("--exec=").map(|value| Inner::Script(value.to_owned()))),
        }
    }
    found
}

fn wrapped(name: &str, wrapper: &Wrapper, arguments: &[Word]) -> Vec<Inner> {
    let mut at = 0;
    let mut is_sure = true;
    while let Some(word) = arguments.get(at) {
        let Some(text) = word.known() else { return vec![Inner::Opaque] };
        if text == "--" {
            at += 1;
            break;
        }
        if name == "env"
            && (text.starts_with("-S") || text.starts_with("--split-string") || text.starts_with("-vS"))
        {
            return vec![split_string(text, &arguments[at + 1..])];
        }
        if name == "flock" && matches!(text, "-c" | "--command") {
            return arguments.get(at + 1).map(script).into_iter().collect();
        }
        let is_assignment = wrapper.form == Form::Assigned && !text.starts_with('-') && text.contains('=');
        if is_assignment {
            at += 1;
            continue;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        let takes_next = wrapper.values.split(' ').any(|option| option == text);
        // A cluster may end in an option that takes a word; which one, only the command knows.
        is_sure &= takes_next || text.starts_with("--") || text.len() == 2 || attached(wrapper, text);
        at += 1 + usize::from(takes_next);
    }
    let Some(rest) = arguments.get(at + wrapper.operands..).filter(|rest| !rest.is_empty()) else {
        return Vec::new();
    };
    // A lock is named before the command, and its script after it.
    if name == "flock" && rest.first().and_then(Word::known) == Some("-c") {
        return rest.get(1).map(script).into_iter().collect();
    }
    let mut found = match wrapper.form {
        Form::Words | Form::Assigned => vec![Inner::Words(rest.to_vec())],
        Form::Extended => {
            let words = rest.iter().map(placeholder).chain([Word::unknown()]).collect();
            vec![Inner::Words(words)]
        }
        Form::Joined => vec![joined(rest)],
    };
    if !is_sure {
        found.push(Inner::Opaque);
    }
    found
}

/// Whether a short option carries its value with it.
fn attached(wrapper: &Wrapper, text: &str) -> bool {
    wrapper.values.split(' ').any(|option| option.len() == 2 && text.starts_with(option))
        || text[1..].chars().all(|c| c.is_ascii_digit())
}

fn split_string(text: &str, rest: &[Word]) -> Inner {
    let value =
        text.split_once('=').map(|(_, value)| value).or_else(|| text.split_once('S').map(|(_, value)| value));
    let value = value.filter(|value| !value.is_empty()).map(Word::exact);
    let words: Vec<Word> = value.into_iter().chain(rest.iter().cloned()).collect();
    joined(&words)
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
        "python" | "python2" | "python3" | "pypy" | "pypy3" => short(&['c']) || !operands(),
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
