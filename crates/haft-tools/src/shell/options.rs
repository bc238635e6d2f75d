//! Finds the options of a command that execute or write.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::arity::arity;
use super::command::{Command, Why};
use super::gadgets::{ALONE, Does, GADGETS, TELLING};
use super::interpreters::own;
use super::programs;
use super::walk::lexical;
use super::word::{Certainty, Word};
use super::wrappers::{is_interpreter, wrapper_of};

/// Options of git that take the next word, before its subcommand.
const GIT_VALUES: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];

/// Commands whose options stand alone: what follows a letter belongs to it.
const UNCLUSTERED: &[&str] =
    &["cmake", "gcc", "g++", "cc", "c++", "clang", "clang++", "cpp", "rustc", "rustdoc", "clippy-driver"];

/// Commands of which some rows speak of one subcommand.
const WITH_SUBCOMMANDS: &[&str] = &["git ", "cargo ", "go "];

/// The table of gadgets by the name of the command.
static TABLE: LazyLock<HashMap<&'static str, Vec<Row>>> = LazyLock::new(|| {
    let mut table: HashMap<&str, Vec<Row>> = HashMap::new();
    for (names, does, options) in GADGETS {
        let two =
            WITH_SUBCOMMANDS.iter().find_map(|first| Some((first.trim_end(), names.strip_prefix(first)?)));
        match two {
            Some((first, second)) => {
                table.entry(first).or_default().push(Row { second: Some(second), does: *does, options });
            }
            None => names.split(' ').for_each(|name| {
                table.entry(name).or_default().push(Row { second: None, does: *does, options });
            }),
        }
    }
    table
});

struct Row {
    second: Option<&'static str>,
    does: Does,
    options: &'static str,
}

/// Adds to a command what its options make it do.
pub(super) fn judge(command: &mut Command) {
    let Some(name) = command.name().map(str::to_owned) else { return };
    let arguments = own(&name, &command.words[1..]);
    let mut reasons = Vec::new();
    let is_code_fed = is_interpreter(&name) && (is_fed(command, false) || is_code_made(command, &name));
    let (mut has_any, mut is_opaque) = (false, is_code_fed);
    let rows = TABLE.get(name.as_str()).filter(|_| !tells_alone(&name, arguments));
    for Row { second, does, options } in rows.into_iter().flatten() {
        if second.is_some_and(|second| subcommand(&name, arguments) != Some(second)) {
            continue;
        }
        has_any = true;
        let skip = usize::from(second.is_some());
        if options.split(' ').any(|option| is_given(option, &name, arguments, skip)) {
            reasons.push(match does {
                Does::Wraps | Does::Runs | Does::Loads => Why::Executes,
                Does::Writes => Why::Writes,
            });
            let is_unseen = || is_fed(command, true) || command.tokens.iter().any(|token| is_made(token));
            is_opaque |= *does == Does::Runs || *does == Does::Loads && is_unseen();
        }
    }
    // A name that matches may begin with a dash, and then it is an option.
    if has_any && arguments.iter().any(|word| matches!(word.certainty(), Certainty::Glob(0))) {
        reasons.push(Why::Dynamic);
    }
    // Braces in the value of an option make no other of it.
    let is_value = |word: &Word| is_dashed(word) && word.beginning().contains('=');
    let takes_options =
        has_any || matches!(name.as_str(), "printf" | "test" | "[") || wrapper_of(&name).is_some();
    let becomes_option = |word: &Word| !is_value(word) && word.alternatives().iter().any(is_dashed);
    if takes_options && arguments.iter().any(becomes_option)
        || has_any && arguments.iter().any(|word| is_option_perhaps(&name, word))
    {
        reasons.push(Why::Dynamic);
        is_opaque = true;
    }
    if programs::does_more(&name, arguments) {
        reasons.push(Why::Executes);
    }
    command.is_opaque |= is_opaque;
    reasons.into_iter().for_each(|why| command.because(why));
}

fn is_dashed(word: &Word) -> bool {
    word.text().starts_with('-')
}

/// Whether a word becomes an option when the script runs, by the names that are there or by what the script itself put into
/// a variable.
fn is_option_perhaps(name: &str, word: &Word) -> bool {
    let is_matched = matches!(word.certainty(), Certainty::Glob(_)) && is_dashed(word);
    let runs = |value: &Word| {
        let parts: Vec<Word> = value.text().split_whitespace().map(Word::exact).collect();
        running_options(name).any(|option| is_given(option, name, &parts, 0))
    };
    is_matched || word.values().iter().any(runs)
}

