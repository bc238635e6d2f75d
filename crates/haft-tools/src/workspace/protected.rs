//! Protected paths: files that make a later program run something, so that writing them needs its own consent.

use std::path::{Component, Path};

use haft_sandbox::{DIRECTORIES, FILES, OF_GIT, OfGit, PARTS, may_be_repository};

use super::Workspace;
use super::fold::fold;
use super::guarded::Guarded;
use super::place::Place;

/// How files are called that open several directories in an editor, with tasks and settings.
const OF_EDITORS: &str = ".code-workspace";

/// Whether writing a place needs its own consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    None,
    Protected,
}

impl Workspace {
    /// Whether a person has to be asked before a place is written.
    pub(super) fn protection(&self, place: &Place) -> Protection {
        self.protection_by(&self.guarded(), place)
    }

    /// The same, where it was found out before what is protected by where it lies.
    pub(super) fn protection_by(&self, guarded: &Guarded, place: &Place) -> Protection {
        let spelled = self.respelled(place.spelled());
        let paths = [place.real(), spelled.as_path()];
        let is_protected = paths.iter().any(|path| self.is_protected(path) || is_guarded(guarded, path));
        if is_protected { Protection::Protected } else { Protection::None }
    }

    fn is_protected(&self, path: &Path) -> bool {
        // A workspace may itself lie in a directory of such a name; only what is below it is judged by its name.
        let below = self.roots().find_map(|root| path.strip_prefix(root.path()).ok()).unwrap_or(path);
        is_configuration(&folded(below)) || is_of_git(&folded(path)) || is_of_bare(path)
    }
}

fn is_guarded(guarded: &Guarded, path: &Path) -> bool {
    let path = folded(path);
    guarded.trees.iter().any(|tree| path.starts_with(&folded(tree)))
        || guarded.links.iter().any(|link| path == folded(link))
}

fn folded(path: &Path) -> Vec<String> {
    let named = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(fold(&name.to_string_lossy())),
        Component::CurDir | Component::ParentDir | Component::RootDir | Component::Prefix(_) => None,
    });
    named.collect()
}

fn is_configuration(names: &[String]) -> bool {
    let is_file = names
        .last()
        .is_some_and(|last| last == ".git" || FILES.contains(&last.as_str()) || last.ends_with(OF_EDITORS));
    let mut rest = names.iter().enumerate();
    is_file || rest.any(|(at, name)| DIRECTORIES.contains(&name.as_str()) && !is_plan(name, &names[at + 1..]))
}

/// Plans are written by agents themselves and run nothing.
fn is_plan(directory: &str, rest: &[String]) -> bool {
    directory == ".opencode" && matches!(rest, [plans, _] if plans == "plans")
}

fn is_of_git(names: &[String]) -> bool {
    let Some(at) = names.iter().position(|name| name == ".git") else { return false };
    let rest = &names[at + 1..];
    // Where these are damaged, git looks for a repository further.
    let is_part = rest.first().is_some_and(|first| PARTS.contains(&first.as_str()));
    is_part || rest.last().is_some_and(|last| last == "head") || is_executed(rest)
}

/// Whether a path in a repository's directory is one by which git is made to run something or to look elsewhere.
fn is_executed(rest: &[String]) -> bool {
    // What leads other working trees to the repository lies in it.
    let is_worktrees = matches!(rest, [worktrees] if worktrees == "worktrees");
    let is_named = |file: &OfGit| {
        let name: Vec<&str> = file.name.split('/').collect();
        match file.is_directory {
            true => rest.windows(name.len()).any(|part| part == name),
            false => rest.len() >= name.len() && rest[rest.len() - name.len()..] == name[..],
        }
    };
    is_worktrees || OF_GIT.iter().any(is_named)
}

/// Whether to write a path completes, damages or configures a repository that a directory is for git without a `.git`
/// in it. Any of its parts may come first, so that each is asked about that could not be followed by another.
fn is_of_bare(path: &Path) -> bool {
    let names = folded(path);
    path.ancestors().skip(1).enumerate().any(|(at, directory)| {
        let Some(first) = names.len().checked_sub(at + 1) else { return false };
        let is_there = |name: &str| directory.join(name).symlink_metadata().is_ok();
        match &names[first..] {
            [head] if head == "head" => !is_there("HEAD") || PARTS.iter().any(|part| is_there(part)),
            [part, ..] if PARTS.contains(&part.as_str()) => {
                is_there("HEAD") && (!is_there(part) || may_be_repository(directory))
            }
            rest => is_executed(rest) && may_be_repository(directory),
        }
    })
}
