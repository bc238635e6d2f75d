//! Searching: the files below a directory that somebody was allowed to search, the newest first.
//!
//! The walk is parallel and lists names by path. A file's content is reached only through a [`Lead`] or a
//! [`Candidate`], which only a permitted walk makes, and which is opened like any other place: beneath its root,
//! without following a link.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use haft::permission::{Ask, Permit, Question, Reach, Resource, Showing};
use haft::{Action, visible};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{WalkBuilder, WalkState};

use super::Workspace;
use super::ask::{leaving, leaving_by_link, looking};
use super::error::WorkspaceError;
use super::file::Found;
use super::ignored::{check_ignore_files, has_sound_ignore_files};
use super::lead::{Ground, Lead};
use super::place::{Kind, Place};
use super::sought::{Part, Sought};
use crate::blocking::{Stop, blocking};

/// So many entries are looked at.
const VISITED_MAX: usize = 5_000_000;
/// So long after the deadline a search is waited for.
const LATENESS_MAX: Duration = Duration::from_secs(1);

/// A place that is to be searched for a pattern.
#[derive(Debug, Clone)]
pub(crate) struct SearchTarget {
    place: Place,
    action: Action,
    pattern: String,
    link: Link,
}

/// Whether the link that leads out of the workspace is itself what the rules speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// Only what is really there counts.
    Resolved,
    /// A rule names the link, so its spelling counts beside what is really there.
    Named,
}

impl SearchTarget {
    /// A place to search, under the action its rules are filed under.
    pub(crate) fn new(place: Place, action: Action, pattern: &str, link: Link) -> SearchTarget {
        SearchTarget { place, action, pattern: pattern.to_owned(), link }
    }
}

impl Ask for SearchTarget {
    /// Leaving the workspace comes first, then the pattern. One file that is named is read, so it is asked for as such;
    /// what is found below a directory is judged file by file.
    fn questions(&self) -> Vec<Question> {
        let leaving = (!self.place.is_inside()).then(|| match self.link {
            Link::Resolved => leaving(&self.place),
            Link::Named => leaving_by_link(&self.place),
        });
        let pattern = Question::new(self.action.clone(), Resource::new(&self.pattern)).saving("*");
        let reading = (self.place.kind() == Kind::File).then(|| looking(&self.place));
        leaving.into_iter().chain([pattern]).chain(reading).collect()
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        let title = format!("{} {} in {}", self.action, visible(&self.pattern), self.place.shown());
        Showing { title, detail: String::new() }
    }
}

/// Which files a search considers, how many it keeps, and when it gives up.
#[derive(Debug, Clone)]
pub(crate) struct SearchSpec {
    /// A glob their paths must match, relative to the directory. `!` before it means: must not.
    pub(crate) include: Option<String>,
    /// Whether names that begin with a dot count.
    pub(crate) hidden: Hidden,
    /// So many files are kept, the newest.
    pub(crate) files_max: usize,
    /// A search that takes longer shows what it has found by then.
    pub(crate) deadline: Instant,
}

/// What becomes of names that begin with a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// They are searched like others.
    Search,
    /// They are passed over.
    Skip,
}

/// What a closer look at a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// It is one of those looked for.
    Match,
    /// It is not, or it is gone.
    NoMatch,
    /// It is not text.
    Binary,
    /// It could not be read.
    Unreadable,
}

/// Tells when to give up: nobody waits any more, or it took too long.
#[derive(Clone)]
pub(crate) struct Watch {
    stop: Stop,
    deadline: Instant,
}

impl Watch {
    pub(crate) fn new(stop: &Stop, deadline: Instant) -> Watch {
        Watch { stop: stop.clone(), deadline }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_set() || Instant::now() >= self.deadline
    }

    /// Does something that asks [`is_over`](Watch::is_over) now and then, but perhaps not soon enough: matching one
    /// long line against one bad pattern can take minutes. `None` if it still goes on some time after the deadline; it
    /// is left to itself then, and ends when it next asks.
    pub(crate) fn wait_for<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, finished) = mpsc::channel();
        let worker = std::thread::spawn(move || drop(done.send(work())));
        let time = self.deadline.saturating_duration_since(Instant::now()) + LATENESS_MAX;
        match finished.recv_timeout(time) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            // It panicked, and so does whoever waits for it.
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Ok(()) => None,
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }
}