/// The options by which a command runs something.
fn running_options(name: &str) -> impl Iterator<Item = &'static str> {
    let rows = TABLE.get(name).into_iter().flatten();
    let rows = rows.filter(|row| matches!(row.does, Does::Wraps | Does::Runs));
    rows.flat_map(|row| row.options.split(' ')).filter(|option| option.starts_with('-') && *option != "-")
}

/// Marks commands that are given words which nobody knows, where the script has an option elsewhere by which they would
/// run something: it may come to be among those words.
pub(super) fn mark_given(script: &str, commands: &mut [Command]) {
    const BYTES_MIN: usize = 4;
    let is_open = |word: &Word| word.known().is_none() && (word.text().is_empty() || is_dashed(word));
    let names: HashSet<String> = commands
        .iter()
        .filter(|command| command.words.iter().skip(1).any(is_open))
        .filter_map(|command| command.name().map(str::to_owned))
        .collect();
    for name in names {
        let has_elsewhere = |option: &str| {
            let own = commands.iter().filter(|command| command.name() == Some(&name));
            let told = own.flat_map(|command| &command.tokens).filter(|token| token.contains(option)).count();
            option.len() >= BYTES_MIN && script.matches(option).count() > told
        };
        if running_options(&name).any(has_elsewhere) {
            let own = commands.iter_mut().filter(|command| command.name() == Some(&name));
            own.filter(|command| command.words.iter().skip(1).any(is_open))
                .for_each(|command| command.is_opaque = true);
        }
    }
}

/// Whether the code that an interpreter is to run is the output of another command. To awk an operand is no code.
fn is_code_made(command: &Command, name: &str) -> bool {
    let first = command.tokens.iter().skip(1).find(|token| !token.starts_with('-'));
    !name.ends_with("awk") && first.is_some_and(|token| token.starts_with("<("))
}

/// Whether a word stands for the output of another command, though it looks like a file.
fn is_made(token: &str) -> bool {
    token.contains("<(")
}

/// Whether a word names what a command is fed: nobody has looked at that, though it looks like a file. By how many a
/// lone dash is meant so depends on them.
fn is_fed(command: &Command, by_dash: bool) -> bool {
    command.words.iter().skip(1).any(|word| {
        let text = word.text();
        let value = text.split_once('=').map_or("", |(_, value)| value);
        let cluster = text.strip_prefix('-').unwrap_or_default();
        // Behind any of its letters.
        let attached = cluster.char_indices().take(8).map(|(at, letter)| &cluster[at + letter.len_utf8()..]);
        let is_input = |name: &str| by_dash && name == "-" || is_input(name, &command.directories);
        [text, value].into_iter().chain(attached).any(is_input)
    })
}

pub(super) fn is_input(name: &str, directories: &[PathBuf]) -> bool {
    // Most words name nothing of the kind.
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number && !["stdin", "fd", "tty"].iter().any(|part| name.contains(part)) {
        return false;
    }
    let is_there = |path: &Path| {
        let path = lexical(path);
        ["/dev/stdin", "/dev/fd", "/dev/tty"].iter().any(|input| path.starts_with(input))
            || path.starts_with("/proc") && path.components().any(|part| part.as_os_str() == "fd")
    };
    match name.starts_with('/') {
        true => is_there(Path::new(name)),
        false => directories.iter().any(|directory| is_there(&directory.join(name))),
    }
}

/// The first operand of a command that has subcommands.
pub(super) fn subcommand<'w>(name: &str, arguments: &'w [Word]) -> Option<&'w str> {
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        let text = word.known()?;
        if name == "git" && GIT_VALUES.contains(&text) {
            arguments.next();
        } else if !is_option(name, text) {
            return Some(text);
        }
    }
    None
}

/// A command as it is without the options before its subcommand.
pub(super) struct Behind {
    /// Its words; several readings, where it is not known which options take a word.
    pub(super) words: Vec<Vec<Word>>,
    /// Whether it was known which words they are.
    pub(super) is_sure: bool,
}

/// What a command is without the options before its subcommand, by which rules mostly speak of it.
pub(super) fn behind_options(command: &Command) -> Behind {
    const LOOKED_AT: usize = 8;
    let mut behind = Behind { words: Vec::new(), is_sure: true };
    let Some((called, arguments)) = command.words.split_first() else { return behind };
    let name = command.name().unwrap_or_default();
    let is_first_an_option = arguments.first().is_some_and(|word| is_option(name, word.text()));
    if !is_first_an_option || arity(&[name]) < 2 {
        return behind;
    }
    let mut from = |at: usize| {
        behind.words.push(std::iter::once(called).chain(&arguments[at..]).cloned().collect());
    };
    if name != "git" {
        let is_operand = |at: &usize| !is_option(name, arguments[*at].text());
        (1..arguments.len().min(LOOKED_AT)).filter(is_operand).for_each(from);
        return behind;
    }
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        if !word.text().starts_with('-') {
            break;
        }
        at += 1 + usize::from(GIT_VALUES.contains(&word.text()));
    }
    if at < arguments.len() {
        from(at);
    }
    behind.is_sure = arguments.iter().take(at).all(|word| word.known().is_some());
    behind
}

