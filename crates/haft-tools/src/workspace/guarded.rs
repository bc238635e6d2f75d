//! What is protected by where it lies and not by its name: what is the person's own, and what protected names lead to.
//!
//! Whoever changes what a link leads to changes what is read through it. So every link is followed that stands in the
//! place of a protected file or anywhere in a protected directory, and what it leads to is protected like itself, for
//! tools and for commands. It is looked for each time, because links come and go; how much is looked at is bounded.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use haft_sandbox::{DIRECTORIES, FILES, OF_GIT, may_be_repository};

use super::place::Kind;
use super::{Workspace, hooks_path, is_link, resolve};

/// So many entries of a protected directory are looked at, those that lie less deep first.
const ENTRIES_MAX: usize = 4096;

/// Directories that are not looked into: what is installed there was not put together by hand.
const PASSED_OVER: &[&str] = &[".git", "node_modules"];

/// What of a home directory makes programs run something at a login or for every repository.
const OF_HOME: &[&str] = &[
    ".bash_aliases",
    ".config/autostart",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/systemd",
    ".local/bin",
    ".opencode",
    ".pam_environment",
];

/// What is protected besides what lies in a workspace.
#[derive(Debug, Clone, Default)]
pub struct Guarding {
    /// The home directory: its credentials, and what is run at a login.
    pub home: Option<PathBuf>,
    /// Files and directories of the person's own configuration.
    pub configuration: Vec<PathBuf>,
    /// The person's own configuration of git: what it includes, and programs that it names, are protected, too.
    pub of_git: Vec<PathBuf>,
    /// Directories whose configuration is believed wherever they lie.
    pub believed: Vec<PathBuf>,
    /// Where it stands which protected files somebody was let write, for those who look after commands.
    pub custody: Option<PathBuf>,
}

/// What is protected by where it lies, in canonical paths.
#[derive(Debug, Default)]
pub(crate) struct Guarded {
    /// Files, and directories with everything below.
    pub(super) trees: Vec<PathBuf>,
    /// Links that lead to those, each for itself.
    pub(super) links: Vec<PathBuf>,
}

impl Guarded {
    /// All of them.
    pub(crate) fn paths(self) -> impl Iterator<Item = PathBuf> {
        self.trees.into_iter().chain(self.links)
    }
}

/// Finds all that is protected by where it lies.
pub(super) fn find(workspace: &Workspace) -> Guarded {
    let guarding = &workspace.0.guarding;
    let mut search = Search { workspace, guarded: Guarded::default() };
    let executed = hooks_path::executed_by_git(workspace);
    search.guarded.trees = executed.trees;
    executed.programs.iter().for_each(|path| search.guard(path));
    for path in &guarding.configuration {
        search.guard(path);
        search.look_into(path);
    }
    if let Some(home) = &guarding.home {
        // What nobody may touch anyway needs no question.
        let secrets = haft_sandbox::secrets(home).filter(|path| !workspace.is_withheld(path));
        secrets.for_each(|path| search.guard(&path));
        OF_HOME.iter().chain(FILES).for_each(|name| search.guard(&home.join(name)));
    }
    let (base, directory) = (workspace.base(), workspace.directory());
    let levels = directory.ancestors().take_while(|level| level.starts_with(base) && *level != base);
    for level in levels.chain([base]).chain(guarding.believed.iter().map(PathBuf::as_path)) {
        search.level(level);
    }
    let Guarded { mut trees, mut links } = search.guarded;
    for paths in [&mut trees, &mut links] {
        paths.sort();
        paths.dedup();
    }
    Guarded { trees, links }
}

struct Search<'w> {
    workspace: &'w Workspace,
    guarded: Guarded,
}

impl Search<'_> {
    /// Follows what stands under a protected name in a directory.
    fn level(&mut self, level: &Path) {
        for path in FILES.iter().map(|name| level.join(name)) {
            if is_link(&path) {
                self.guard(&path);
            }
        }
        for path in DIRECTORIES.iter().map(|name| level.join(name)) {
            self.directory(&path);
        }
        // The repository's directory may itself be reached by a link; it is no more protected for that.
        let git = level.join(".git");
        let git = git.exists().then(|| git.canonicalize().ok()).flatten();
        let bare = may_be_repository(level).then(|| level.to_owned());
        for directory in git.into_iter().chain(bare) {
            let names = OF_GIT.iter().map(|file| file.name).chain(["info"]);
            names.for_each(|name| self.directory(&directory.join(name)));
        }
    }

    /// What a protected path leads to, if it is a link, and what the links in it lead to.
    fn directory(&mut self, path: &Path) {
        let Ok(found) = fs::symlink_metadata(path) else { return };
        if found.is_symlink() {
            self.guard(path);
        }
        if !found.is_file() {
            self.look_into(path);
        }
    }

    /// Protects what a path leads to, and every link on the way.
    fn guard(&mut self, path: &Path) {
        let links = &mut self.guarded.links;
        let real = match resolve::has_no_links(path) {
            true => path.to_owned(),
            false => match resolve::followed(path, |link| links.push(link.to_owned())) {
                Ok((real, _)) => real,
                Err(_) => return,
            },
        };
        if !self.holds_the_workspace(&real) {
            self.guarded.trees.push(real);
        }
    }

    /// Protects what the links in a directory lead to, however deep they are.
    fn look_into(&mut self, directory: &Path) {
        let Ok((top, Kind::Directory)) = resolve::canonical(directory) else { return };
        let mut left = ENTRIES_MAX;
        let mut waiting = VecDeque::from([top.clone()]);
        let mut seen = HashSet::new();
        while let Some(directory) = waiting.pop_front() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                left -= 1;
                if left == 0 {
                    return;
                }
                let Ok(kind) = entry.file_type() else { continue };
                if PASSED_OVER.iter().any(|name| entry.file_name() == *name) {
                    continue;
                }
                if kind.is_dir() {
                    waiting.push_back(entry.path());
                } else if kind.is_symlink()
                    && let Some(led) = self.follow(&entry.path(), &top)
                    && seen.insert(led.clone())
                {
                    waiting.push_back(led);
                }
            }
        }
    }

    /// Protects what a link in a protected directory leads to, and every link on the way, as far as they are not in that
    /// directory anyway. Returns the directory that is to be looked into for that.
    fn follow(&mut self, link: &Path, within: &Path) -> Option<PathBuf> {
        let mut links = Vec::new();
        let (real, kind) = resolve::followed(link, |link| links.push(link.to_owned())).ok()?;
        self.guarded.links.extend(links.into_iter().filter(|link| !link.starts_with(within)));
        if real.starts_with(within) || self.holds_the_workspace(&real) {
            return None;
        }
        self.guarded.trees.push(real.clone());
        (kind == Kind::Directory).then_some(real)
    }

    /// What holds the whole workspace would protect all of it, and no work could be done.
    fn holds_the_workspace(&self, real: &Path) -> bool {
        self.workspace.roots().any(|root| root.path().starts_with(real))
    }
}
