//! Working trees that `git worktree` has linked to a repository elsewhere: what `git commit` writes there.

use std::path::PathBuf;

use super::hooks_path::read;
use super::place::Kind;
use super::repository::{Repository, led};
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
    let pointer = workspace.base().join(".git");
    // A directory of that name is the repository itself, and could say anything of others.
    if !pointer.is_file() {
        return None;
    }
    let canonical = |path: PathBuf| resolve::canonical(&path).ok().map(|(real, _)| real);
    let Repository { own, common } = Repository::find(workspace)?;
    let (own, common) = (canonical(own)?, canonical(common)?);
    let back = canonical(led(&own, &read(workspace, &own.join("gitdir"))?)?)?;
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
