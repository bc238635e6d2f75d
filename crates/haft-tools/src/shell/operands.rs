//! Which words of a command may name files: neither programs nor patterns nor messages.

use super::command::Command;
use super::effects::READING;
use super::options::subcommand;
use super::word::Word;

/// Commands whose words are text and no paths.
#[rustfmt::skip]
pub(super) const TEXT: &[&str] = &[
    "echo", "printf", "expr", "let", "true", "false", ":", "exit", "return", "kill", "sleep", "seq", "basename", "dirname",
];
/// Commands whose first operand is a pattern or a program.
const PROGRAMMED: &[&str] =
    &["rg", "rga", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "yq", "tr"];
/// Commands to which a message is given, also by the last letter of a cluster.
const COMMITTING: &[&str] = &["git", "hg", "svn", "jj"];
/// Subcommands of git that take a message; to others the same letter means something else.
const MESSAGED: &[&str] = &["commit", "tag", "merge", "stash", "notes"];
/// Subcommands of git that look for a text in what was changed, given by the letters of these options.
const SEARCHING: &[&str] = &["log", "show", "diff", "whatchanged"];
const SEARCHED: [&str; 2] = ["-S", "-G"];
/// Options before these that certainly take nothing.
#[rustfmt::skip]
const FLAGS: &[&str] = &[
    "-p", "--patch", "--oneline", "--stat", "--all", "--name-only", "--name-status", "--pickaxe-all", "--pickaxe-regex", "--reverse",
    "--follow", "-w", "-i",
];
/// Programs to which two slashes begin the name of something to build, and their words for doing so.
const BUILDING: &[&str] = &["bazel", "bazelisk", "buck", "buck2", "pants", "plz"];
const BUILT: &[&str] = &["build", "test", "run", "query", "cquery", "aquery", "coverage", "fetch", "targets"];
/// Options behind which a text stands, and whose they are.
const TEXTS: &[(&str, &str)] = &[
    (
        "git hg svn jj gh glab",
        "--message --format --pretty --grep --author --committer --trailer --title --body",
    ),
    ("docker podman kubectl stat date ls ps", "--format --pretty"),
    ("find fd fdfind", "-name -iname -path -ipath -wholename -regex -iregex --format"),
    (
        "grep egrep fgrep rgrep tar bsdtar gtar rsync du diff zip ag ack fd fdfind",
        "--exclude --exclude-dir --ignore --ignore-dir",
    ),
    ("curl wget http https xh", "-H --header"),
];

/// Commands that take more than what is to be read out of files that their words name: programs, names, options.
const TAKING: &[&str] =
    &["sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "yq", "xargs", "env", "source", ".", "find", "fd"];

/// Whether a word stands for the output of another command, which is looked at for itself, and is only read.
pub(super) fn is_output(command: &Command, at: usize) -> bool {
    let name = command.name().unwrap_or_default();
    READING.contains(&name)
        && !TAKING.contains(&name)
        && command.tokens.get(at).is_some_and(|token| token.starts_with("<(") && token.ends_with(')'))
}

/// The words that may name files, with their places.
pub(super) fn operands<'w>(name: &str, words: &'w [Word]) -> Vec<(usize, &'w Word)> {
    let mut has_program = is_programmed(name) && !words.iter().any(|word| gives_program(name, word.text()));
    let has_message = COMMITTING.contains(&name)
        && (name != "git" || subcommand(name, words).is_some_and(|second| MESSAGED.contains(&second)));
    let is_letter = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.ends_with('m');
    let mut operands = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| words[before].text());
        let is_behind = is_text_option(name, before) || has_message && is_letter(before);
        let is_attached = word.text().split_once('=').is_some_and(|(option, _)| lists_text(name, option));
        let is_glued = has_message && word.text().starts_with("-m") && word.text().len() > 2;
        let is_message = (is_behind || is_attached || is_glued) && !is_read(name, word)
            || is_looked_for(name, words, at)
            || is_label(name, words, at);
        let is_option = word.text().starts_with('-') && word.text() != "-";
        let is_program = has_program && !is_option && !is_message && !is_searched(name, words, at);
        if is_program {
            has_program = false;
        }
        if !is_message && !is_program {
            operands.push((at, word));
        }
    }
    operands
}