/// Cargo is told its toolchain by a word that begins with a plus.
fn is_option(name: &str, text: &str) -> bool {
    text.starts_with('-') || name == "cargo" && text.starts_with('+')
}

/// Whether an option of the gadgets' language is among the arguments.
pub(super) fn is_given(option: &str, name: &str, arguments: &[Word], operands_before: usize) -> bool {
    let texts = || arguments.iter().map(Word::text);
    let operands = || texts().filter(|text| !text.starts_with('-') || *text == "-");
    if option == "*" {
        return !only_tells(name, arguments);
    }
    if let Some(count) = option.strip_prefix('#').and_then(|count| count.parse::<usize>().ok()) {
        let given = operands().count().saturating_sub(operands_before);
        return if count == 0 { given == 0 } else { given >= count };
    }
    if option == "-" {
        return texts().any(|text| text == "-");
    }
    if let Some(beginning) = option.strip_prefix('+') {
        let with = if beginning.is_empty() { "+" } else { beginning };
        return operands()
            .any(|text| if beginning.is_empty() { text.starts_with(with) } else { text.contains(with) });
    }
    if let Some(long) = option.strip_prefix("--") {
        return texts().filter_map(|text| text.strip_prefix("--")).any(|given| {
            let given = given.split('=').next().unwrap_or(given);
            !given.is_empty() && long.starts_with(given)
        });
    }
    if let Some(part) = option.strip_prefix("-*") {
        return texts().any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains(part));
    }
    if let Some(letters) = option.strip_prefix('-') {
        let mut letter = letters.chars();
        return match (letter.next(), letter.next()) {
            (Some(letter), None) => is_letter_given(letter, name, arguments),
            _ => texts().any(|text| {
                text == option
                    || text.strip_prefix('-') == Some(option)
                    || text.starts_with(&format!("{option}="))
                    || option.ends_with('=') && text.starts_with(option)
            }),
        };
    }
    match option.ends_with('=') {
        true => texts().any(|text| text.starts_with(option)),
        false => operands().any(|text| text == option),
    }
}

/// Whether an interpreter is only asked about itself, so that it runs neither a file nor what it is fed.
pub(super) fn tells_alone(name: &str, arguments: &[Word]) -> bool {
    let [only] = arguments else { return false };
    let tells = |(names, words): &&(&str, &str)| {
        names.split(' ').any(|one| one == name) && words.split(' ').any(|word| only.known() == Some(word))
    };
    ALONE.iter().any(|row| tells(&row))
}

/// Whether a command that could run anything is only asked about itself, or about what runs already. In braces behind a
/// hash it could be told to run something for that, too.
fn only_tells(name: &str, arguments: &[Word]) -> bool {
    let Some(first) = arguments.first().and_then(Word::known) else { return false };
    let is_alone = arguments.len() == 1;
    let tells = |(names, words): &&(&str, &str)| {
        (*names == name || names.is_empty() && is_alone) && words.split(' ').any(|word| word == first)
    };
    TELLING.iter().any(|row| tells(&row))
        && arguments.iter().all(|word| word.known().is_some_and(|text| !text.contains("#(")))
}

/// Whether a letter stands in a cluster of options. Before its subcommand git has options of its own.
fn is_letter_given(letter: char, name: &str, arguments: &[Word]) -> bool {
    let is_global = name == "git" && letter == 'c' && subcommand(name, arguments) != Some("clone");
    let until = match is_global {
        true => arguments.iter().position(|word| Some(word.text()) == subcommand(name, arguments)),
        false => None,
    };
    let old_style = matches!(name, "tar" | "bsdtar" | "gtar");
    let is_single = UNCLUSTERED.contains(&name);
    arguments[..until.unwrap_or(arguments.len())].iter().enumerate().any(|(at, word)| {
        let cluster = match word.text().strip_prefix('-') {
            Some(cluster) if !cluster.starts_with('-') => cluster,
            None if old_style && at == 0 => word.text(),
            Some(_) | None => return false,
        };
        if is_single { cluster.starts_with(letter) } else { cluster.contains(letter) }
    })
}