impl Workspace {
    /// Finds the files below the approved directory, or the approved file, that a judge says are looked for. Each
    /// thread makes its own judge. Links are never followed, and no `.git` is entered.
    pub(crate) async fn search<J>(
        &self,
        permit: Permit<SearchTarget>,
        spec: SearchSpec,
        judge: impl Fn(Watch) -> J + Send + Sync + 'static,
    ) -> Result<Sought, WorkspaceError>
    where
        J: FnMut(&Lead<'_>) -> Judged + Send,
    {
        let workspace = self.clone();
        blocking(move |stop| {
            let watch = Watch::new(stop, spec.deadline);
            let (place, files_max) = (permit.into_target().place, spec.files_max);
            let all = Arc::new(Mutex::new(Sought::default()));
            let (base, gathered, waiting) = (place.clone(), all.clone(), watch.clone());
            let done = waiting.wait_for(move || {
                let make = || judge(watch.clone());
                match workspace.open_place(&place)? {
                    Found::File(file, _) => {
                        let ground = Ground::new(&workspace, &place, &file.into_file());
                        alone(&ground, &gathered, &watch, make());
                        Ok(())
                    }
                    Found::Directory(fd) => {
                        below(&Ground::new(&workspace, &place, &fd), &gathered, &spec, &watch, &make)
                    }
                    Found::Missing => Err(WorkspaceError::Missing { path: place.shown() }),
                }
            });
            let is_late = done.is_none();
            done.transpose()?;
            Ok(Sought::joined(&all, files_max, is_late).at(base))
        })
        .await
    }
}

fn below<J>(
    ground: &Ground<'_>,
    all: &Mutex<Sought>,
    spec: &SearchSpec,
    watch: &Watch,
    make: &(dyn Fn() -> J + Sync),
) -> Result<(), WorkspaceError>
where
    J: FnMut(&Lead<'_>) -> Judged + Send,
{
    let include = include(ground.place(), spec)?;
    check_ignore_files(ground.place())?;
    let (visited, unsound) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let left_out = unsound.clone();
    let walk = WalkBuilder::new(ground.place().real())
        .hidden(spec.hidden == Hidden::Skip)
        .require_git(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_git = entry.file_name() == OsStr::new(".git");
            let is_sound = is_git || !is_directory || has_sound_ignore_files(entry.path());
            left_out.fetch_add(usize::from(!is_sound), Ordering::Relaxed);
            !is_git && is_sound
        })
        .build_parallel();
    walk.run(|| {
        let mut part = Part::new(all, spec.files_max);
        let mut judge = make();
        let (visited, include) = (&visited, &include);
        Box::new(move |entry| {
            if visited.fetch_add(1, Ordering::Relaxed) >= VISITED_MAX || watch.is_over() {
                part.give_up();
                return WalkState::Quit;
            }
            match entry {
                Ok(entry) => {
                    if entry.file_type().is_some_and(|kind| kind.is_file())
                        && let Some(lead) = ground.lead(entry.path())
                        && !include.matched(lead.relative(), false).is_ignore()
                    {
                        part.add(&lead, judge(&lead));
                    }
                }
                // What is gone is not there to be found.
                Err(error) if is_gone(&error) => {}
                Err(_) => part.miss(),
            }
            WalkState::Continue
        })
    });
    let mut rest = Part::new(all, spec.files_max);
    (0..unsound.load(Ordering::Relaxed)).for_each(|_| rest.miss());
    if watch.is_over() {
        rest.give_up();
    }
    Ok(())
}

/// One file that was named is searched whatever ignore files and globs say.
fn alone(
    ground: &Ground<'_>,
    all: &Mutex<Sought>,
    watch: &Watch,
    mut judge: impl FnMut(&Lead<'_>) -> Judged,
) {
    let mut part = Part::new(all, 1);
    if let Some(lead) = ground.lead(ground.place().real()) {
        part.add(&lead, judge(&lead));
    }
    if watch.is_over() {
        part.give_up();
    }
}

pub(super) fn is_gone(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() == ErrorKind::NotFound)
}

/// The glob as ripgrep reads one: without a slash it is about names at any depth, with one about paths from the
/// directory. It only selects: what ignore files name stays ignored, unlike with `rg --glob`.
fn include(place: &Place, spec: &SearchSpec) -> Result<Override, WorkspaceError> {
    let mut include = OverrideBuilder::new("");
    if let Some(glob) = &spec.include {
        include.add(&from_here(place, glob)).map_err(WorkspaceError::Pattern)?;
    }
    include.build().map_err(WorkspaceError::Pattern)
}

/// The glob relative to the directory, if it was written as an absolute path or with `./`.
fn from_here(place: &Place, glob: &str) -> String {
    let above = |path: &PathBuf| glob.strip_prefix(path.to_str()?)?.strip_prefix('/').map(str::to_owned);
    let absolute = [place.spelled(), place.real()].iter().find_map(|path| above(&path.to_path_buf()));
    match (absolute, glob.strip_prefix("./")) {
        (Some(relative), _) => format!("/{relative}"),
        (None, Some(relative)) => format!("/{relative}"),
        // A `#` would begin a comment.
        (None, None) if glob.starts_with('#') => format!("\\{glob}"),
        (None, None) => glob.to_owned(),
    }
}

#[cfg(test)]
mod tests;
