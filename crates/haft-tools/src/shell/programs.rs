//! Programs inside arguments: `sed` and `awk` can run commands and write files without any option.

pub(super) mod awk;

use super::word::Word;

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
        if matches!(text, "-e" | "--expression") {
            scripts.push(rest.next().and_then(Word::known).unwrap_or(UNKNOWN));
        } else if let Some(script) = text.strip_prefix("--expression=") {
            scripts.push(script);
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
            '[' if text[at..].find(']').is_none_or(|end| text[at..at + end].contains(delimiter)) => {
                return None;
            }
            _ => {}
        }
    }
    None
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
