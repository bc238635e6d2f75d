//! The house rules that no compiler checks.
//! Every rule is a pure function from the tree of files to findings, and one row in `RULES`.

mod manifest;
mod source;
mod tree;

mod dependencies;
mod edges;
mod laws;
mod links;
mod lints;
mod machine_paths;
mod map;
mod module_docs;
mod names;
mod quiet;
mod size;

use std::fmt;

use anyhow::{Result, bail};

use crate::cargo::root;
use tree::Tree;

const RULES: &[fn(&Tree) -> Vec<Finding>] = &[
    module_docs::check,
    edges::check,
    laws::check,
    names::check,
    quiet::check,
    machine_paths::check,
    dependencies::check,
    size::check,
    lints::check,
    links::check,
    map::check,
];

/// Applies every rule and prints what they found; an error if any of it is more than a warning.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::of_git(root())?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|finding| finding.weight == Weight::Error).count();
    println!("tidy: {} files, {errors} errors, {} warnings", tree.len(), findings.len() - errors);
    if errors > 0 {
        bail!("the tree is not tidy");
    }
    Ok(())
}

/// One breach of one rule, at a place an editor can jump to.
#[derive(Debug)]
struct Finding {
    path: String,
    line: usize,
    weight: Weight,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Error,
    Warning,
}

impl Finding {
    fn error(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_owned(), line, weight: Weight::Error, message: message.into() }
    }

    fn warning(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { weight: Weight::Warning, ..Finding::error(path, line, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = match self.weight {
            Weight::Error => "",
            Weight::Warning => "warning: ",
        };
        write!(f, "{}:{}: {weight}{}", self.path, self.line, self.message)
    }
}

/// Applies one rule to a made-up tree and compares its findings, as printed.
#[cfg(test)]
fn expect(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)], findings: &[&str]) {
    let found: Vec<String> = rule(&Tree::of(files)).iter().map(ToString::to_string).collect();
    assert_eq!(found, findings);
}
