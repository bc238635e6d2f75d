//! Laws and tests name each other: `docs/laws.md` lists what holds, and each row says what holds it.

use std::collections::BTreeSet;

use super::source::Source;
use super::{Finding, Tree};

const LAWS: &str = "docs/laws.md";
/// How many invariants ARCHITECTURE.md states.
const INVARIANTS: usize = 17;
/// What a row may say when no test holds it.
const HELD_OTHERWISE: &[&str] = &["held by type:", "held by tidy", "not yet:"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(LAWS) else {
        return vec![Finding::error(LAWS, 1, "there is no list of laws")];
    };
    let rows = rows(text);
    let mut findings = Vec::new();
    for row in &rows {
        if row.tests.is_empty() && !HELD_OTHERWISE.iter().any(|words| row.text.contains(words)) {
            let message = "the row names no `path.rs::test` and says none of `held by type: …`, `held by tidy`, `not yet: …`";
            findings.push(Finding::error(LAWS, row.line, message));
        }
        findings.extend(row.tests.iter().filter_map(|test| missing(tree, test, row.line)));
    }
    let stated: BTreeSet<usize> = rows.iter().flat_map(|row| row.invariants.iter().copied()).collect();
    let unstated = (1..=INVARIANTS).filter(|number| !stated.contains(number));
    findings.extend(
        unstated.map(|number| Finding::error(LAWS, 1, format!("no row for the invariant I{number}"))),
    );
    findings.extend(unnamed(tree, &rows));
    findings
}

struct Row<'a> {
    line: usize,
    text: &'a str,
    /// The numbers in the first column: `I7`, or `I4, I6`.
    invariants: Vec<usize>,
    tests: Vec<TestName<'a>>,
}

#[derive(PartialEq, Eq)]
struct TestName<'a> {
    path: &'a str,
    function: &'a str,
}

/// The rows of every table: what stands below a `|---|` line.
fn rows(text: &str) -> Vec<Row<'_>> {
    let mut in_body = false;
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.starts_with('|') {
            in_body = false;
        } else if line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ')) {
            in_body = true;
        } else if in_body {
            let first = line.trim_start_matches('|').split('|').next().unwrap_or_default();
            let words = first.split(|c: char| !c.is_ascii_alphanumeric());
            let invariants = words.filter_map(|word| word.strip_prefix('I')?.parse().ok()).collect();
            rows.push(Row { line: index + 1, text: line, invariants, tests: tests(line) });
        }
    }
    rows
}

/// The `path.rs::function` names between backticks; modules in between are allowed.
fn tests(line: &str) -> Vec<TestName<'_>> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted
        .filter_map(|span| {
            let end = span.find(".rs::")? + ".rs".len();
            let function = span.rsplit("::").next()?;
            Some(TestName { path: &span[..end], function })
        })
        .collect()
}

fn missing(tree: &Tree, test: &TestName<'_>, line: usize) -> Option<Finding> {
    let TestName { path, function } = test;
    match tree.text(path) {
        None => Some(Finding::error(LAWS, line, format!("there is no file {path}"))),
        Some(text) if Source::parse(text).has_function(function) => None,
        Some(_) => Some(Finding::error(LAWS, line, format!("{path} has no `fn {function}(`"))),
    }
}

/// Tests in law files that no row names.
fn unnamed(tree: &Tree, rows: &[Row<'_>]) -> Vec<Finding> {
    let named: Vec<&TestName<'_>> = rows.iter().flat_map(|row| &row.tests).collect();
    let mut findings = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| is_law_file(path)) {
        let source = Source::parse(text);
        let unnamed = source.test_functions().into_iter();
        let unnamed = unnamed.filter(|(function, _)| !named.contains(&&TestName { path, function }));
        findings.extend(unnamed.map(|(function, at)| {
            Finding::error(path, source.line(at), format!("no row of {LAWS} names `{path}::{function}`"))
        }));
    }
    findings
}

/// `**/tests/laws*.rs` and `**/tests/laws/**/*.rs`.
fn is_law_file(path: &str) -> bool {
    let Some((_, rest)) = path.split_once("/tests/laws") else { return false };
    rest.starts_with('/') || !rest.contains('/')
}

#[cfg(test)]
mod tests {
    use super::{super::expect, check, is_law_file};

    #[test]
    fn laws_and_tests_name_each_other() {
        let mut laws = String::from(
            "# Laws\n\n| law | says | held by |\n|---|---|---|\n\
            | I1, I2 | one executor | `crates/haft/tests/laws.rs::one`, `crates/haft/tests/laws.rs::gone` |\n\
            | I3 | identity | held by type: `CallId` |\n\
            | I4 | scoped | `crates/haft/tests/lost.rs::x` |\n\
            | I5 | captured | believed |\n",
        );
        (6..=16).for_each(|n| laws.push_str(&format!("| I{n} | later | not yet: needs the store |\n")));
        let tests = "//! Laws.\n#[test]\nfn one() {}\n\n#[test]\nfn two() {}\n";
        expect(
            check,
            &[("docs/laws.md", &laws), ("crates/haft/tests/laws.rs", tests)],
            &[
                "docs/laws.md:5: crates/haft/tests/laws.rs has no `fn gone(`",
                "docs/laws.md:7: there is no file crates/haft/tests/lost.rs",
                "docs/laws.md:8: the row names no `path.rs::test` and says none of `held by type: …`, `held by tidy`, `not yet: …`",
                "docs/laws.md:1: no row for the invariant I17",
                "crates/haft/tests/laws.rs:6: no row of docs/laws.md names `crates/haft/tests/laws.rs::two`",
            ],
        );
    }

    #[test]
    fn a_project_without_laws_is_not_tidy() {
        expect(check, &[], &["docs/laws.md:1: there is no list of laws"]);
    }

    #[test]
    fn law_files_are_known_by_path() {
        assert!(is_law_file("crates/haft/tests/laws.rs"));
        assert!(is_law_file("crates/haft/tests/laws_gate.rs"));
        assert!(is_law_file("crates/haft/tests/laws/gate/ask.rs"));
        assert!(!is_law_file("crates/haft/tests/laws_data/sample.rs"));
        assert!(!is_law_file("crates/haft/src/laws.rs"));
    }
}
