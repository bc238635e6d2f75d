//! What a repository makes git execute: the directories its hooks come from and the files its configuration includes,
//! found without running git.
//!
//! Every `core.hooksPath` counts, not only the one that is in force: protecting too much asks a question too many,
//! protecting too little runs somebody's code. Paths below a home directory are not followed; they lie outside.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};

use haft_sandbox::OF_GIT;

use super::file::{Found, OpenedFile};
use super::place::{Kind, Place};
use super::repository::{Repository, led};
use super::{Workspace, resolve};

/// So much of a configuration file is read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// So many configuration files are followed.
const FILES_MAX: usize = 32;
/// So many directories and files that a configuration file names are followed.
const NAMED_MAX: usize = 1024;
/// So many directories are looked into for submodules.
const MODULES_MAX: usize = 256;

/// The canonical paths of everything that git executes or is configured by, beyond its own directory.
pub(super) fn executed_by_git(workspace: &Workspace) -> Vec<PathBuf> {
    let base = workspace.base();
    let Some(Repository { own, common }) = Repository::find(workspace) else { return Vec::new() };
    let mut files = VecDeque::from([own.join("config.worktree"), common.join("config")]);
    let mut found = Vec::new();
    if own != base.join(".git") {
        found.extend([&own, &common].into_iter().flat_map(|of_git| held(of_git)));
    }
    found.extend(worktrees(&common.join("worktrees")));
    found.extend(submodules(workspace, &common.join("modules")));
    for _ in 0..FILES_MAX {
        let Some(file) = files.pop_front() else { break };
        let Some(text) = read(workspace, &file) else { continue };
        let named = entries(&text).into_iter().filter_map(|(section, key, value)| {
            let from = match (section.as_str(), key.as_str()) {
                ("core", "hookspath") => base,
                ("include" | "includeif", "path") => file.parent().unwrap_or(base),
                _ => return None,
            };
            Some((from, key, value))
        });
        for (from, key, value) in named.take(NAMED_MAX) {
            let Ok(path) = resolve::lexical(from, &value) else { continue };
            found.extend(resolve::canonical(&path).ok().map(|(real, _)| real));
            if key == "path" {
                files.push_back(path);
            }
        }
    }
    found
}

/// What git executes, is configured by and is led by in a repository's directory that stands elsewhere.
fn held(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let directory = resolve::canonical(directory).map(|(real, _)| real);
    directory.into_iter().flat_map(|directory| OF_GIT.iter().map(move |file| directory.join(file.name)))
}

/// What leads the other working trees of a repository to it and configures them.
fn worktrees(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let directory = resolve::canonical(directory).map(|(real, _)| real);
    let worktrees = directory.into_iter().flat_map(std::fs::read_dir).flatten().flatten().take(MODULES_MAX);
    let leading = || OF_GIT.iter().filter(|file| file.leads);
    worktrees.flat_map(move |entry| leading().map(move |file| entry.path().join(file.name)))
}

/// Submodules have their repositories within the outer one's, and a file that leads there.
fn submodules(workspace: &Workspace, modules: &Path) -> Vec<PathBuf> {
    let mut directories = VecDeque::from([modules.to_owned()]);
    let mut found = Vec::new();
    for _ in 0..MODULES_MAX {
        let Some(directory) = directories.pop_front() else { break };
        let config = directory.join("config");
        if let Some(text) = config.is_file().then(|| read(workspace, &config)).flatten() {
            found.extend(held(&directory));
            let worktree = entries(&text).into_iter().find(|(s, key, _)| s == "core" && key == "worktree");
            let pointer =
                worktree.and_then(|(_, _, worktree)| Some(led(&directory, &worktree)?.join(".git")));
            found.extend(pointer.and_then(|pointer| Some(resolve::canonical(&pointer).ok()?.0)));
            // Its own submodules, if it has any.
            directories.push_back(directory.join("modules"));
            continue;
        }
        let below = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        let below = below.filter(|entry| entry.file_type().is_ok_and(|found| found.is_dir()));
        directories.extend(below.map(|entry| entry.path()).take(MODULES_MAX));
    }
    found
}

pub(super) fn read(workspace: &Workspace, path: &Path) -> Option<String> {
    let (real, kind) = resolve::canonical(path).ok()?;
    if kind != Kind::File {
        return None;
    }
    let place = Place::new(workspace, path.to_owned(), real, kind);
    let Found::File(opened, _) = workspace.open_place(&place).ok()? else { return None };
    bounded(opened)
}

fn bounded(opened: OpenedFile) -> Option<String> {
    let mut bytes = Vec::new();
    opened.into_file().take(CONFIG_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The entries of a configuration as (section, key, value), section and key in lower case, subsections left out.
/// A subsection of `core` is no `core`.
fn entries(config: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in config.replace("\\\n", "").lines().map(str::trim) {
        let line = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((header, rest)) => {
                let (name, subsection) =
                    header.trim().split_once(char::is_whitespace).unwrap_or((header.trim(), ""));
                let is_plain = subsection.is_empty() || name.eq_ignore_ascii_case("includeif");
                section = if is_plain { name.to_ascii_lowercase() } else { String::new() };
                rest.trim()
            }
            None => line,
        };
        if let Some((key, value)) = line.split_once('=') {
            found.push((section.clone(), key.trim().to_ascii_lowercase(), unquoted(value.trim())));
        }
    }
    found.retain(|(_, _, value)| !value.is_empty());
    found
}

/// A value without its quotes, escapes and comment.
fn unquoted(raw: &str) -> String {
    let mut value = String::new();
    let mut quoted = false;
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => value.extend(chars.next()),
            c => value.push(c),
        }
    }
    value.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn values_are_read_as_git_reads_them() {
        let check = |config: &str, expected: &[&str]| {
            let found: Vec<String> =
                entries(config).into_iter().map(|(s, k, v)| format!("{s}.{k}={v}")).collect();
            assert_eq!(found, expected, "{config}");
        };
        check("[core]\n\thooksPath = tools/hooks\n", &["core.hookspath=tools/hooks"]);
        check("[CORE] HooksPath=\"a b\" ; shared\n", &["core.hookspath=a b"]);
        check("[core]\nhookspath = .githooks # ours\n", &["core.hookspath=.githooks"]);
        check("[core]\nhooksPath = .git\\\nhooks\n", &["core.hookspath=.githooks"]);
        check("[core]\nhooksPath = \"a#b\"c\n", &["core.hookspath=a#bc"]);
        check("[core \"x\"]\nhooksPath = no\n", &[".hookspath=no"]);
        check("[includeIf \"gitdir:/x\"]\npath = ../c\n", &["includeif.path=../c"]);
        check("[include]\n path = ../.gitcfg\n", &["include.path=../.gitcfg"]);
        check("", &[]);
    }
}
