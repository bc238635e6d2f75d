//! The core is quiet and knows no wire: it touches no socket, process, environment or file, and derives no encoding.

use super::source::Source;
use super::{Finding, Tree};

const CORE: &str = "crates/haft/src/";

/// What the core must not name, and what it is told instead.
const FOREIGN: &[(&str, &str)] = &[
    ("std::net", "the core has no sockets; use a seam"),
    ("std::process", "the core starts no processes; use a seam"),
    ("std::env", "the core reads no environment; take what is needed as a parameter"),
    ("std::fs", "the core opens no files; use a seam"),
    ("std::os", "the core knows no operating system; use a seam"),
    ("std::thread", "the core starts no threads; use a seam"),
    ("tokio::", "the core needs no runtime"),
    ("derive(Serialize", "wire types live at the edge"),
    ("derive(Deserialize", "wire types live at the edge"),
    (", Serialize", "wire types live at the edge"),
    (", Deserialize", "wire types live at the edge"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.starts_with(CORE) && path.ends_with(".rs")) {
        let source = Source::parse(text);
        let tests = source.test_items();
        for (foreign, why) in FOREIGN {
            for (at, _) in source.code.match_indices(foreign) {
                let is_test = tests.iter().any(|item| item.contains(&at));
                if !is_test && !is_import(&source.code, at) {
                    let message = format!("`{}`: {why}", foreign.trim_start_matches(", "));
                    findings.push(Finding::error(path, source.line(at), message));
                }
            }
        }
    }
    findings
}

/// The traits themselves are bounds of tools' types and may be imported; deriving them is what is meant.
fn is_import(code: &str, at: usize) -> bool {
    let start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &code[start..];
    line.starts_with("use serde") || line.starts_with("use schemars")
}

#[cfg(test)]
mod tests {
    use super::{Tree, check};

    #[test]
    fn the_core_may_not_look_outside() {
        let found = |path: &str, text: &str| check(&Tree::of(&[(path, text)])).len();
        assert_eq!(found("crates/haft/src/a.rs", "use std::fs::File;\n"), 1);
        assert_eq!(found("crates/haft/src/a.rs", "#[derive(Debug, Serialize)]\nstruct A;\n"), 1);
        assert_eq!(found("crates/haft/src/a.rs", "use serde::{Deserialize, Serialize};\n"), 0);
        assert_eq!(found("crates/haft/src/a.rs", "// std::env is elsewhere\n"), 0);
        assert_eq!(found("crates/haft/src/a.rs", "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"), 0);
        assert_eq!(found("crates/haft-cli/src/a.rs", "use std::fs::File;\n"), 0);
    }
}
