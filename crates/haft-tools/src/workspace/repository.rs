//! Where git keeps what belongs to a working tree, found without running git.

use std::path::{Path, PathBuf};

use haft_sandbox::may_be_repository;

use super::Workspace;
use super::hooks_path::read;
use super::resolve::PATH_BYTES_MAX;

/// The directories of git for a working tree.
pub(super) struct Repository {
    /// Its own: `.git`, what a file of that name points to, or the directory itself.
    pub(super) own: PathBuf,
    /// The one that it shares with other working trees; mostly the same.
    pub(super) common: PathBuf,
}

impl Repository {
    /// Finds the repository at the root of a workspace. None where a file leads nowhere.
    pub(super) fn find(workspace: &Workspace) -> Option<Repository> {
        let base = workspace.base();
        let git = base.join(".git");
        let own = match read(workspace, &git) {
            Some(pointer) => led(base, pointer.trim().strip_prefix("gitdir:")?)?,
            None if !git.exists() && may_be_repository(base) => base.to_owned(),
            None => git,
        };
        let common = match read(workspace, &own.join("commondir")) {
            Some(pointer) => led(&own, &pointer)?,
            None => own.clone(),
        };
        Some(Repository { own, common })
    }
}

/// Whether a path is the `.git` of a working tree that leads into a directory.
pub(super) fn leads_into(workspace: &Workspace, pointer: &Path, directory: &Path) -> bool {
    let tree = pointer.parent().filter(|_| pointer.ends_with(".git"));
    let own = tree.and_then(|tree| led(tree, read(workspace, pointer)?.trim().strip_prefix("gitdir:")?));
    own.and_then(|own| own.canonicalize().ok()).is_some_and(|own| own.starts_with(directory))
}

/// Where a line of a file leads from a directory. Nothing is where the kernel takes no path.
pub(super) fn led(from: &Path, line: &str) -> Option<PathBuf> {
    let path = line.trim();
    (path.len() < PATH_BYTES_MAX).then(|| from.join(path))
}
