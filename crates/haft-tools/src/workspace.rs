//! The workspace: one place that resolves paths and performs effects on files.
//!
//! A path becomes a [`Place`], a place becomes a target, a target is approved, and only the permit for it reaches an
//! effect. Every file is opened from a directory that was opened once, without following a link, so what was decided
//! about is what is touched, or nothing is. Walking a tree lists names by path and follows no link; a file
//! that a search comes upon is opened like any other.

mod ask;
mod attributes;
mod change;
mod commit;
mod copy;
mod diff;
mod digest;
mod directory;
mod draft;
mod error;
mod file;
mod fold;
mod git_config;
mod git_programs;
mod guarded;
mod hooks_path;
mod image;
mod ignored;
mod last_written;
mod lead;
mod left;
mod linked;
mod lock;
mod place;
mod protected;
mod read;
mod readied;
mod repository;
mod resolve;
mod restore;
mod root;
mod search;
mod sources;
mod temporary;
mod sought;
mod vouching;
mod walk;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub(crate) use ask::leaving_action;
pub use change::{BlockedTarget, ChangeSet, Changed, FileChange};
pub(crate) use diff::{counted, difference};
pub use digest::Digest;
pub(crate) use digest::digest_of;
pub use directory::{DirectoryEntry, Entries, OpenedDirectory};
pub use draft::Draft;
pub(crate) use draft::Hold;
pub use error::{ResolveError, WorkspaceError};
pub use file::OpenedFile;
pub(crate) use file::{is_in_a_tree_of_the_kernel, is_of_the_kernel};
pub(crate) use guarded::Guarded;
pub use guarded::Guarding;
pub(crate) use lead::{Candidate, Lead, Unopened};
pub use left::{Before, LeftFile};
pub use place::{Kind, Place};
pub use read::{Opened, ReadTarget};
pub use readied::Readied;
pub use restore::DiskRestorer;
pub(crate) use search::{Hidden, Judged, Link, SearchSpec, SearchTarget, Watch};
pub(crate) use sought::Sought;
pub(crate) use sources::{Ignoring, Sources, SourcesTarget, Stroll};
pub use walk::{Tree, TreeSpec};

use haft::Action;
use haft::permission::Question;
use last_written::LastWritten;
use protected::Protection;
pub(crate) use root::Root;

/// The files of one location. Cloning it is cheap.
#[derive(Clone)]
pub struct Workspace(Arc<Shared>);

struct Shared {
    /// Where relative paths start.
    directory: Root,
    /// The root of the repository, where it is another directory.
    worktree: Option<Root>,
    /// The root of the disk, from which everything outside is reached.
    disk: Root,
    /// The roots as they were written, each with its canonical path.
    given: Vec<(PathBuf, PathBuf)>,
    /// What nobody may touch, and what of it everybody may.
    withheld: Vec<PathBuf>,
    lent: Vec<PathBuf>,
    /// What is protected besides what lies in the workspace.
    guarding: Guarding,
    /// One commit at a time: what a commit compared is what it replaces.
    commits: Mutex<()>,
    last_written: LastWritten,
    /// One change at a time, from writing it to knowing that it was seen.
    changes: tokio::sync::Mutex<()>,
}

impl Workspace {
    /// Opens a directory and, if it lies in a repository, the root of that repository.
    pub fn open(directory: &Path, worktree: Option<&Path>) -> io::Result<Workspace> {
        // A repository at the root of the disk would make everything inside.
        let worktree = worktree.filter(|path| *path != Path::new("/"));
        let given = [Some(directory), worktree].into_iter().flatten();
        let given =
            given.map(|path| Ok((resolve::normal(&std::path::absolute(path)?), path.canonicalize()?)));
        let given: Vec<_> = given.collect::<io::Result<_>>()?;
        let worktree = match worktree {
            Some(path) => Some(Root::open(&path.canonicalize()?)?),
            None => None,
        };
        Ok(Workspace(Arc::new(Shared {
            directory: Root::open(&directory.canonicalize()?)?,
            worktree,
            disk: Root::open(Path::new("/"))?,
            given,
            withheld: Vec::new(),
            lent: Vec::new(),
            guarding: Guarding::default(),
            commits: Mutex::new(()),
            last_written: LastWritten::default(),
            changes: tokio::sync::Mutex::new(()),
        })))
    }

    /// Where relative paths start, as a canonical path.
    pub fn directory(&self) -> &Path {
        self.0.directory.path()
    }

    /// The root of the repository, or else the directory, as a canonical path. Names are relative to it.
    pub fn base(&self) -> &Path {
        self.0.worktree.as_ref().unwrap_or(&self.0.directory).path()
    }

    /// The home directory, as far as it is known.
    fn home(&self) -> Option<&Path> {
        self.0.guarding.home.as_deref()
    }

