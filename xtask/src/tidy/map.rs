//! ARCHITECTURE.md says of each part once what it is: of two paragraphs, one is out of date.

use std::collections::BTreeMap;

use super::{Finding, Tree};

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Looks at paragraphs that begin with the name of what they are about.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for (at, line) in tree.text(ARCHITECTURE).unwrap_or_default().lines().enumerate() {
        let Some((part, _)) = line.strip_prefix("**`").and_then(|rest| rest.split_once("`**")) else {
            continue;
        };
        let line = at + 1;
        match first.get(part) {
            None => drop(first.insert(part, line)),
            Some(earlier) => {
                let message = format!("`{part}` has a paragraph in line {earlier}; make one of the two");
                findings.push(Finding::error(ARCHITECTURE, line, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{super::expect, check};

    #[test]
    fn a_part_has_one_paragraph() {
        let text = "**`crates/a`**: one.\n**`crates/b`**: see **`crates/a`**.\n**`crates/a`**: two.\n";
        expect(
            check,
            &[("ARCHITECTURE.md", text)],
            &["ARCHITECTURE.md:3: `crates/a` has a paragraph in line 1; make one of the two"],
        );
    }
}
