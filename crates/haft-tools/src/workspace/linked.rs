//! Working trees that `git worktree` has linked to a repository elsewhere: what `git commit` writes there.

use std::path::PathBuf;

use super::hooks_path::read;
use super::place::Kind;
use super::{Workspace, resolve};

/// What a commit changes in the repository itself. The rest of it, other working trees among it, stays as it is.
const OF_A_COMMIT: [&str; 3] = ["objects", "refs", "logs"];

/// The directories outside a linked working tree that git writes to when something is committed in it. Only where the
/// repository knows of the working tree: a file that came with a project could name anybody's repository. A repository
/// that lies in the workspace knows whatever a command has written into it, and needs nothing besides.
pub(super) fn written_by_git(workspace: &Workspace) -> Vec<PathBuf> {
    found(workspace).unwrap_or_default()
}

fn found(workspace: &Workspace) -> Option<Vec<PathBuf>> {
    let base = workspace.base();
    let pointer = base.join(".git");
    let canonical = |path: PathBuf| resolve::canonical(&path).ok().map(|(real, _)| real);
    let own = read(workspace, &pointer)?;
    let own = canonical(base.join(own.trim().strip_prefix("gitdir:")?.trim()))?;
    let back = canonical(own.join(read(workspace, &own.join("gitdir"))?.trim()))?;
    let common = canonical(own.join(read(workspace, &own.join("commondir"))?.trim()))?;
    let is_linked = back == canonical(pointer)? && own.parent() == Some(&common.join("worktrees"));
    let is_elsewhere = workspace.roots().all(|root| !common.starts_with(root.path()));
    // What is a link leads to something else than git means.
    let is_itself = |path: &PathBuf| {
        resolve::canonical(path).is_ok_and(|(real, kind)| real == *path && kind == Kind::Directory)
    };
    let shared = OF_A_COMMIT.map(|name| common.join(name)).into_iter();
    let written = std::iter::once(own).chain(shared).filter(is_itself);
    (is_linked && is_elsewhere).then(|| written.collect())
}