    /// Finds out where a path leads. Nothing is opened.
    pub fn resolve(&self, path: &str) -> Result<Place, ResolveError> {
        let spelled = resolve::lexical(self.directory(), path)?;
        let (real, kind) = resolve::canonical(&spelled)?;
        if self.is_withheld(&real) {
            return Err(ResolveError::Withheld { path: haft::visible(&spelled.to_string_lossy()) });
        }
        Ok(Place::new(self, spelled, real, kind).spelled_as(path))
    }

    /// The same workspace, but nothing below these directories is anybody's to look at or to change, whoever agrees: they
    /// hold what decides about everything else. What is below the second ones is as any other file.
    #[must_use]
    pub fn withholding(self, directories: &[PathBuf], but: &[PathBuf]) -> Workspace {
        let canonical = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let known = paths.iter().filter_map(|path| resolve::canonical(path).ok());
            known.map(|(real, _)| real).collect()
        };
        let shared =
            Arc::into_inner(self.0).expect("a workspace is told what it withholds before it is shared");
        Workspace(Arc::new(Shared { withheld: canonical(directories), lent: canonical(but), ..shared }))
    }

    /// Whether a canonical path is nobody's.
    pub(crate) fn is_withheld(&self, real: &Path) -> bool {
        let is_below = |paths: &[PathBuf]| paths.iter().any(|path| real.starts_with(path));
        is_below(&self.0.withheld) && !is_below(&self.0.lent)
    }

    /// Finds out where an absolute path leads that no tool was given: `..` behind a link is taken as the kernel would.
    pub(crate) fn locate(&self, path: &Path) -> Result<Place, ResolveError> {
        let (real, kind) = resolve::canonical(path)?;
        Ok(Place::new(self, resolve::normal(path), real, kind))
    }

    /// The same workspace, where more is protected than what lies in it.
    #[must_use]
    pub fn guarding(self, guarding: Guarding) -> Workspace {
        let shared = Arc::into_inner(self.0).expect("a workspace is told what it guards before it is shared");
        Workspace(Arc::new(Shared { guarding, ..shared }))
    }

    /// What is protected by where it lies, as it is now.
    pub(crate) fn guarded(&self) -> Guarded {
        guarded::find(self)
    }

    /// The directories elsewhere that git writes to when something is committed here.
    pub(crate) fn written_by_git(&self) -> Vec<PathBuf> {
        linked::written_by_git(self)
    }

    /// Whether a path is what leads a working tree into a directory of git's.
    pub(crate) fn leads_into(&self, pointer: &Path, directory: &Path) -> bool {
        repository::leads_into(self, pointer, directory)
    }

    /// The questions whether a place may be changed under an action.
    pub(crate) fn changing_questions(&self, place: &Place, action: &Action) -> Vec<Question> {
        ask::questions(place, self.protection(place), action)
    }

    /// The question whether a place that is protected may be changed.
    pub(crate) fn changing_protected(&self, guarded: &Guarded, place: &Place) -> Option<Question> {
        match self.protection_by(guarded, place) {
            Protection::None => None,
            Protection::Protected => Some(ask::protected(place)),
        }
    }

    /// Waits until no other call of this process is between changing a file and noting what is in it now. It is not to
    /// be held while a person is asked.
    pub(crate) async fn alone(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.changes.lock().await
    }

    /// The roots that count as inside, the repository's first.
    fn roots(&self) -> impl Iterator<Item = &Root> {
        self.0.worktree.iter().chain([&self.0.directory])
    }

    /// The opened root that a place is reached from.
    fn root_of(&self, real: &Path) -> (&Root, PathBuf) {
        let within = |root| Some((root, Root::relative(root, real)?));
        let inside = self.roots().find_map(within);
        inside.or_else(|| within(&self.0.disk)).unwrap_or_else(|| (&self.0.disk, real.to_owned()))
    }

    /// The path with a root's own spelling replaced by the canonical one, so that a link above the root is no link.
    fn respelled(&self, spelled: &Path) -> PathBuf {
        let via = |(given, real): &(PathBuf, PathBuf)| Some(real.join(spelled.strip_prefix(given).ok()?));
        self.0.given.iter().find_map(via).unwrap_or_else(|| spelled.to_owned())
    }
}

/// Resolves a path in the root of the disk, for fuzzers: nothing of its spelling is left, and what exists is where the
/// kernel says it is.
pub(crate) fn check_path(path: &str) {
    let Ok(spelled) = resolve::lexical(Path::new("/tmp"), path) else { return };
    assert!(spelled.is_absolute() && spelled == resolve::normal(&spelled), "{path:?}");
    let Ok((real, kind)) = resolve::canonical(&spelled) else { return };
    match spelled.canonicalize() {
        Ok(known) => assert_eq!(known, real, "{path:?}"),
        Err(_) => {
            assert!(kind == Kind::Missing || real.symlink_metadata().is_err() || !real.exists(), "{path:?}")
        }
    }
}

/// Whether what a path names itself, not what it leads to, is a link.
pub(crate) fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

#[cfg(test)]
mod tests;
