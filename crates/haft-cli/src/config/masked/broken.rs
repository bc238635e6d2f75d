//! Secrets in a text that is broken in any way, or is in another format. There is no telling what belongs to what, so
//! once a line has a name of a secret everything after it counts as one, and so do the lines that may go on with it;
//! unless its value is so well set apart that what follows cannot belong to it.

use std::ops::Range;

use haft::secrets::{given_to, is_secret_word, name_words, user_places};

use super::{begins_with_reference, is_reference, is_secret_table};

/// Where secrets may stand.
pub(super) fn places(text: &str) -> Vec<Range<usize>> {
    // In YAML it is indentation alone that shows what belongs together.
    let is_indented = !text.trim_start().starts_with(['{', '[', '/']);
    let mut found = Vec::new();
    let mut open: Option<Open> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim_end();
        let goes_on = open.take().filter(|open| open.goes_on(line));
        let from = match &goes_on {
            Some(_) => Some(0),
            None => named(line, |value| found.push(value.start + start..value.end + start)),
        };
        if let Some(from) = from {
            let value = line[from..].trim_start_matches(OPENING);
            if !is_reference(&line[from..]) {
                found.push(start + line.len() - value.len()..start + line.len());
            }
            open = Some(Open::after(goes_on, line, from, is_indented));
        }
        let users = user_places(line).into_iter().filter(|place| !is_reference(&line[place.clone()]));
        found.extend(users.map(|place| place.start + start..place.end + start));
    }
    found
}

/// What may stand between a name and its value.
const OPENING: &[char] =
    &[' ', '\t', ':', '=', ',', '{', '[', '"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»'];

/// Where that begins in a line which may be a secret with everything after it. Values that are set apart are told instead.
fn named(line: &str, mut tell: impl FnMut(Range<usize>)) -> Option<usize> {
    let mut told = 0;
    for word in name_words(line) {
        if word.start < told {
            continue;
        }
        if is_name(line, &word) {
            let Some(value) = set_apart(&line[word.end..]) else { return Some(word.end) };
            let value = word.end + value.start..word.end + value.end;
            told = value.end;
            if !is_reference(&line[value.clone()]) {
                tell(value);
            }
        } else if let Some(given) = given_to(line, &word) {
            return Some(given.start);
        }
    }
    None
}

/// Whether a word of a line is one after which a secret may come.
fn is_name(line: &str, word: &Range<usize>) -> bool {
    let name = &line[word.clone()];
    let is_reference = || line[..word.start].ends_with('{') && begins_with_reference(&line[word.start - 1..]);
    is_secret_word(name) || (is_secret_table(name) && !is_reference())
}

/// The value after a name, if both are in quotes, with a colon between and what ends an entry behind.
fn set_apart(after_name: &str) -> Option<Range<usize>> {
    let value =
        after_name.strip_prefix('"')?.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut is_escaped = false;
    let length = value.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    let start = after_name.len() - value.len();
    value[length + 1..].trim_start().starts_with([',', '}', ']']).then_some(start..start + length)
}

/// A secret that may go on in the next line.
struct Open {
    /// How far the line with its name is indented.
    indent: usize,
    /// Whether its value is still to come.
    awaits: bool,
    /// Whether a string is not closed.
    in_string: bool,
    /// How many tables and lists were opened after the name.
    depth: usize,
    /// Whether a string in them is not closed, so that there is no telling where they end.
    is_lost: bool,
    /// Whether what is indented further belongs to it.
    takes_indented: bool,
}

impl Open {
    /// What is open after a line in which everything from a place on may be secret.
    fn after(before: Option<Open>, line: &str, from: usize, is_indented: bool) -> Open {
        let value = line[from..].trim_start_matches(OPENING);
        let is_remark = ["//", "/*", "*", "#"].iter().any(|sign| value.starts_with(sign));
        let is_block = value.starts_with(['|', '>']) && !value.contains(char::is_alphabetic);
        let awaits = is_remark || is_block || !value.contains(char::is_alphanumeric);
        let quotes = line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
        let is_odd = quotes % 2 == 1;
        match before {
            Some(open) => Open {
                awaits: open.awaits && awaits,
                in_string: open.in_string != is_odd,
                depth: depth(open.depth, line),
                is_lost: open.is_lost || (is_odd && open.depth > 0),
                ..open
            },
            None => Open {
                indent: indent(line),
                awaits,
                in_string: is_odd,
                depth: depth(0, &line[from..]),
                is_lost: is_odd && depth(0, &line[from..]) > 0,
                takes_indented: is_indented || awaits,
            },
        }
    }

    fn goes_on(&self, line: &str) -> bool {
        let is_empty = !line.contains(|c: char| !c.is_whitespace());
        let is_below = indent(line) > self.indent || line.trim_start().starts_with("- ");
        let is_inside = self.in_string || self.depth > 0 || self.is_lost;
        is_empty || self.awaits || is_inside || (self.takes_indented && is_below)
    }
}

/// How far what stands in a line is indented. An entry of a list in YAML is indented by its dash.
fn indent(line: &str) -> usize {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("- ").map_or(rest, str::trim_start);
    line.len() - rest.len()
}

/// How many tables and lists are open after a line. What closes one within a string closes none.
fn depth(before: usize, line: &str) -> usize {
    let mut in_string = false;
    line.chars().fold(before, |depth, c| match c {
        '"' => {
            in_string = !in_string;
            depth
        }
        '{' | '[' => depth + 1,
        '}' | ']' if !in_string => depth.saturating_sub(1),
        _ => depth,
    })
}
