//! Sources: trees that are searched together, some of which may lie outside the workspace.
//!
//! Which trees there are is agreed to once; what is read afterwards lies in one of them, and is reached without following
//! a link.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use haft::permission::{Ask, Permit, Question, Reach, Resource, Showing};
use haft::{Action, visible};
use ignore::{WalkBuilder, WalkState};
use rustix::fs::{Dir, OFlags};

use super::Workspace;
use super::ask::leaving;
use super::file::Found;
use super::ignored::{check_ignore_files, has_sound_ignore_files};
use super::lead::{Candidate, Ground, Lead};
use super::place::Place;
use super::search::Watch;

/// So many entries are looked at.
const VISITED_MAX: usize = 2_000_000;
/// So many names of one directory are taken.
const NAMES_MAX: usize = 20_000;
/// No list of dependencies is larger.
const TEXT_BYTES_MAX: u64 = 8 << 20;
/// Directories of a tree that are never entered: they hold what was made, or what has a tree of its own.
const LEFT_OUT: &[&str] = &[".git", "node_modules", "__pycache__"];

/// Trees that are to be searched for something.
#[derive(Debug, Clone)]
pub(crate) struct SourcesTarget {
    trees: Vec<Place>,
    action: Action,
    query: String,
}

impl SourcesTarget {
    /// Trees to search, under the action its rules are filed under.
    pub(crate) fn new(trees: Vec<Place>, action: Action, query: &str) -> SourcesTarget {
        SourcesTarget { trees, action, query: query.to_owned() }
    }
}

impl Ask for SourcesTarget {
    /// Leaving the workspace comes first, for all trees at once, then what is looked for. What is found is judged file
    /// by file.
    fn questions(&self) -> Vec<Question> {
        let leaving = self.trees.iter().filter(|tree| !tree.is_inside()).map(leaving);
        let query = Question::new(self.action.clone(), Resource::new(&self.query)).saving("*");
        Question::merged(leaving).into_iter().chain([query]).collect()
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        let trees: Vec<String> = self.trees.iter().map(Place::shown).collect();
        let title = format!("{} {} in {}", self.action, visible(&self.query), trees.join(", "));
        Showing { title, detail: String::new() }
    }
}

/// Trees that may be searched. Each is known by its number.
#[derive(Clone)]
pub(crate) struct Sources {
    workspace: Workspace,
    trees: Vec<Place>,
}

/// What is to be walked of one tree.
pub(crate) struct Stroll {
    /// The tree.
    pub(crate) tree: usize,
    /// Paths below it, sorted, none of which lies in another.
    pub(crate) roots: Vec<PathBuf>,
    /// Whether ignore files count.
    pub(crate) ignoring: Ignoring,
    /// Paths below it that are not entered.
    pub(crate) except: Vec<PathBuf>,
}

/// What ignore files are to a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignoring {
    /// They name what nobody wants to see.
    Counts,
    /// They were written where the files came from, and say nothing here.
    MeansNothing,
}

impl Workspace {
    /// The trees that were approved to be searched.
    pub(crate) fn sources(&self, permit: Permit<SourcesTarget>) -> Sources {
        Sources { workspace: self.clone(), trees: permit.into_target().trees }
    }
}

impl Sources {
    /// How many trees there are.
    pub(crate) fn trees(&self) -> &[Place] {
        &self.trees
    }

    /// The sorted names in a directory of a tree; none if there is no such directory.
    pub(crate) fn names(&self, tree: usize, relative: &Path) -> Vec<String> {
        let real = self.trees[tree].real().join(relative);
        let (root, below) = self.workspace.root_of(&real);
        let opened = root.open_at(&below, OFlags::RDONLY | OFlags::DIRECTORY);
        let Ok(entries) = opened.and_then(|fd| Dir::read_from(&fd)) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().to_str().ok().map(str::to_owned));
        let mut names: Vec<String> =
            names.filter(|name| name != "." && name != "..").take(NAMES_MAX).collect();
        names.sort_unstable();
        names
    }

    /// The text of a file of a tree, if it is there and not too large.
    pub(crate) fn text(&self, tree: usize, relative: &Path) -> Option<String> {
        let Found::File(file, _) = self.workspace.open_place(self.candidate(tree, relative).place()).ok()?
        else {
            return None;
        };
        let mut text = String::new();
        let is_small = file.size() <= TEXT_BYTES_MAX;
        let read = file.into_file().take(TEXT_BYTES_MAX).read_to_string(&mut text);
        (is_small && read.is_ok()).then_some(text)
    }

    /// Where a path of a tree really leads, if that is in the same tree.
    pub(crate) fn within(&self, tree: usize, relative: &Path) -> Option<PathBuf> {
        let base = self.trees[tree].real();
        let real = base.join(relative).canonicalize().ok()?;
        real.strip_prefix(base).ok().map(Path::to_path_buf)
    }

    /// A file of a tree.
    pub(crate) fn candidate(&self, tree: usize, relative: &Path) -> Candidate {
        Candidate::below(&self.workspace, &self.trees[tree], relative)
    }

    /// Visits the files below some paths of a tree, side by side; each thread makes its own visitor. Says whether it
    /// came to the end.
    pub(crate) fn walk<V>(&self, stroll: &Stroll, watch: &Watch, make: impl Fn() -> V + Sync) -> bool
    where
        V: FnMut(&Lead<'_>) + Send,
    {
        let place = &self.trees[stroll.tree];
        let (Some(first), Ok(Found::Directory(fd))) =
            (stroll.roots.first(), self.workspace.open_place(place))
        else {
            return true;
        };
        let counts = stroll.ignoring == Ignoring::Counts;
        if counts && check_ignore_files(place).is_err() {
            return false;
        }
        let ground = Ground::new(&self.workspace, place, &fd);
        // A path joined with nothing would end in a slash.
        let at = |root: &PathBuf| match root.as_os_str().is_empty() {
            true => place.real().to_path_buf(),
            false => place.real().join(root),
        };
        let mut builder = WalkBuilder::new(at(first));
        stroll.roots[1..].iter().for_each(|root| {
            builder.add(at(root));
        });
        let except: Vec<PathBuf> = stroll.except.iter().map(|path| place.real().join(path)).collect();
        builder
            .hidden(true)
            .parents(counts)
            .ignore(counts)
            .git_ignore(counts)
            .git_global(counts)
            .git_exclude(counts)
            .require_git(false)
            .follow_links(false)
            .filter_entry(move |entry| {
                if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                    return true;
                }
                let is_left_out = LEFT_OUT.iter().any(|name| entry.file_name() == OsStr::new(name))
                    || except.iter().any(|path| path == entry.path());
                !is_left_out && (!counts || has_sound_ignore_files(entry.path()))
            });
        let visited = AtomicUsize::new(0);
        builder.build_parallel().run(|| {
            let mut visit = make();
            let (visited, ground) = (&visited, &ground);
            Box::new(move |entry| {
                if visited.fetch_add(1, Ordering::Relaxed) >= VISITED_MAX || watch.is_over() {
                    return WalkState::Quit;
                }
                if let Ok(entry) = entry
                    && entry.file_type().is_some_and(|kind| kind.is_file())
                    && let Some(lead) = ground.lead(entry.path())
                {
                    visit(&lead);
                }
                WalkState::Continue
            })
        });
        visited.into_inner() < VISITED_MAX && !watch.is_over()
    }
}
