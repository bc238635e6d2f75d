//! What is protected, hidden and cached unless a caller says otherwise.

use std::path::{Path, PathBuf};

use crate::credentials::CREDENTIALS;
use crate::profile::{Absent, Protected};

/// Directories and files of a workspace by which programs are configured.
const CONFIGURATION: &[&str] = &[
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".envrc",
    ".gemini",
    ".gitmodules",
    ".haft",
    ".husky",
    ".idea",
    ".mcp.json",
    ".opencode",
    ".vscode",
    ".zed",
    "haft.json",
    "haft.jsonc",
    "opencode.json",
    "opencode.jsonc",
];

/// What makes git run something, in a repository's directory. Git fails where it finds a directory in place of some
/// of these files, so they are not masked.
const GIT: &[(&str, Absent)] = &[
    (".git/hooks", Absent::MaskWithin),
    (".git/config", Absent::MaskWithin),
    (".git/config.worktree", Absent::Remove),
    (".git/commondir", Absent::Remove),
    (".git/info/attributes", Absent::Remove),
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

/// What a workspace's root has that must not be changed.
pub(crate) fn protected(root: &Path) -> impl Iterator<Item = Protected> {
    let configuration =
        CONFIGURATION.iter().map(|name| Protected { path: root.join(name), absent: Absent::Remove });
    // A `.git` that is a file points elsewhere, and must go on doing so.
    let pointer = root.join(".git");
    let pointer = pointer.is_file().then_some(Protected { path: pointer, absent: Absent::Remove });
    let git = GIT.iter().map(|(name, absent)| Protected { path: root.join(name), absent: *absent });
    let git = git.filter(|_| pointer.is_none()).collect::<Vec<_>>();
    configuration.chain(pointer).chain(git).chain(submodules(root))
}

/// Submodules have repositories of their own within the outer one's.
fn submodules(root: &Path) -> Vec<Protected> {
    let modules = std::fs::read_dir(root.join(".git/modules")).into_iter().flatten().flatten();
    let held = |entry: std::fs::DirEntry| {
        ["config", "hooks"]
            .map(|name| Protected { path: entry.path().join(name), absent: Absent::MaskWithin })
    };
    modules.flat_map(held).collect()
}
