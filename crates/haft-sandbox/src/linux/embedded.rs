//! Repositories that a command adds to the index of another one: git would believe their configuration for `git status`
//! of the outer one. What runs something in them is taken away, or made what git would have made it; the rest stays.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::repositories::{self, Kept};
use crate::gitlinks::{files, gitlinks, repository};
use crate::harmless::is_harmless;
use crate::repository::open;

/// A configuration that is longer than this is not harmless.
const CONFIG_BYTES_MAX: u64 = 64 << 10;

/// Configuration without which git does not even look at the repository's files.
const PLAIN: &[u8] = b"[core]\n\trepositoryformatversion = 0\n";

/// What tells that a file is another one or was written.
type Stamp = Option<(u64, i64, i64, u64)>;

/// The index of a repository, as it was before the command.
pub(super) struct Index {
    /// The working tree it is of.
    tree: PathBuf,
    /// The repository's directories.
    git: Vec<PathBuf>,
    known: BTreeSet<PathBuf>,
    seen: RefCell<Vec<Stamp>>,
    added: RefCell<BTreeSet<PathBuf>>,
}

impl Index {
    /// Looks at the index of a working tree, if it has a repository. The path is `.git/index` there.
    pub(super) fn of(index: &Path) -> Option<Index> {
        let tree = index.parent()?.parent()?;
        let git = repository(tree);
        let own = git.first()?;
        Some(Index {
            tree: tree.to_owned(),
            known: gitlinks(own),
            seen: RefCell::new(stamps(own)),
            added: RefCell::default(),
            git,
        })
    }

    /// Takes away what runs something in repositories that were added; returns what that was.
    pub(super) fn undo(&self, is_writable: impl Fn(&Path) -> bool, displace: impl Fn(&Path)) -> Vec<PathBuf> {
        let Some(own) = self.git.first() else { return Vec::new() };
        let now = stamps(own);
        if *self.seen.borrow() != now {
            self.added.borrow_mut().extend(gitlinks(own).difference(&self.known).cloned());
            *self.seen.borrow_mut() = now;
        }
        let mut undone = Vec::new();
        for tree in self.added.borrow().iter().map(|link| self.tree.join(link)) {
            let directories = repository(&tree).into_iter().filter(|git| !self.git.contains(git));
            for path in directories.flat_map(|git| running(&git)).filter(|path| is_writable(path)) {
                displace(&path);
                if path.ends_with("config") {
                    repositories::put(&path, &Kept::File(PLAIN.to_vec()));
                }
                undone.push(path);
            }
        }
        undone
    }
}

fn stamps(git: &Path) -> Vec<Stamp> {
    let stamp = |path: &PathBuf| {
        let found = fs::symlink_metadata(path).ok()?;
        Some((found.ino(), found.ctime(), found.ctime_nsec(), found.size()))
    };
    files(git).iter().map(stamp).collect()
}

/// What of a repository runs something.
fn running(git: &Path) -> Vec<PathBuf> {
    let is_there = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
    let runs = |path: &PathBuf| is_there(path) && !is_read_as_harmless(path);
    let mut found: Vec<PathBuf> =
        ["config", "config.worktree"].map(|name| git.join(name)).into_iter().filter(runs).collect();
    let hooks = git.join("hooks");
    let is_sample = |name: &OsStr| name.as_encoded_bytes().ends_with(b".sample");
    let only_samples = fs::read_dir(&hooks)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_sample(&entry.file_name()))));
    found.extend((is_there(&hooks) && !only_samples).then_some(hooks));
    found
}

/// A command may put something else there at any moment, so what is judged is what was opened.
fn is_read_as_harmless(path: &Path) -> bool {
    let read = || {
        let file = open(path)?;
        let is_file = file.metadata()?.is_file();
        let mut text = String::new();
        file.take(CONFIG_BYTES_MAX + 1).read_to_string(&mut text)?;
        Ok::<_, io::Error>((is_file && text.len() as u64 <= CONFIG_BYTES_MAX).then_some(text))
    };
    read().is_ok_and(|text| text.is_some_and(|text| is_harmless(&text)))
}