/// Whether a word is a text that git looks for. It may look like a path, so it counts only where its option certainly is one,
/// and not the value of one before it.
fn is_looked_for(name: &str, words: &[Word], at: usize) -> bool {
    let is_searched = |at: usize| SEARCHED.iter().any(|option| words[at].text().starts_with(option));
    let is_glued = words[at].text().len() > 2;
    let option = match at.checked_sub(1) {
        _ if is_glued && is_searched(at) => at,
        Some(before) if words[before].text().len() == 2 && is_searched(before) => before,
        Some(_) | None => return false,
    };
    let before = option.checked_sub(1).map_or("", |before| words[before].text());
    let verb = verb(name, words, at, SEARCHING).filter(|_| name == "git");
    verb.is_some_and(|verb| before == verb || FLAGS.contains(&before) || is_whole(before))
}

/// Whether a word is the name of something to build, and not the value of an option before it.
fn is_label(name: &str, words: &[Word], at: usize) -> bool {
    let is_one = |word: &Word| word.text().starts_with("//");
    if !is_one(&words[at]) {
        return false;
    }
    let before = words[..at].iter().rfind(|word| !is_one(word)).map_or("", Word::text);
    let verb = verb(name, words, at, BUILT).filter(|_| BUILDING.contains(&name));
    verb.is_some_and(|verb| before == verb || is_whole(before))
}

/// The subcommand, if it is one of these and what stands there belongs to it rather than to what it names.
fn verb<'w>(name: &str, words: &'w [Word], at: usize, verbs: &[&str]) -> Option<&'w str> {
    let is_over = words[..at].iter().any(|word| word.text() == "--");
    let looks_elsewhere = words.iter().any(|word| word.text() == "--no-index");
    subcommand(name, words).filter(|verb| verbs.contains(verb) && !is_over && !looks_elsewhere)
}

/// Whether an option has its value with it.
fn is_whole(option: &str) -> bool {
    option.starts_with("--") && option.contains('=')
}

/// Whether a word is where modules are looked for, by the option before it.
pub(super) fn is_searched(name: &str, words: &[Word], at: usize) -> bool {
    let option = at.checked_sub(1).map_or("", |before| words[before].text());
    let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    let takes_directory = option == "--library-path" || letters.is_some_and(|letters| letters.ends_with('L'));
    matches!(name, "jq" | "yq") && takes_directory
}

/// Whether what could be a header is the name of a file with headers.
fn is_read(name: &str, word: &Word) -> bool {
    let names = |text: &String| text.starts_with('@') || text.contains("=@");
    name == "curl" && word.texts().iter().any(names)
}

/// Whether the first operand of a command is a pattern or a program, as it is for all kinds of grep.
fn is_programmed(name: &str) -> bool {
    PROGRAMMED.contains(&name) || name.ends_with("grep") && READING.contains(&name)
}

/// Whether the word behind an option is text.
fn is_text_option(name: &str, option: &str) -> bool {
    let is_programs = || match option.strip_prefix("--") {
        Some(long) => matches!(long, "expression" | "regexp"),
        // Letters may stand before it in the same word.
        None => option.starts_with('-') && option.ends_with('e') && takes_program(name, 'e'),
    };
    // This one takes a value only behind an equals sign.
    lists_text(name, option) && option != "--pretty" || is_programmed(name) && is_programs()
}

fn lists_text(name: &str, option: &str) -> bool {
    let lists = |(names, options): &(&str, &str)| {
        names.split(' ').any(|one| one == name) && options.split(' ').any(|one| one == option)
    };
    option.starts_with('-') && TEXTS.iter().any(lists)
}

/// Whether an option gives the program of a command that has one, so that no operand is it.
fn gives_program(name: &str, text: &str) -> bool {
    if let Some(long) = text.strip_prefix("--") {
        let option = long.split('=').next().unwrap_or(long);
        let longs = ["regexp", "expression", "file", "from-file", "files", "source", "exec"];
        return option.len() > 1 && longs.iter().any(|long| long.starts_with(option));
    }
    // What is attached to an option that takes a value is no option.
    let valued = match name {
        "awk" | "gawk" | "mawk" | "nawk" => "vFil",
        "sed" | "gsed" => "il",
        "rg" => "ABCMTgjmrt",
        _ => "ABCDdm",
    };
    let cluster = text.strip_prefix('-').unwrap_or_default();
    let mut letters = cluster.chars();
    letters
        .find(|letter| takes_program(name, *letter) || valued.contains(*letter))
        .is_some_and(|letter| takes_program(name, letter))
}

fn takes_program(name: &str, letter: char) -> bool {
    match name {
        "jq" | "yq" => letter == 'f',
        "tr" => false,
        "awk" | "gawk" | "mawk" | "nawk" => matches!(letter, 'e' | 'f' | 'E'),
        _ => matches!(letter, 'e' | 'f'),
    }
}
