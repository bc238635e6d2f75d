//! Names are data: no code outside a tool's own file asks whether a name is that tool's.

use std::collections::BTreeSet;
use std::ops::Range;

use super::source::{Literal, Source};
use super::tree::is_test_file;
use super::{Finding, Tree};

const TOOLS: &str = "crates/haft-tools/src/tools/";
/// Where a subcommand may be spelled like a tool, if the line before it or its own says so.
const EXCUSED_IN: &str = "crates/haft-cli/src/cli";
const EXCUSE: &str = "// tidy: not a tool name";

/// The tools that every release will have, also those whose file is still to come.
#[rustfmt::skip]
const BUILT_IN: &[&str] = &[
    "apply_patch", "bash", "batch", "codesearch", "edit", "glob", "grep", "invalid", "list", "lsp", "plan_enter",
    "plan_exit", "question", "read", "skill", "task", "todoread", "todowrite", "webfetch", "websearch", "write",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let names = tool_names(tree);
    let judged = tree.rust().filter(|(path, _)| !path.starts_with(TOOLS) && !is_test_file(path));
    judged.flat_map(|(path, text)| check_file(path, text, &names)).collect()
}

/// The built-in names and the stems of the files that hold tools.
fn tool_names(tree: &Tree) -> BTreeSet<&str> {
    let files = tree.rust().filter_map(|(path, _)| path.strip_prefix(TOOLS)?.strip_suffix(".rs"));
    files.filter(|stem| !stem.contains('/') && *stem != "mod").chain(BUILT_IN.iter().copied()).collect()
}

fn check_file(path: &str, text: &str, names: &BTreeSet<&str>) -> Vec<Finding> {
    let source = Source::parse(text);
    let tests = source.test_items();
    let patterns = patterns_of_matches(&source);
    let lines: Vec<&str> = text.lines().collect();
    let compared = source.literals.iter().filter(|literal| {
        let within = |ranges: &[Range<usize>]| ranges.iter().any(|range| range.contains(&literal.at.start));
        names.contains(literal.value.as_str())
            && !within(&tests)
            && (within(&patterns) || is_compared(&source.code, literal))
    });
    compared
        .filter_map(|literal| {
            let line = source.line(literal.at.start);
            let excused = path.starts_with(EXCUSED_IN)
                && lines[line.saturating_sub(2)..line].iter().any(|l| l.contains(EXCUSE));
            let message = format!("compares with the tool name \"{}\": names are data", literal.value);
            (!excused).then(|| Finding::error(path, line, message))
        })
        .collect()
}

/// Whether the literal is an operand of `==` or `!=`, a `let` pattern, or (part of) the pattern of an arm.
fn is_compared(code: &str, literal: &Literal) -> bool {
    let (mut before, mut after) = (code[..literal.at.start].trim_end(), code[literal.at.end..].trim_start());
    while let Some(inner) = before.strip_suffix("Some(").or_else(|| before.strip_suffix("Ok(")) {
        let Some(rest) = after.strip_prefix(')') else { break };
        (before, after) = (inner.trim_end(), rest.trim_start());
    }
    let is_alternative = after.starts_with('|') && !after.starts_with("||");
    ["==", "!=", " let"].iter().any(|operator| before.ends_with(operator))
        || ["==", "!=", "=>", "if "].iter().any(|operator| after.starts_with(operator))
        || is_alternative
}

/// The pattern halves of every `matches!(value, pattern)`.
fn patterns_of_matches(source: &Source) -> Vec<Range<usize>> {
    const MACRO: &str = "matches!(";
    let opens = source.code.match_indices(MACRO).map(|(at, _)| at + MACRO.len() - 1);
    opens.filter_map(|open| Some(first_comma(&source.code, open)?..source.close_of(open))).collect()
}

/// The first comma directly inside the parenthesis that opens at `open`.
fn first_comma(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 1 => return None,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 1 => return Some(offset),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::expect;
    use super::check;

    fn lines(text: &str, expected: &[usize]) {
        let path = "crates/haft/src/turn.rs";
        let found: Vec<usize> =
            check(&super::Tree::of(&[(path, text)])).iter().map(|finding| finding.line).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn comparisons_are_found_in_every_form() {
        lines("if name == \"read\" {}", &[1]);
        lines("if \"read\" != name {}", &[1]);
        lines("if name == Some(\"read\") {}", &[1]);
        lines("if let \"read\" = name {}", &[1]);
        lines(
            "match name {\n \"read\" => 1,\n \"edit\" | \"write\" if x => 2,\n Some(\"grep\") => 3 }",
            &[2, 3, 3, 4],
        );
        lines("matches!(f(a, b), \"bash\" | \"task\")", &[1, 1]);
    }

    #[test]
    fn mentions_are_no_comparisons() {
        lines(
            "let name = \"read\"; call(\"read\"); x.map(|_| \"read\"); matches!(find(\"read\"), Some(_));",
            &[],
        );
        lines("// name == \"read\"\nlet text = \"name == \\\"read\\\"\";", &[]);
        lines("if name == \"reader\" {}", &[]);
        lines("#[cfg(test)]\nmod tests { fn f() { if name == \"read\" {} } }", &[]);
    }

    #[test]
    fn a_file_in_the_tools_directory_makes_a_name() {
        expect(
            check,
            &[
                ("crates/haft-tools/src/tools/weather.rs", "fn f() { name == \"weather\" }"),
                ("crates/haft/src/turn.rs", "fn f() { name == \"weather\" }"),
            ],
            &["crates/haft/src/turn.rs:1: compares with the tool name \"weather\": names are data"],
        );
    }

    #[test]
    fn only_the_command_line_may_excuse_itself() {
        let text = "// tidy: not a tool name\n\"list\" => 1,\n\"skill\" => 2, // tidy: not a tool name\n";
        expect(check, &[("crates/haft-cli/src/cli/args.rs", text)], &[]);
        lines(text, &[2, 3]);
    }
}
