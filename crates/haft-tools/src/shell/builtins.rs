//! Builtins of the shell that set variables by the texts of their words, and what is evaluated or run by that.

use super::inner::Inner;
use super::variables::{is_evaluated, run_by_setting};
use super::word::Word;

/// Builtins that declare variables. What the grammar does not know as one of these is a command like any other.
pub(super) const DECLARING: &[&str] = &["declare", "typeset", "local", "export", "readonly"];

/// Letters of their options by which what a variable is set to is evaluated, or becomes the name of another variable.
pub(super) const EVALUATING: [char; 2] = ['i', 'n'];

/// What may run because of what a builtin declares.
pub(super) fn declared(arguments: &[Word]) -> Vec<Inner> {
    let mut found = Vec::new();
    for word in arguments {
        let is_evaluated = match word.known() {
            None => !word.text().contains('='),
            Some(text) if text.starts_with(['-', '+']) => text.contains(EVALUATING),
            Some(text) => evaluates_index(text.split('=').next().unwrap_or(text)),
        };
        found.extend(if is_evaluated { Some(Inner::Opaque) } else { run_by_setting(word) });
    }
    found
}

/// Builtins that name variables: options that take a name, options that take something else, and whether their operands
/// are names.
const NAMING: &[(&str, &str, &str, bool)] = &[
    ("printf", "v", "", false),
    ("test", "vR", "", false),
    ("[", "vR", "", false),
    ("unset", "", "", true),
    ("wait", "p", "", false),
    ("getopts", "", "", true),
    ("read", "a", "dinNptu", true),
    ("mapfile", "", "CcdnOsu", true),
    ("readarray", "", "CcdnOsu", true),
];

/// Whether a builtin is given a name for a variable that is evaluated.
pub(super) fn evaluates_names(name: &str, arguments: &[Word]) -> bool {
    named_variables(name, arguments).iter().any(evaluates)
}

/// The words by which a builtin names variables.
fn named_variables(name: &str, arguments: &[Word]) -> Vec<Word> {
    let Some((_, naming, valued, takes_operands)) = NAMING.iter().find(|(builtin, ..)| *builtin == name)
    else {
        return Vec::new();
    };
    let mut named: Vec<Word> = named_perhaps(name, arguments).cloned().into_iter().collect();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let Some(cluster) = word.text().strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
            named.extend(Some(word.clone()).filter(|_| *takes_operands));
            continue;
        };
        let takes = |letter: &char| naming.contains(*letter) || valued.contains(*letter);
        let Some((at, letter)) = cluster.char_indices().find(|(_, letter)| takes(letter)) else { continue };
        let value = match &cluster[at + letter.len_utf8()..] {
            "" => rest.next().cloned(),
            _ if word.known().is_none() => Some(Word::unknown()),
            attached => Some(Word::exact(attached)),
        };
        named.extend(value.filter(|_| naming.contains(letter)));
    }
    named
}

/// The word that names a variable if the one before it, which is not known, is an option.
fn named_perhaps<'w>(name: &str, arguments: &'w [Word]) -> Option<&'w Word> {
    let is_test = matches!(name, "test" | "[");
    let closing = usize::from(name == "[");
    let arguments = arguments.get(..arguments.len().checked_sub(closing)?)?;
    let [option, value, rest @ ..] = (match arguments {
        [negation, behind @ ..] if is_test && negation.text() == "!" => behind,
        all => all,
    }) else {
        return None;
    };
    // With more words a test compares.
    let takes_one = is_test && rest.is_empty() || name == "printf";
    let is_open = option.known().is_none() && (option.text().is_empty() || option.text().starts_with('-'));
    (takes_one && is_open).then_some(value)
}

/// Whether to name a variable so evaluates a text, or sets what is evaluated later.
fn evaluates(word: &Word) -> bool {
    let Some(text) = word.known() else { return true };
    is_evaluated(text) || evaluates_index(text)
}

/// Whether a variable is named with an index that is no number.
pub(super) fn evaluates_index(name: &str) -> bool {
    let is_number = |index: &str| index.trim_end_matches(']').chars().all(|c| c.is_ascii_digit());
    name.split_once('[').is_some_and(|(_, index)| !is_number(index))
}
