//! What git executes in a workspace, by the configuration of the repository and by the person's own, found without running
//! git: the directories its hooks come from, the files its configuration includes, and the programs that either names.
//!
//! Every entry counts, not only the one that is in force: protecting too much asks a question too many, protecting too
//! little runs somebody's code.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};

use haft_sandbox::{OF_GIT, working_trees};

use super::file::{Found, OpenedFile};
use super::git_config::{Entry, entries};
use super::git_programs::{files, is_relative, is_run, path};
use super::place::{Kind, Place};
use super::repository::{Repository, led};
use super::{Workspace, resolve};

/// So much of a configuration file is read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// So many configuration files are followed.
const FILES_MAX: usize = 32;
/// So many directories and files that a configuration file names are followed.
const NAMED_MAX: usize = 1024;
/// So many programs are protected, in all working trees together.
const PROGRAMS_MAX: usize = 1024;
/// So many directories are looked into for submodules.
const MODULES_MAX: usize = 256;

/// What git executes or is configured by, beyond its own directory.
#[derive(Default)]
pub(super) struct Executed {
    /// Files and directories, in canonical paths.
    pub(super) trees: Vec<PathBuf>,
    /// Programs as they are named, be they there or not.
    pub(super) programs: Vec<PathBuf>,
}

/// Finds everything that git executes or is configured by.
pub(super) fn executed_by_git(workspace: &Workspace) -> Executed {
    let (base, guarding) = (workspace.base(), &workspace.0.guarding);
    let home = guarding.home.as_deref();
    let mut found = Executed::default();
    let mut configs: VecDeque<PathBuf> = guarding.of_git.iter().cloned().collect();
    let mut run = Vec::new();
    if let Some(Repository { own, common }) = Repository::find(workspace) {
        configs.extend([own.join("config.worktree"), common.join("config")]);
        if own != base.join(".git") {
            found.trees.extend([&own, &common].into_iter().flat_map(|of_git| held(of_git)));
        }
        found.trees.extend(worktrees(&common.join("worktrees")));
        submodules(workspace, &common.join("modules"), &mut found);
    }
    for _ in 0..FILES_MAX {
        let Some(file) = configs.pop_front() else { break };
        let Some(text) = read(workspace, &file) else { continue };
        let named = entries(&text).into_iter().filter_map(|entry| Some((Named::of(&entry)?, entry.value)));
        for (named, value) in named.take(NAMED_MAX) {
            let from = match named {
                Named::Program => {
                    run.push(value);
                    continue;
                }
                Named::Directory => base,
                Named::Configuration => file.parent().unwrap_or(base),
            };
            let Some(path) = path(&value, from, home) else { continue };
            found.trees.extend(resolve::canonical(&path).ok().map(|(real, _)| real));
            if named == Named::Configuration {
                configs.push_back(path);
            }
        }
    }
    // Git starts programs at the top of each working tree that it looks into.
    let trees = if run.iter().any(|value| is_relative(value)) { working_trees(base) } else { Vec::new() };
    for value in &run {
        let others = trees.iter().filter(|tree| *tree != base && is_relative(value));
        for top in std::iter::once(base).chain(others.map(PathBuf::as_path)) {
            if found.programs.len() < PROGRAMS_MAX {
                found.programs.extend(files(value, top, home));
            }
        }
    }
    found
}

/// What the value of an entry names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Program,
    /// A directory of hooks, or one that new repositories are made like.
    Directory,
    /// A file that is read as if it stood there.
    Configuration,
}

impl Named {
    fn of(entry: &Entry) -> Option<Named> {
        match (entry.section.as_str(), &entry.subsection, entry.key.as_str()) {
            ("core", None, "hookspath") | ("init", None, "templatedir") => Some(Named::Directory),
            ("include", None, "path") | ("includeif", Some(_), "path") => Some(Named::Configuration),
            _ => is_run(entry).then_some(Named::Program),
        }
    }
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
fn submodules(workspace: &Workspace, modules: &Path, found: &mut Executed) {
    let mut directories = VecDeque::from([modules.to_owned()]);
    for _ in 0..MODULES_MAX {
        let Some(directory) = directories.pop_front() else { break };
        let config = directory.join("config");
        if let Some(text) = config.is_file().then(|| read(workspace, &config)).flatten() {
            found.trees.extend(held(&directory));
            let entries = entries(&text);
            let is_worktree = |entry: &&Entry| entry.section == "core" && entry.key == "worktree";
            let worktree = entries.iter().find(is_worktree).and_then(|entry| led(&directory, &entry.value));
            if let Some(worktree) = worktree {
                let pointer = resolve::canonical(&worktree.join(".git")).ok();
                found.trees.extend(pointer.map(|(real, _)| real));
                let top = resolve::normal(&worktree);
                let home = workspace.0.guarding.home.as_deref();
                let run = entries.iter().filter(|entry| is_run(entry)).take(NAMED_MAX);
                found.programs.extend(run.flat_map(|entry| files(&entry.value, &top, home)));
            }
            // Its own submodules, if it has any.
            directories.push_back(directory.join("modules"));
            continue;
        }
        let below = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        let below = below.filter(|entry| entry.file_type().is_ok_and(|found| found.is_dir()));
        directories.extend(below.map(|entry| entry.path()).take(MODULES_MAX));
    }
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
