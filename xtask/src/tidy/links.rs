//! Relative links in Markdown lead to files of the project.

use super::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        let dead =
            links(text).into_iter().filter(|(_, link)| !resolve(path, link).is_some_and(|to| tree.has(&to)));
        findings.extend(dead.map(|(line, link)| Finding::error(path, line, format!("dead link: {link}"))));
    }
    findings
}

/// The relative targets with their lines; what stands in code is no link.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut in_fence = false;
    let mut links = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_fence = !in_fence;
        } else if !in_fence {
            let prose: String = line.split('`').step_by(2).collect();
            links.extend(targets(&prose).filter_map(relative).map(|link| (index + 1, link.to_owned())));
        }
    }
    links
}

/// What follows `](`, and what follows `[label]:` at the start of a line.
fn targets(prose: &str) -> impl Iterator<Item = &str> {
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let definition = prose.starts_with('[').then(|| prose.split_once("]: ")).flatten();
    inline.chain(definition.map(|(_, target)| target))
}

/// The path of a target, without title and fragment; none for other sites and for places on the same page.
fn relative(target: &str) -> Option<&str> {
    let target = target.split_whitespace().next()?.trim_matches(['<', '>']);
    let path = target.split(['#', '?']).next()?;
    let has_scheme = path.split('/').next().is_some_and(|first| first.contains(':'));
    (!path.is_empty() && !has_scheme).then_some(path)
}

/// The target as a path from the root; none if it leaves the project.
fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if link.starts_with('/') {
        parts.clear();
    }
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{super::expect, check};

    #[test]
    fn dead_links_are_found() {
        let text = "[laws](laws.md#i7) [up](../README.md \"title\") [dir](adr/) [site](https://a.b/c) [here](#top)\n\
            [gone](gone.md) `[code](nowhere.md)` ![image](../a.png)\n\
            ```\n[fenced](nowhere.md)\n```\n\
            [ref]: adr/0002.md\n\
            [out](../../x)\n";
        expect(
            check,
            &[("docs/a.md", text), ("docs/laws.md", ""), ("README.md", ""), ("docs/adr/0001.md", "")],
            &[
                "docs/a.md:2: dead link: gone.md",
                "docs/a.md:2: dead link: ../a.png",
                "docs/a.md:6: dead link: adr/0002.md",
                "docs/a.md:7: dead link: ../../x",
            ],
        );
    }
}
