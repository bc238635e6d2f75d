//! Reads a script with the grammar of bash, follows what its commands run, and says why a command is not plain.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use haft::is_deceptive;
use tree_sitter::{ParseOptions, ParseState, Parser};

use super::command::{Command, Sort, Why};
use super::elsewhere::{Elsewhere, elsewhere};
use super::gadgets::SHADOWING;
use super::inner::{Inner, inner};
use super::operands::TEXT;
use super::options;
use super::second::{self, Second};
use super::surroundings::Surroundings;
use super::walk::Walker;
use super::word::{Certainty, Word};
use super::wrapped::launched;
use super::wrappers::{RUNNERS, is_launcher, runs_anything};
use super::written;

/// The longest argument that the kernel hands to a program, so the longest script that can run.
const SCRIPT_BYTES_MAX: usize = 128 * 1024;
/// Open brackets beyond this are not read: they cost more than they can mean.
const BRACKETS_MAX: usize = 200;
/// Beyond so many pipes the parser's memory grows with the square of their number.
const PIPES_MAX: usize = 1000;
/// A script that takes longer is not read: only what was made for it does, where nothing fits the grammar.
const PARSING_MAX: Duration = Duration::from_secs(1);
/// So many commands may wrap each other.
const DEPTH_MAX: usize = 8;
/// As much of scripts inside scripts as is read.
const INNER_BYTES_MAX: usize = 1024 * 1024;

/// What a script would do.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Every command, in the order in which they stand; what a command runs stands right behind it.
    pub commands: Vec<Command>,
    /// Whether the script could be read whole. What could not may do anything.
    pub is_parsed: bool,
}

/// Finds out what a script would do.
pub fn analyse(script: &str, surroundings: &Surroundings) -> Analysis {
    let mut budget = INNER_BYTES_MAX;
    let mut analysis = read(script, surroundings, vec![surroundings.directory.clone()], 0, &mut budget);
    written::mark(&mut analysis.commands);
    analysis
}

fn read(
    script: &str,
    surroundings: &Surroundings,
    directories: Vec<PathBuf>,
    depth: usize,
    budget: &mut usize,
) -> Analysis {
    let Some(tree) = parse(script) else { return unread(script, Vec::new()) };
    let root = tree.root_node();
    let has_error = root.has_error();
    let found = Walker::new(script, surroundings, directories, depth > 0).walk(root);
    let is_parsed = !has_error && !found.is_too_deep;
    let mut taints = found.taints;
    let mut commands = found.commands;
    if commands.iter().any(shadows) {
        taints.push(Why::Shadowed);
    }
    if script.chars().any(|c| is_deceptive(c) && !matches!(c, '\n' | '\t')) {
        taints.push(Why::Hidden);
    }
    let second = second::compare(script, surroundings.home_text(), &commands);
    match second {
        Second::Agrees => {}
        Second::GivesUp | Second::Disagrees => taints.push(Why::Unclear),
    }
    if !is_parsed {
        taints.push(Why::Unparsed);
    }
    commands.extend(unconfirmed(script, second, &commands));
    if script.contains('!') && commands.iter().any(recalls) {
        commands.push(opaque(script));
    }
    for command in &mut commands {
        judge(command);
        taints.iter().for_each(|why| command.because(*why));
    }
    options::mark_given(script, &mut commands);
    let mut all = Vec::with_capacity(commands.len());
    for command in commands {
        follow(command, surroundings, depth, budget, &mut all);
    }
    if is_parsed { Analysis { commands: all, is_parsed } } else { unread(script, all) }
}

/// What stands for commands that nobody has confirmed. Where two readings disagree, one of them did not see something;
/// where one finds nothing and the other does not understand, there may be something.
fn unconfirmed(script: &str, second: Second, commands: &[Command]) -> Option<Command> {
    let is_opaque = match second {
        Second::Agrees => return None,
        Second::Disagrees => true,
        Second::GivesUp if commands.iter().all(|command| command.sort == Sort::Setting) => false,
        Second::GivesUp => return None,
    };
    Some(Command { is_opaque, ..opaque(script) })
}

