//! What is protected, hidden and cached unless a caller says otherwise.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::credentials::CREDENTIALS;
use crate::profile::{Absent, Protected};
use crate::repository::{OF_GIT, is_whole, may_be_repository};
use crate::trees::{Tree, reached};

/// So many directories are looked into for submodules.
const MODULES_MAX: usize = 1024;

/// Directories by which programs are configured, protected with all that is in them.
pub const DIRECTORIES: &[&str] = &[
    ".agents",
    ".claude",
    ".codex",
    ".continue",
    ".cursor",
    ".devcontainer",
    ".gemini",
    ".haft",
    ".husky",
    ".idea",
    ".kiro",
    ".opencode",
    ".roo",
    ".vscode",
    ".windsurf",
    ".zed",
];

/// Files by which programs are configured. Tools protect them wherever they stand, the kernel where a profile says so.
pub const FILES: &[&str] = &[
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".devcontainer.json",
    ".dir-locals.el",
    ".envrc",
    ".exrc",
    ".gitconfig",
    ".gitmodules",
    ".mcp.json",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".profile",
    ".ripgreprc",
    ".xprofile",
    ".xsessionrc",
    ".yarnrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "haft.json",
    "haft.jsonc",
    "opencode.json",
    "opencode.jsonc",
];

/// Where tools keep what they can fetch or build again.
pub(crate) const CACHES: &[&str] = &[
    ".bun",
    ".cache",
    ".cargo",
    ".deno",
    ".gradle",
    ".local/share/pnpm",
    ".local/state",
    ".m2",
    ".npm",
    ".nuget",
    ".pnpm-store",
    ".yarn",
    "go",
];

/// Where credentials are kept in a home directory, be it there or not.
pub fn secrets(home: &Path) -> impl Iterator<Item = PathBuf> {
    CREDENTIALS.iter().map(|name| home.join(name))
}

/// What a directory has that must not be changed, be it there or not.
pub(crate) fn protected(root: &Path) -> Vec<Protected> {
    let names = DIRECTORIES.iter().chain(FILES);
    let mut found: Vec<Protected> = names.map(|name| removed(root.join(name))).collect();
    let git = root.join(".git");
    // A `.git` that is a file points elsewhere, and must go on doing so.
    if git.is_file() {
        found.push(removed(git));
    } else {
        found.extend(of_git(&git));
        if is_whole(&git) {
            found.push(Protected { path: git.join("HEAD"), absent: Absent::Repository });
        }
    }
    found.extend(embedded(root));
    found.push(Protected { path: root.join("HEAD"), absent: Absent::Repository });
    if may_be_repository(root) {
        found.extend(of_git(root));
    }
    found
}

fn removed(path: PathBuf) -> Protected {
    Protected { path, absent: Absent::Remove }
}

/// What makes git run something in the repositories that it looks into from a directory, however far down, and the
/// indexes by which it comes there.
fn embedded(root: &Path) -> Vec<Protected> {
    let trees = reached(root);
    let Some(Tree { git: own, .. }) = trees.first().filter(|tree| !tree.git.is_empty()) else {
        return Vec::new();
    };
    let index = |tree: &Tree| {
        let absent = if tree.has_directories { Absent::GitlinksWithin } else { Absent::Gitlinks };
        Protected { path: tree.path.join(".git/index"), absent }
    };
    let mut found: Vec<Protected> = trees.iter().map(index).collect();
    // What is the root's own is protected with it.
    let mut held: HashSet<&PathBuf> = own.iter().collect();
    for tree in trees.iter().skip(1) {
        let pointer = tree.path.join(".git");
        if !pointer.is_dir() {
            found.push(removed(pointer));
        }
        let (linked, common) = match tree.git.as_slice() {
            [own, common] => (Some(own), Some(common)),
            [common] => (None, Some(common)),
            _ => (None, None),
        };
        let new = common.into_iter().filter(|directory| held.insert(directory));
        found.extend(new.flat_map(|directory| of_git(directory)));
        let new = linked.into_iter().filter(|directory| held.insert(directory));
        found.extend(new.flat_map(|directory| leading(directory)));
    }
    found
}

/// What leads a working tree that was added to a repository to it, in the directory that it has there.
fn leading(directory: &Path) -> impl Iterator<Item = Protected> {
    let files = OF_GIT.iter().filter(|file| file.leads);
    files.map(|file| Protected { path: directory.join(file.name), absent: file.absent })
}

/// What makes git run something in a repository's directory and in those of its submodules, which lie in it. A command
/// may use these and make no new ones: git would take one for what was to be fetched.
fn of_git(directory: &Path) -> Vec<Protected> {
    let held = |directory: &Path| {
        let directory = directory.to_owned();
        OF_GIT.iter().map(move |file| Protected { path: directory.join(file.name), absent: file.absent })
    };
    let mut found: Vec<Protected> = held(directory).collect();
    let mut waiting = VecDeque::from([directory.join("modules")]);
    for _ in 0..MODULES_MAX {
        let Some(modules) = waiting.pop_front() else { break };
        let below = std::fs::read_dir(&modules).into_iter().flatten().flatten();
        let below = below.filter(|entry| entry.file_type().is_ok_and(|found| found.is_dir()));
        for path in below.map(|entry| entry.path()) {
            if path.join("config").exists() || may_be_repository(&path) {
                found.extend(held(&path));
                waiting.push_back(path.join("modules"));
            } else {
                // Names of submodules may have several parts.
                waiting.push_back(path);
            }
        }
        found.push(Protected { path: modules, absent: Absent::Additions });
    }
    found
}
