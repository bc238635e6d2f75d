//! Problems that servers find in files, and which of them are new.

use serde_json::Value;

use super::position::{self, Units};
use crate::after::Problem;

/// So many problems of a file are remembered.
const PROBLEMS_MAX: usize = 1000;
/// A message is told in so many characters.
const MESSAGE_CHARS_MAX: usize = 600;
/// What the protocol calls an error. Hints and warnings are not what an edit is to be judged by.
const ERROR: u64 = 1;

/// The errors among the diagnostics of a text.
pub(super) fn errors(diagnostics: &Value, text: &str, units: Units) -> Vec<Problem> {
    let all = diagnostics.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_error = |found: &&Value| found["severity"].as_u64().unwrap_or(ERROR) == ERROR;
    let errors = all.iter().filter(is_error).take(PROBLEMS_MAX);
    errors.map(|found| problem(found, text, units)).collect()
}

fn problem(found: &Value, text: &str, units: Units) -> Problem {
    let number = |end: &str, key: &str| {
        let number = found["range"][end][key].as_u64().unwrap_or_default();
        u32::try_from(number).unwrap_or(u32::MAX)
    };
    let place = |end: &str| position::for_people(text, number(end, "line"), number(end, "character"), units);
    let ((line, character), (end_line, end_character)) = (place("start"), place("end"));
    let message = found["message"].as_str().or_else(|| found["message"]["value"].as_str());
    let mut message: String = message.unwrap_or("(no message)").chars().take(MESSAGE_CHARS_MAX + 1).collect();
    if message.chars().count() > MESSAGE_CHARS_MAX {
        message.pop();
        message.push('…');
    }
    let word = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    Problem {
        line,
        character,
        end_line,
        end_character,
        // Some indent with spaces that do not break.
        message: haft::visible_lines(message.replace('\u{a0}', " ").trim()),
        code: word(&found["code"]),
        source: word(&found["source"]),
    }
}

/// The problems of a text that were not there before, in their order.
///
/// A problem is the same if it says the same on the same line, wherever that line has gone. Of those that are left, as
/// many as said the same before are the same: their lines were changed around them.
pub(super) fn new(before: &[Problem], old: &str, now: &[Problem], text: &str) -> Vec<Problem> {
    let moved = Moved::between(old, text);
    let mut left: Vec<(&Problem, Option<u32>)> =
        before.iter().map(|problem| (problem, moved.line(problem.line))).collect();
    let mut take = |problem: &Problem, is_there: fn(Option<u32>, u32) -> bool| {
        let same = |(known, line): &(&Problem, Option<u32>)| {
            known.message == problem.message && known.code == problem.code && is_there(*line, problem.line)
        };
        left.iter().position(same).map(|at| left.swap_remove(at)).is_some()
    };
    let elsewhere: Vec<&Problem> =
        now.iter().filter(|problem| !take(problem, |line, at| line == Some(at))).collect();
    elsewhere.into_iter().filter(|problem| !take(problem, |_, _| true)).cloned().collect()
}

/// Where the lines of a text went when a stretch of it was changed.
struct Moved {
    /// So many lines at the beginning are the same.
    first: usize,
    /// So many at the end.
    last: usize,
    old: usize,
    new: usize,
}

impl Moved {
    fn between(old: &str, new: &str) -> Moved {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
        let first = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let rest = old.len().min(new.len()) - first;
        let last = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
        Moved { first, last, old: old.len(), new: new.len() }
    }

    /// Where a line is now, counted from one; `None` if it was changed.
    fn line(&self, line: u32) -> Option<u32> {
        let before = (line as usize).checked_sub(1)?;
        if before < self.first {
            return Some(line);
        }
        let from_end = self.old.checked_sub(before).filter(|from_end| *from_end <= self.last)?;
        u32::try_from(self.new - from_end + 1).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(line: u32, message: &str) -> Problem {
        Problem { line, message: message.to_owned(), ..Problem::default() }
    }

    fn check(old: &str, before: &[(u32, &str)], text: &str, now: &[(u32, &str)], expected: &[(u32, &str)]) {
        let made = |all: &[(u32, &str)]| all.iter().map(|(line, said)| at(*line, said)).collect::<Vec<_>>();
        let found = new(&made(before), old, &made(now), text);
        let found: Vec<(u32, &str)> =
            found.iter().map(|found| (found.line, found.message.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn only_what_was_not_there_before_is_new() {
        // Lines that moved take their problems with them.
        check("a\nb\nc", &[(3, "x")], "a\nnew\nb\nc", &[(4, "x")], &[]);
        check("a\nb\nc", &[(3, "x")], "a\nnew\nb\nc", &[(2, "x"), (4, "x")], &[(2, "x")]);
        check("a\nb\nc", &[(1, "x")], "a\nB\nc", &[(1, "x"), (2, "y")], &[(2, "y")]);
        // What says the same in the stretch that was changed is the same.
        check("a\nb\nc", &[(2, "x")], "a\nB\nB\nc", &[(3, "x")], &[]);
        check("a\nb\nc", &[(2, "x")], "a\nB\nB\nc", &[(2, "x"), (3, "x")], &[(3, "x")]);
        check("", &[], "a", &[(1, "x")], &[(1, "x")]);
        check("a", &[(1, "x")], "b", &[], &[]);
    }

    #[test]
    fn only_errors_count_and_places_are_told_in_characters() {
        let range = json!({ "start": { "line": 0, "character": 3 }, "end": { "line": 0, "character": 4 } });
        let found = errors(
            &json!([
                { "range": range, "severity": 1, "message": "bad\u{7}", "code": 7, "source": "cc" },
                { "range": range, "severity": 2, "message": "a warning" },
                { "range": range, "message": "x".repeat(2000) },
                "nonsense",
            ]),
            "ä𝄞b",
            Units::Utf16,
        );
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].line, found[0].character, found[0].end_character), (1, 3, 4));
        assert_eq!((found[0].code.as_deref(), found[0].source.as_deref()), (Some("7"), Some("cc")));
        assert!(!found[0].message.contains('\u{7}'));
        assert_eq!(found[1].message.chars().count(), MESSAGE_CHARS_MAX + 1);
        assert_eq!(found[2].message, "(no message)");
    }
}
