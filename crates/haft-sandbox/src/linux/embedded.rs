//! Repositories that git looks into from another one since a command has changed an index: git would believe their
//! configuration for `git status` of the outer one. What runs something in them is taken away, or made what git would
//! have made it; the rest stays.
//!
//! An index leads to repositories whose indexes lead further, so whatever is reached is looked at. An index that a
//! command has changed to what git would not write, or that leads to more than can be looked at, is taken away itself;
//! one that may have things of the person's in it is kept beside.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::guard::Look;
use super::removal;
use super::repositories::{self, Kept};
use crate::gitlinks::{Links, Seen, looks, repository};
use crate::harmless::is_harmless;
use crate::profile::Absent;
use crate::repository::open;
use crate::stamp::Stamps;
use crate::trees::{Budget, below, others, real};

/// A configuration that is longer than this is not harmless.
const CONFIG_BYTES_MAX: u64 = 64 << 10;

/// Configuration without which git does not even look at the repository's files.
const PLAIN: &[u8] = b"[core]\n\trepositoryformatversion = 0\n";

/// The working trees that a person has, as they were before the command.
#[derive(Default)]
pub(super) struct Embedded {
    writable: Vec<PathBuf>,
    watched: Vec<Watched>,
    /// Where those trees are, be they watched or out of reach.
    trees: HashSet<PathBuf>,
    /// The directories of their repositories, whose configuration is the person's own and protected.
    known: BTreeSet<PathBuf>,
    /// What indexes were last seen to lead to.
    seen: RefCell<Seen>,
    /// What may be read before the command.
    budget: Budget,
}

struct Watched {
    tree: PathBuf,
    /// The repository's directories; none, if there was no repository.
    git: Vec<PathBuf>,
    before: Stamps,
    /// What the index led to, where its stamps would not tell that it changed.
    links: Option<Arc<Links>>,
    within: Within,
}

/// What was in directories that the index has as one entry each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// There are none.
    Nothing,
    Known,
    TooMuch,
}

/// What became of an index.
enum Became {
    Same,
    Changed,
    /// It looks the same, and there is too much to know it.
    Unknown,
}

impl Embedded {
    /// Nothing yet, where these directories may be changed.
    pub(super) fn within(writable: &[PathBuf]) -> Embedded {
        Embedded { writable: writable.to_vec(), ..Embedded::default() }
    }

    /// Looks after a working tree. The path is `.git/index` there.
    pub(super) fn watch(&mut self, index: &Path, absent: Absent) {
        let Some(tree) = index.parent().and_then(Path::parent) else { return };
        if !self.trees.insert(real(tree)) {
            return;
        }
        let git = repository(tree);
        self.known.extend(git.iter().cloned());
        let is_in_reach = |path: &Path| self.is_writable(path);
        if is_in_reach(tree) || git.first().is_some_and(|own| is_in_reach(own)) {
            let before = looks(&git);
            let links = if before.do_tell() && absent != Absent::GitlinksWithin {
                None
            } else {
                self.seen.get_mut().links(&git, before.clone(), &mut self.budget.index_bytes)
            };
            let within = match &links {
                Some(links) if links.directories.is_empty() => Within::Nothing,
                Some(links) if links.is_usual && below(tree, links, &mut self.budget).is_all => Within::Known,
                None if absent != Absent::GitlinksWithin => Within::Nothing,
                Some(_) | None => Within::TooMuch,
            };
            self.watched.push(Watched { tree: tree.to_owned(), git, before, links, within });
        }
    }

    pub(super) fn is_watchful(&self) -> bool {
        !self.watched.is_empty()
    }

    /// Takes away what runs something in repositories that are reached since; returns what that was.
    pub(super) fn undo(&self, look: Look, displace: &dyn Fn(&Path)) -> Vec<PathBuf> {
        if look == Look::Last {
            // What was written through a mapping of memory has the same stamp.
            self.seen.borrow_mut().clear();
        }
        let (mut kept, mut changed, mut budget) = (HashSet::new(), Vec::new(), Budget::default());
        for watched in &self.watched {
            let (is_kept, is_followed) = match self.became(watched, &mut budget) {
                Became::Same => (true, false),
                Became::Changed => (false, true),
                Became::Unknown => (true, true),
            };
            kept.extend(watched.git.first().filter(|_| is_kept));
            changed.extend(is_followed.then(|| watched.tree.clone()));
        }
        let budget = Budget::default();
        let (seen, undone) = (HashSet::new(), Vec::new());
        let mut walk = Walk { embedded: self, look, displace, kept, budget, seen, undone };
        // Trees may have been added to a repository.
        let repositories: BTreeSet<&PathBuf> =
            self.watched.iter().filter_map(|watched| watched.git.last()).collect();
        let new = repositories.into_iter().flat_map(|common| others(std::slice::from_ref(common)));
        let new = new.filter(|tree| !self.trees.contains(&real(tree)));
        for tree in changed.into_iter().chain(new) {
            walk.follow(tree);
        }
        walk.undone
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|root| path.starts_with(root))
    }

    fn became(&self, watched: &Watched, budget: &mut Budget) -> Became {
        let Watched { tree: _, git, before, links, within } = watched;
        let now = looks(git);
        if git.is_empty() || !before.are_still(&now) {
            return Became::Changed;
        }
        if !before.do_tell() {
            match (links, self.links(git, now, budget)) {
                (Some(links), Some(again)) if *links == again => {}
                (Some(_), Some(_)) => return Became::Changed,
                (None, _) | (_, None) => return Became::Unknown,
            }
        }
        // The same index leads further, if there is something new where it does not say what there is.
        match within {
            Within::Nothing => Became::Same,
            Within::Known => Became::Changed,
            Within::TooMuch => Became::Unknown,
        }
    }

    /// What an index leads to, if it may still be read.
    fn links(&self, git: &[PathBuf], now: Stamps, budget: &mut Budget) -> Option<Arc<Links>> {
        self.seen.borrow_mut().links(git, now, &mut budget.index_bytes)
    }
}

