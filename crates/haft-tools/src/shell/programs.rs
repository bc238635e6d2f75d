//! Programs inside arguments: `sed` and `awk` can run commands and write files without any option.

pub(super) mod awk;

use super::word::Word;

/// Options of awk that take nothing.
const ALONE: &[&str] = &[
    "--posix",
    "--traditional",
    "--re-interval",
    "--sandbox",
    "--csv",
    "--bignum",
    "--characters-as-bytes",
    "--non-decimal-data",
    "--optimize",
    "--use-lc-numeric",
    "--version",
    "--help",
];

/// Whether a command's program may do more than transform its input.
pub(super) fn does_more(name: &str, arguments: &[Word]) -> bool {
    match name {
        "sed" | "gsed" => sed_scripts(arguments).into_iter().any(|script| !sed_only_transforms(script)),
        "awk" | "gawk" | "mawk" | "nawk" => awk_does_more(arguments),
        _ => false,
    }
}

/// The scripts of a call of sed; one that is not known is taken to be anything.
fn sed_scripts(arguments: &[Word]) -> Vec<&str> {
    const UNKNOWN: &str = "e";
    let (mut scripts, mut operand) = (Vec::new(), None);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.known() else {
            // A name that matches comes after the script, if there is one.
            if operand.is_none() && scripts.is_empty() {
                scripts.push(UNKNOWN);
            }
            continue;
        };
        if text == "-e" || is_expression(text) {
            scripts.push(rest.next().and_then(Word::known).unwrap_or(UNKNOWN));
        } else if let Some((_, script)) = text.split_once('=').filter(|(option, _)| is_expression(option)) {
            scripts.push(script);
        } else if text == "--" {
            // Behind it everything is an operand.
            operand = operand.or_else(|| Some(rest.next()?.known().unwrap_or(UNKNOWN)));
            break;
        } else if let Some((_, script)) = text.split_once('e').filter(|_| is_cluster(text)) {
            scripts.push(if script.is_empty() {
                rest.next().and_then(Word::known).unwrap_or(UNKNOWN)
            } else {
                script
            });
        } else if !text.starts_with('-') {
            operand = operand.or(Some(text));
        }
    }
    if scripts.is_empty() {
        scripts.extend(operand);
    }
    scripts
}

/// Whether an option brings a script, abbreviated or not.
fn is_expression(option: &str) -> bool {
    option.len() > 2 && "--expression".starts_with(option)
}

fn is_cluster(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--")
}

/// Whether a script consists only of commands that print, delete, quit and substitute, in their plain forms.
fn sed_only_transforms(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';']);
        if rest.is_empty() {
            return true;
        }
        let Some(after) = sed_address(rest) else { return false };
        rest = after.trim_start_matches([' ', '\t', '!']);
        let mut chars = rest.chars();
        rest = match chars.next() {
            Some('p' | 'd' | 'q' | 'Q' | '=' | 'n' | 'N' | 'D' | 'P' | 'g' | 'G' | 'h' | 'H' | 'x' | 'l') => {
                let after = chars.as_str().trim_start_matches([' ', '\t']);
                if !(after.is_empty() || after.starts_with([';', '\n'])) {
                    return false;
                }
                after
            }
            Some('s' | 'y') => {
                let Some(after) = sed_substitution(chars.as_str()) else { return false };
                after
            }
            Some(_) | None => return false,
        };
    }
}

/// What follows the addresses: numbers, `$`, and patterns between slashes.
fn sed_address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let mut chars = rest.chars();
        rest = match chars.next() {
            Some(c) if c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+') => chars.as_str(),
            Some('/') => past(chars.as_str(), '/')?.trim_start_matches('I'),
            _ => return Some(rest),
        };
    }
}

fn sed_substitution(text: &str) -> Option<&str> {
    let delimiter = text.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
    let after = past(past(&text[1..], delimiter)?, delimiter)?;
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I'));
    let ends = rest.trim_start_matches([' ', '\t']);
    (ends.is_empty() || ends.starts_with([';', '\n'])).then_some(ends)
}

/// What follows the next delimiter that no backslash protects. A class may hide one, so it ends the reading.
fn past(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '\n' => return None,
            c if c == delimiter => return Some(&text[at + c.len_utf8()..]),
            '[' => {
                let class = &text[at..at + class_length(&text[at..])?];
                if class.contains(delimiter) || class.contains('\n') {
                    return None;
                }
                // What stands in a class protects nothing and ends nothing.
                let left = class.chars().count() - 2;
                chars.nth(left);
            }
            _ => {}
        }
    }
    None
}

/// How long a class of characters is, with its brackets. A bracket that stands first in it is one of them.
fn class_length(text: &str) -> Option<usize> {
    let behind = text.strip_prefix('[')?;
    let behind = behind.strip_prefix('^').unwrap_or(behind);
    let mut rest = behind.strip_prefix(']').unwrap_or(behind);
    loop {
        let next = rest.find([']', '['])?;
        let at = &rest[next..];
        let kind = [":", ".", "="].into_iter().find(|kind| at[1..].starts_with(kind));
        rest = match (at.as_bytes()[0], kind) {
            (b']', _) => return Some(text.len() - at.len() + 1),
            (_, Some(kind)) => at[2..].split_once(&format!("{kind}]"))?.1,
            (_, None) => &at[1..],
        };
    }
}

/// A program that calls, pipes, redirects, reads or loads does more; one that is not known may.
fn awk_does_more(arguments: &[Word]) -> bool {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.known() else { return true };
        match text {
            "-F" | "-v" | "--field-separator" | "--assign" => {
                rest.next();
            }
            "--" => return rest.next().is_some_and(program_does_more),
            // What others take is not known, so neither is which word is the program.
            _ if text.starts_with("--") && !text.contains('=') && !ALONE.contains(&text) => return true,
            _ if is_cluster(text) && text.len() > 2 && !text.starts_with("-F") && !text.starts_with("-v") => {
                return true;
            }
            _ if text.starts_with('-') => {}
            _ => return program_does_more(word),
        }
    }
    false
}

fn program_does_more(word: &Word) -> bool {
    let Some(program) = word.known() else { return true };
    ["system", "getline", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB", "extension"]
        .iter()
        .any(|part| program.contains(part))
        || awk::redirects(program)
}
