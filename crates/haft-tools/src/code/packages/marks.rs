//! What shows that a directory of the workspace has dependencies: names only, nothing is read.

use std::collections::VecDeque;
use std::fs::FileType;
use std::path::{Path, PathBuf};

/// So deep below the root of the workspace.
const DEPTH_MAX: usize = 3;
/// In so many directories.
const DIRECTORIES_MAX: usize = 2000;
/// So many names of one directory are looked at.
const NAMES_MAX: usize = 10_000;
/// Directories that hold what was built.
const BUILT: &[&str] = &["target", "dist", "build", "out"];

/// Something that shows dependencies. Paths are relative to the root of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// A lock file of cargo.
    CargoLock(PathBuf),
    /// The description of a Go module.
    GoMod(PathBuf),
    /// A directory of node packages.
    NodeModules(PathBuf),
    /// A directory of sources that were copied into the workspace.
    Vendor(PathBuf),
    /// A virtual environment of Python, and the packages in it.
    Environment { directory: PathBuf, packages: PathBuf },
}

/// What there is at the root of the workspace and some way below.
pub(super) fn marks(base: &Path) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut directories = VecDeque::from([(PathBuf::new(), 0)]);
    let mut seen = 0;
    while let Some((directory, depth)) = directories.pop_front() {
        seen += 1;
        if seen > DIRECTORIES_MAX {
            break;
        }
        let Ok(entries) = base.join(&directory).read_dir() else { continue };
        let entry = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry.ok()?;
            Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?))
        };
        let mut names: Vec<(String, FileType)> = entries.filter_map(entry).take(NAMES_MAX).collect();
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in names {
            let path = directory.join(&name);
            match mark(base, &name, kind, &path) {
                Some(mark) => marks.push(mark),
                None if kind.is_dir() && depth < DEPTH_MAX && is_entered(&name) => {
                    directories.push_back((path, depth + 1));
                }
                None => {}
            }
        }
    }
    marks
}

fn mark(base: &Path, name: &str, kind: FileType, path: &Path) -> Option<Mark> {
    let path = path.to_path_buf();
    match name {
        "Cargo.lock" if kind.is_file() => Some(Mark::CargoLock(path)),
        "go.mod" if kind.is_file() => Some(Mark::GoMod(path)),
        "node_modules" if kind.is_dir() => Some(Mark::NodeModules(path)),
        "vendor" if kind.is_dir() => Some(Mark::Vendor(path)),
        ".venv" | "venv" | "env" | ".env" if kind.is_dir() => {
            let packages = site_packages(&base.join(&path))?;
            let packages = packages.strip_prefix(base).ok()?.to_path_buf();
            Some(Mark::Environment { directory: path, packages })
        }
        _ => None,
    }
}

fn is_entered(name: &str) -> bool {
    !name.starts_with('.') && !BUILT.contains(&name)
}

/// Where a virtual environment has its packages.
pub(super) fn site_packages(environment: &Path) -> Option<PathBuf> {
    if !environment.join("pyvenv.cfg").exists() {
        return None;
    }
    let versions = environment.join("lib").read_dir().ok()?;
    let mut versions: Vec<PathBuf> = versions.filter_map(|entry| Some(entry.ok()?.path())).take(64).collect();
    versions.sort();
    versions.into_iter().map(|version| version.join("site-packages")).find(|packages| packages.is_dir())
}