/// One look at all that is reached.
struct Walk<'a> {
    embedded: &'a Embedded,
    look: Look,
    displace: &'a dyn Fn(&Path),
    /// Directories of repositories whose index is as it was.
    kept: HashSet<&'a PathBuf>,
    budget: Budget,
    seen: HashSet<PathBuf>,
    undone: Vec<PathBuf>,
}

impl Walk<'_> {
    /// Looks into a working tree and all that is reached from it, but for those that are looked after themselves.
    fn follow(&mut self, first: PathBuf) {
        let entry = repository(&first);
        self.disarm(&entry);
        if self.follow_all(first).is_none()
            && let Some(own) = entry.first()
        {
            self.take_away(own);
        }
    }

    /// Nothing, if that is more than can be looked at.
    fn follow_all(&mut self, first: PathBuf) -> Option<()> {
        let mut waiting = VecDeque::from([first]);
        while let Some(tree) = waiting.pop_front() {
            let git = repository(&tree);
            let Some(own) = git.first() else { continue };
            self.budget.trees = self.budget.trees.checked_sub(1)?;
            let links = self.embedded.links(&git, looks(&git), &mut self.budget)?;
            if !links.is_usual {
                self.take_away(own);
            }
            let below = below(&tree, &links, &mut self.budget);
            for next in below.trees {
                let place = real(&next);
                if !self.embedded.trees.contains(&place) && self.seen.insert(place) {
                    // First of all, since it may take long to read their indexes.
                    self.disarm(&repository(&next));
                    waiting.push_back(next);
                }
            }
            below.is_all.then_some(())?;
        }
        Some(())
    }

    /// Takes away what runs something in a repository that is not the person's.
    fn disarm(&mut self, git: &[PathBuf]) {
        let unknown = git.iter().filter(|directory| !self.embedded.known.contains(*directory));
        let running = unknown.flat_map(|directory| running(directory));
        for path in running.filter(|path| self.embedded.is_writable(path)) {
            (self.displace)(&path);
            if path.ends_with("config") {
                repositories::put(&path, &Kept::File(PLAIN.to_vec()));
            }
            self.undone.push(path);
        }
    }

    /// Takes an index away that a command has made what nobody can rely on. `git reset` makes it anew.
    fn take_away(&mut self, own: &PathBuf) {
        let path = own.join("index");
        if self.look == Look::Passing || self.kept.contains(own) || !self.embedded.is_writable(&path) {
            return;
        }
        if !self.embedded.known.contains(own) || !removal::keep_beside(&path) {
            (self.displace)(&path);
        }
        self.undone.push(path);
    }
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::{Absent, Embedded, Look};

    fn shell(at: &Path, script: &str) {
        let done = Command::new("bash").args(["-ec", script]).current_dir(at).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    /// A file system in memory does not tell of what is written through a mapping of memory.
    #[test]
    fn what_is_written_without_a_trace_is_found_at_last() {
        let Ok(ws) = tempfile::tempdir_in("/dev/shm") else { return };
        let ws = ws.path().canonicalize().unwrap();
        let linked = "git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890";
        shell(&ws, &format!("git init -q . && git init -q in && git init -q xx && {linked},xx && sleep 2.1"));
        let mut embedded = Embedded::within(std::slice::from_ref(&ws));
        for index in [".git/index", "xx/.git/index"] {
            embedded.watch(&ws.join(index), Absent::Gitlinks);
        }
        let displace = |path: &Path| fs::remove_file(path).unwrap();
        assert!(embedded.undo(Look::Passing, &displace).is_empty());
        let before = fs::metadata(ws.join(".git/index")).unwrap().modified().unwrap();
        shell(
            &ws,
            "git -C in config core.fsmonitor x; python3 -c 'import mmap; file = open(\".git/index\", \"r+b\")
index = mmap.mmap(file.fileno(), 0); at = index.find(b\"xx\"); index[at:at + 2] = b\"in\"'",
        );
        assert_eq!(
            fs::metadata(ws.join(".git/index")).unwrap().modified().unwrap(),
            before,
            "it left a trace"
        );
        assert_eq!(embedded.undo(Look::Last, &displace), [ws.join("in/.git/config")]);
    }
}
