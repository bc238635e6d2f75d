//! Repositories that git looks into from another one since a command has changed an index: git would believe their
//! configuration for `git status` of the outer one. What runs something in them is taken away, or made what git would
//! have made it; the rest stays.
//!
//! An index leads to repositories whose indexes lead further, so whatever is reached is looked at. An index that a
//! command has changed to what git would not write, or that leads to more than can be looked at, is taken away itself.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::guard::Look;
use super::repositories::{self, Kept};
use crate::gitlinks::{Links, Seen, files, gitlinks, repository};
use crate::harmless::is_harmless;
use crate::repository::open;
use crate::stamp::{Stamps, stamps};
use crate::trees::{LINKS_MAX, TREES_MAX, others, real};

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
}

struct Watched {
    tree: PathBuf,
    /// The repository's directories; none, if there was no repository.
    git: Vec<PathBuf>,
    before: Stamps,
}

impl Embedded {
    /// Nothing yet, where these directories may be changed.
    pub(super) fn within(writable: &[PathBuf]) -> Embedded {
        Embedded { writable: writable.to_vec(), ..Embedded::default() }
    }

    /// Looks after a working tree. The path is `.git/index` there.
    pub(super) fn watch(&mut self, index: &Path) {
        let Some(tree) = index.parent().and_then(Path::parent) else { return };
        if !self.trees.insert(real(tree)) {
            return;
        }
        let git = repository(tree);
        self.known.extend(git.iter().cloned());
        let is_in_reach = |path: &Path| self.is_writable(path);
        if is_in_reach(tree) || git.first().is_some_and(|own| is_in_reach(own)) {
            let before = looks(&git);
            self.watched.push(Watched { tree: tree.to_owned(), git, before });
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
        let (changed, same): (Vec<&Watched>, Vec<&Watched>) = self
            .watched
            .iter()
            .partition(|watched| watched.git.is_empty() || !watched.before.are_surely(&looks(&watched.git)));
        let kept = same.iter().filter_map(|watched| watched.git.first()).collect();
        let mut walk =
            Walk { embedded: self, look, displace, kept, seen: HashSet::new(), undone: Vec::new() };
        // Trees may have been added to a repository.
        let repositories: BTreeSet<&PathBuf> =
            self.watched.iter().filter_map(|watched| watched.git.last()).collect();
        let new = repositories.into_iter().flat_map(|common| others(std::slice::from_ref(common)));
        let new = new.filter(|tree| !self.trees.contains(&real(tree)));
        for tree in changed.into_iter().map(|watched| watched.tree.clone()).chain(new) {
            walk.follow(tree);
        }
        walk.undone
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|root| path.starts_with(root))
    }

    /// What an index leads to. One that was seen is not read again.
    fn links(&self, git: &[PathBuf]) -> Arc<Links> {
        let Some(own) = git.first() else { return Arc::default() };
        let now = looks(git);
        if let Some((then, links)) = self.seen.borrow().get(own)
            && *then == now
        {
            return links.clone();
        }
        let links = Arc::new(gitlinks(git));
        self.seen.borrow_mut().insert(own.clone(), (now, links.clone()));
        links
    }
}

/// The stamps of an index.
fn looks(git: &[PathBuf]) -> Stamps {
    stamps(git.first().into_iter().flat_map(|own| files(own)))
}

/// One look at all that is reached.
struct Walk<'a> {
    embedded: &'a Embedded,
    look: Look,
    displace: &'a dyn Fn(&Path),
    /// Directories of repositories whose index is as it was.
    kept: HashSet<&'a PathBuf>,
    seen: HashSet<PathBuf>,
    undone: Vec<PathBuf>,
}

impl Walk<'_> {
    /// Looks into a working tree and all that is reached from it, but for those that are looked after themselves.
    fn follow(&mut self, first: PathBuf) {
        let entry = repository(&first).into_iter().next();
        let mut waiting = VecDeque::from([first]);
        let (mut trees_left, mut links_left) = (TREES_MAX, LINKS_MAX);
        while let Some(tree) = waiting.pop_front() {
            let git = repository(&tree);
            let Some(own) = git.first() else { continue };
            self.disarm(&git);
            let links = self.embedded.links(&git);
            if !links.is_usual {
                self.take_away(own);
            }
            let left = (trees_left.checked_sub(1), links_left.checked_sub(links.paths.len()));
            let (Some(trees), Some(more)) = left else {
                entry.iter().for_each(|own| self.take_away(own));
                return;
            };
            (trees_left, links_left) = (trees, more);
            for next in links.paths.iter().map(|link| tree.join(link)) {
                let place = real(&next);
                if !self.embedded.trees.contains(&place) && self.seen.insert(place) {
                    waiting.push_back(next);
                }
            }
        }
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
        if self.look == Look::Last && !self.kept.contains(own) && self.embedded.is_writable(&path) {
            (self.displace)(&path);
            self.undone.push(path);
        }
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