/// What stands for a script of which nobody knows what it runs.
fn opaque(script: &str) -> Command {
    let mut whole = Command::new(Sort::Overlooked, script);
    whole.is_opaque = true;
    whole
}

/// Whether a command makes the shell replace what begins with an exclamation mark by what was typed before.
fn recalls(command: &Command) -> bool {
    let is_so = |word: &Word| match word.known() {
        Some(text) => text == "histexpand" || text.starts_with('-') && text.contains('H'),
        None => true,
    };
    // What stands behind two dashes is no option.
    let mut options = command.words.iter().skip(1).take_while(|word| word.text() != "--");
    matches!(command.name(), Some("set" | "shopt")) && options.any(is_so)
}

/// A script that could not be read: what was found in it still counts where something is denied.
fn unread(script: &str, mut commands: Vec<Command>) -> Analysis {
    let mut whole = Command::new(Sort::Unread, script);
    whole.is_opaque = true;
    whole.because(Why::Unparsed);
    commands.push(whole);
    Analysis { commands, is_parsed: false }
}

fn parse(script: &str) -> Option<tree_sitter::Tree> {
    let pipes = || script.bytes().filter(|byte| *byte == b'|').count();
    if script.len() > SCRIPT_BYTES_MAX || script.contains('\0') {
        return None;
    }
    if nesting(script) > BRACKETS_MAX || pipes() > PIPES_MAX {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let (script, until) = (masked(script), Instant::now() + PARSING_MAX);
    let mut goes_on = |_: &ParseState| match Instant::now() < until {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut goes_on);
    parser.parse_with_options(&mut |at, _| &script[at.min(script.len())..], None, Some(options))
}

/// The script with every byte replaced that is part of a word to a shell and not always to the grammar, so that places in
/// it stay what they are: the scanner reads beyond its tables on bytes above ASCII, and takes some of them for blanks, and
/// some control characters too. A colon goes into words and into no name.
fn masked(script: &str) -> Vec<u8> {
    let is_told = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    script.bytes().map(|byte| if is_told(byte) { byte } else { b':' }).collect()
}

/// How deep brackets nest at most, if all of them count.
fn nesting(script: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in script.bytes() {
        match byte {
            b'(' | b'{' | b'[' => open += 1,
            b')' | b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn shadows(command: &Command) -> bool {
    command.name().is_some_and(|name| SHADOWING.contains(&name))
}

/// Says why a command is not plain, as far as it shows it itself.
fn judge(command: &mut Command) {
    if command.sort != Sort::Simple {
        return;
    }
    let is_open =
        |(at, word): (usize, &Word)| word.certainty() == Certainty::Unknown && !is_told_number(command, at);
    if command.words.iter().enumerate().any(is_open)
        || command.words.first().is_some_and(|name| name.known().is_none())
    {
        command.because(Why::Dynamic);
    }
    if command.directories.is_empty() {
        command.because(Why::Dynamic);
    }
    // An element of an array that takes the number of a descriptor is found by an index that is evaluated.
    let is_element = |token: &String| token.starts_with('{') && token.ends_with("]}") && token.contains('[');
    command.is_opaque |= command.tokens.iter().any(is_element);
    options::judge(command);
}

/// Whether a word is not known for no other reason than that it tells how something ended, or another number of the shell's
/// own, to a command for which its words are text.
fn is_told_number(command: &Command, at: usize) -> bool {
    let is_text = command.name().is_some_and(|name| TEXT.contains(&name));
    is_text && command.tokens.get(at).is_some_and(|token| expands_own_numbers(token))
}

/// Whether all that is expanded in a word is how the last command ended, how many words there are, or the shell's number.
fn expands_own_numbers(token: &str) -> bool {
    let (mut rest, mut has_any) = (token.chars(), false);
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '`' => return false,
            '$' if matches!(rest.next(), Some('?' | '#' | '$')) => has_any = true,
            '$' => return false,
            _ => {}
        }
    }
    has_any
}

/// An interpreter that runs a file is what a rule about it speaks of; everything else that runs things is more.
fn runs_more(command: &Command, found: &[Inner]) -> bool {
    let Some(name) = command.name() else { return false };
    !found.is_empty() || runs_anything(name) && !RUNNERS.contains(&name)
}

/// Takes down a command and everything it runs.
fn follow(
    mut command: Command,
    surroundings: &Surroundings,
    depth: usize,
    budget: &mut usize,
    all: &mut Vec<Command>,
) {
    command.depth = depth;
    let found = match command.sort {
        Sort::Simple | Sort::Assignment => inner(&command),
        _ => Vec::new(),
    };
    if runs_more(&command, &found) {
        command.because(Why::Executes);
    }
    if let Some(name) = command.name().filter(|name| is_launcher(name)) {
        let launched = launched(name, &command.words[1..]);
        let mut inside = command.clone();
        let mut within = Vec::new();
        run(&mut inside, launched, surroundings, depth, budget, &mut within);
        command.is_opaque |= inside.is_opaque;
        command.within = within;
    }
    let at = all.len();
    all.push(command);
    let mut behind = Vec::new();
    run(&mut all[at], found, surroundings, depth, budget, &mut behind);
    all.append(&mut behind);
}

/// Takes down what a command runs.
fn run(
    command: &mut Command,
    found: Vec<Inner>,
    surroundings: &Surroundings,
    depth: usize,
    budget: &mut usize,
    all: &mut Vec<Command>,
) {
    for one in found {
        match one {
            Inner::Opaque => command.is_opaque = true,
            Inner::Words(_) | Inner::Script(_) if depth >= DEPTH_MAX => command.is_opaque = true,
            Inner::Words(words) => {
                let mut inside = Command::new(Sort::Simple, "");
                inside.words = words.into_iter().map(|word| filled(word, &command.given)).collect();
                inside.given.clone_from(&command.given);
                inside.text = inside.spelled();
                inside.tokens = inside.words.iter().map(Word::quoted).collect();
                inside.directories = directories_within(command);
                let is_search = command.name().is_some_and(|name| matches!(name, "find" | "fd" | "fdfind"))
                    || command.is_found;
                inside.is_found = is_search && command.words.iter().all(|word| word.known().is_some());
                judge(&mut inside);
                // Most of what find is told are options.
                let is_told = command.is_fed && inside.name() == Some("find") && !inside.is_found;
                inside.is_opaque |= is_told && inside.words.iter().any(|word| word.known().is_none());
                command.why.iter().filter(|why| is_inherited(**why)).for_each(|why| inside.because(*why));
                inside.because(Why::Executes);
                follow(inside, surroundings, depth + 1, budget, all);
            }
            Inner::Script(script) => {
                let Some(left) = budget.checked_sub(script.len()) else {
                    command.is_opaque = true;
                    continue;
                };
                *budget = left;
                let mut inside = read(&script, surroundings, command.directories.clone(), depth + 1, budget);
                // One that cannot be read is no reason to distrust what can: it is asked about as what it is.
                command.is_opaque |= !inside.is_parsed;
                inside.commands.retain(|command| command.sort != Sort::Unread);
                for command in &mut inside.commands {
                    command.because(Why::Executes);
                    // What runs it may have set them.
                    command.inherited.clear();
                }
                all.append(&mut inside.commands);
            }
        }
    }
}

/// A word that is not known, with what it may be.
fn filled(word: Word, given: &[Word]) -> Word {
    let is_filled = !given.is_empty() && word.values().is_empty() && word == Word::unknown();
    if is_filled { word.with_values(given.to_vec()) } else { word }
}

/// Where what a command runs is run; nothing, if that is not known.
fn directories_within(command: &Command) -> Vec<PathBuf> {
    let name = command.name().unwrap_or_default();
    let words = command.words.get(1..).unwrap_or_default();
    let within = command.directories.iter().map(|from| match elsewhere(name, words, from) {
        Elsewhere::In(mut directories) => Some(directories.pop().unwrap_or_else(|| from.clone())),
        Elsewhere::Unknown => None,
    });
    within.collect::<Option<_>>().unwrap_or_default()
}

fn is_inherited(why: Why) -> bool {
    matches!(
        why,
        Why::Shadowed | Why::Environment | Why::Assignment | Why::Unclear | Why::Hidden | Why::Unparsed
    )
}
