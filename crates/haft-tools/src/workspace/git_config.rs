//! A configuration file of git, read without running git.

use std::str::Lines;

/// What a configuration says: section and key in lower case, and the subsection as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) section: String,
    pub(super) subsection: Option<String>,
    pub(super) key: String,
    pub(super) value: String,
}

/// The entries of a configuration that have a value.
pub(super) fn entries(config: &str) -> Vec<Entry> {
    let mut section = String::new();
    let mut subsection = None;
    let mut found = Vec::new();
    let mut lines = config.strip_prefix('\u{feff}').unwrap_or(config).lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start();
        while let Some((name, sub, rest)) = line.strip_prefix('[').map(header) {
            (section, subsection) = (name, sub);
            line = rest.trim_start();
        }
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some((key, first)) = line.split_once('=') {
            found.push(Entry {
                section: section.clone(),
                subsection: subsection.clone(),
                key: key.trim().to_ascii_lowercase(),
                value: value_of(first, &mut lines),
            });
        }
    }
    found.retain(|entry| !entry.value.is_empty());
    found
}

/// What stands between brackets, and what follows. `[a.b]` is an older way to write `[a "b"]`.
fn header(after_bracket: &str) -> (String, Option<String>, &str) {
    let name_end = after_bracket.find(|c: char| c.is_whitespace() || matches!(c, ']' | '"'));
    let (name, rest) = after_bracket.split_at(name_end.unwrap_or(after_bracket.len()));
    let name = name.to_ascii_lowercase();
    let rest = rest.trim_start();
    if let Some(quoted) = rest.strip_prefix('"') {
        let mut is_escaped = false;
        let end = quoted.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let (subsection, rest) = quoted.split_at(end.unwrap_or(quoted.len()));
        let rest = rest.split_once(']').map_or("", |(_, rest)| rest);
        return (name, Some(subsection.replace('\\', "")), rest);
    }
    let rest = rest.split_once(']').map_or("", |(_, rest)| rest);
    match name.split_once('.') {
        Some((name, subsection)) => (name.to_owned(), Some(subsection.to_owned()), rest),
        None => (name, None, rest),
    }
}

/// A value without its quotes, escapes and comment. Only within it, and not within its comment, a line goes on in the next
/// one.
fn value_of<'c>(first: &'c str, lines: &mut Lines<'c>) -> String {
    let mut value = String::new();
    let mut quoted = false;
    let mut chars = first.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => match chars.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(c) => value.push(c),
                None => chars = lines.next().unwrap_or_default().chars(),
            },
            c if c.is_whitespace() && !quoted && value.is_empty() => {}
            c => value.push(c),
        }
    }
    value.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Entry, entries};

    #[test]
    fn values_are_read_as_git_reads_them() {
        let check = |config: &str, expected: &[&str]| {
            let shown = |Entry { section, subsection, key, value }: Entry| match subsection {
                Some(subsection) => format!("{section}.{subsection}.{key}={value}"),
                None => format!("{section}.{key}={value}"),
            };
            let found: Vec<String> = entries(config).into_iter().map(shown).collect();
            assert_eq!(found, expected, "{config}");
        };
        check("[core]\n\thooksPath = tools/hooks\n", &["core.hookspath=tools/hooks"]);
        check("[CORE] HooksPath=\"a b\" ; shared\n", &["core.hookspath=a b"]);
        check("[core]\nhookspath = .githooks # ours\n", &["core.hookspath=.githooks"]);
        check("[core]\nhooksPath = .git\\\nhooks\n", &["core.hookspath=.githooks"]);
        check("[core]\nhooksPath = \"a#b\"c\n", &["core.hookspath=a#bc"]);
        check("[core \"x\"]\nhooksPath = no\n", &["core.x.hookspath=no"]);
        check("[includeIf \"gitdir:/x\"]\npath = ../c\n", &["includeif.gitdir:/x.path=../c"]);
        check("[includeIf \"gitdir:/a]b\"]\npath = ../c\n", &["includeif.gitdir:/a]b.path=../c"]);
        check("[include]\n path = ../.gitcfg\n", &["include.path=../.gitcfg"]);
        check("[filter.A]\nclean = a\n", &["filter.a.clean=a"]);
        check("[filter \"A \\\"b\"] clean = \"x \\\"y z\\\"\"\n", &["filter.A \"b.clean=x \"y z\""]);
        check("[alias]\nx = !a\\tb\r\n[pager]\nlog = c\r\n", &["alias.x=!a\tb", "pager.log=c"]);
        check("[core]\n\t# old: \\\n\tfsmonitor = ./x.sh", &["core.fsmonitor=./x.sh"]);
        check("[core] ; old: \\\nfsmonitor = ./x.sh", &["core.fsmonitor=./x.sh"]);
        check("[core]\npager = a # b \\\nfsmonitor = ./x.sh", &["core.pager=a", "core.fsmonitor=./x.sh"]);
        check(
            "[core]\n\tpager = less \\\\\n\tfsmonitor = ./x.sh",
            &["core.pager=less \\", "core.fsmonitor=./x.sh"],
        );
        check("[core]\npager = \\\r\n  a \"b # \\\n c\" d", &["core.pager=a b #  c d"]);
        check("\u{feff}[user] [alias] a = !x\n# b = !y\n", &["alias.a=!x"]);
        check("[core]\npager = a\\", &["core.pager=a"]);
        check("[a", &[]);
        check("", &[]);
    }
}
