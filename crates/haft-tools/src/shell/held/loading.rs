//! Files that programs for jq and yq name: modules, and what they load.

use crate::shell::word::Word;

/// Whether a program for jq or yq reads files that it names itself.
pub(super) fn loads(name: &str, words: &[Word]) -> bool {
    let has = |part: &str| words.iter().any(|word| word.text().contains(part));
    match name {
        "jq" => has("import") || has("include"),
        "yq" => has("load") || has("import") || has("include"),
        _ => false,
    }
}

/// Whether a program for jq or yq reads files whose names it computes, or spells by something else.
pub(super) fn loads_computed(name: &str, words: &[Word]) -> bool {
    match name {
        "jq" => words.iter().any(|word| imports_spelled(word.text())),
        "yq" => words.iter().any(|word| computes(word.text())),
        _ => false,
    }
}

/// Whether a program names modules with backslashes. Each is named up to a semicolon, and all of them before anything else.
fn imports_spelled(program: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '"');
    let begins = |at: &usize| !program[..*at].ends_with(is_part);
    let all = ["import", "include"].into_iter().flat_map(|word| program.match_indices(word));
    let Some(from) = all.map(|(at, _)| at).filter(begins).min() else { return false };
    let until = program.rfind(';').filter(|until| *until > from).unwrap_or(program.len());
    program[from..until].contains('\\')
}

fn computes(program: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let calls = program.match_indices("load").filter(|(at, _)| {
        // What stands behind a dot is the name of a field.
        !program[..*at].ends_with(|c: char| is_part(c) || matches!(c, '.' | '"' | '-' | '/'))
    });
    let mut arguments = calls.filter_map(|(at, _)| {
        let behind = program[at..].trim_start_matches(is_part).trim_start();
        behind.strip_prefix('(').map(str::trim_start)
    });
    arguments.any(|argument| {
        let text = argument.strip_prefix('"').and_then(|text| text.split_once('"'));
        !text.is_some_and(|(name, rest)| !name.contains('\\') && rest.trim_start().starts_with(')'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_computed_are_told_from_those_that_are_written_out() {
        for (program, is_computed) in [
            ("load(\"a.yml\")", false),
            (".a = load_str( \"a\" ) | .b", false),
            ("load(\"pr\" + \"iv/k\")", true),
            ("load(.file)", true),
            (".payload | .load", false),
        ] {
            assert_eq!(computes(program), is_computed, "{program}");
        }
    }
}
