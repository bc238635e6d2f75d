//! Searching: the files below a directory that somebody was allowed to search, the newest first.
//!
//! The walk is parallel and lists names by path. A file's content is reached only through a [`Candidate`], which only
//! a permitted walk makes, and which is opened like any other place: beneath its root, without following a link.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use haft::permission::{Ask, Permit, Question, Reach, Resource, Showing};
use haft::{Action, visible};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};

use super::Workspace;
use super::ask::{leaving, leaving_by_link, looking};
use super::error::WorkspaceError;
use super::file::Found;
use super::place::{Kind, Place};
use crate::blocking::{Stop, blocking};

/// A search that takes longer shows what it has found by then.
const TIME_MAX: Duration = Duration::from_secs(30);
/// So many entries are looked at.
const VISITED_MAX: usize = 5_000_000;

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

/// Which files a search considers, and how many it keeps.
#[derive(Debug, Clone)]
pub(crate) struct SearchSpec {
    /// A glob their paths must match, relative to the directory. `!` before it means: must not.
    pub(crate) include: Option<String>,
    /// Whether names that begin with a dot count.
    pub(crate) hidden: Hidden,
    /// So many files are kept, the newest.
    pub(crate) files_max: usize,
}

/// What becomes of names that begin with a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// They are searched like others.
    Search,
    /// They are passed over.
    Skip,
}

/// A file that a permitted search came upon.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    place: Place,
    modified: SystemTime,
}

impl Candidate {
    /// Where it is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Opens it for reading.
    pub(crate) fn open(&self, workspace: &Workspace) -> Result<File, WorkspaceError> {
        match workspace.open_place(&self.place)? {
            Found::File(file, _) => Ok(file.into_file()),
            Found::Directory(_) => Err(WorkspaceError::Directory { path: self.place.shown() }),
            Found::Missing => Err(WorkspaceError::Missing { path: self.place.shown() }),
        }
    }

    /// Newest first, and among the equally old by the bytes of the path.
    fn rank(&self) -> (std::cmp::Reverse<SystemTime>, &[u8]) {
        (std::cmp::Reverse(self.modified), self.place.spelled().as_os_str().as_bytes())
    }
}

/// What a closer look at a candidate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// It is one of those looked for.
    Match,
    /// It is not.
    NoMatch,
    /// It is not text.
    Binary,
    /// It could not be read.
    Unreadable,
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Sought {
    /// The files, newest first.
    pub(crate) files: Vec<Candidate>,
    /// Whether there are more than were kept.
    pub(crate) has_more: bool,
    /// So many files were passed over because they are not text.
    pub(crate) binary: usize,
    /// So many files and directories could not be read.
    pub(crate) unreadable: usize,
    /// Whether the search ended before it had seen everything.
    pub(crate) is_partial: bool,
}

/// Tells when to give up: nobody waits any more, or it took too long.
#[derive(Clone)]
pub(crate) struct Watch {
    stop: Stop,
    deadline: Instant,
}

impl Watch {
    pub(crate) fn new(stop: &Stop) -> Watch {
        Watch { stop: stop.clone(), deadline: Instant::now() + TIME_MAX }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_set() || Instant::now() >= self.deadline
    }
}

impl Workspace {
    /// Finds the files below the approved directory, or the approved file, that a judge says are looked for. Each
    /// thread makes its own judge. Links are never followed, and no `.git` is entered.
    pub(crate) async fn search<J>(
        &self,
        permit: Permit<SearchTarget>,
        spec: SearchSpec,
        judge: impl Fn(Workspace, Watch) -> J + Send + Sync + 'static,
    ) -> Result<Sought, WorkspaceError>
    where
        J: FnMut(&Candidate) -> Judged + Send,
    {
        let workspace = self.clone();
        blocking(move |stop| {
            let watch = Watch::new(stop);
            let place = permit.into_target().place;
            let make = || judge(workspace.clone(), watch.clone());
            match workspace.open_place(&place)? {
                Found::File(_, stat) => Ok(alone(place, &stat, make())),
                Found::Directory(_) => workspace.below(&place, &spec, &watch, &make),
                Found::Missing => Err(WorkspaceError::Missing { path: place.shown() }),
            }
        })
        .await
    }

    fn below<J>(
        &self,
        place: &Place,
        spec: &SearchSpec,
        watch: &Watch,
        make: &(dyn Fn() -> J + Sync),
    ) -> Result<Sought, WorkspaceError>
    where
        J: FnMut(&Candidate) -> Judged + Send,
    {
        let include = include(place, spec)?;
        let walk = WalkBuilder::new(place.real())
            .hidden(spec.hidden == Hidden::Skip)
            .require_git(false)
            .follow_links(false)
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != OsStr::new(".git"))
            .build_parallel();
        let (visited, all) = (AtomicUsize::new(0), Mutex::new(Sought::default()));
        walk.run(|| {
            let mut part = Part { sought: Sought::default(), files_max: spec.files_max, all: &all };
            let mut judge = make();
            let (visited, include) = (&visited, &include);
            Box::new(move |entry| {
                if visited.fetch_add(1, Ordering::Relaxed) >= VISITED_MAX || watch.is_over() {
                    part.sought.is_partial = true;
                    return WalkState::Quit;
                }
                match entry {
                    Ok(entry) => {
                        if let Some(candidate) = self.candidate(place, &entry, include) {
                            let judged = judge(&candidate);
                            part.add(candidate, &entry, judged);
                        }
                    }
                    Err(_) => part.sought.unreadable += 1,
                }
                WalkState::Continue
            })
        });
        let mut sought = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        keep_newest(&mut sought, spec.files_max);
        sought.is_partial |= watch.is_over();
        Ok(sought)
    }

    /// The entry as a candidate, if it is a file whose path is wanted.
    fn candidate(&self, place: &Place, entry: &DirEntry, include: &Override) -> Option<Candidate> {
        let relative = entry.path().strip_prefix(place.real()).ok()?;
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if !is_file || include.matched(relative, false).is_ignore() {
            return None;
        }
        let (spelled, real) = (place.spelled().join(relative), entry.path().to_owned());
        let place = Place::new(self, spelled, real, Kind::File);
        Some(Candidate { place, modified: SystemTime::UNIX_EPOCH })
    }
}

/// What one thread found. It is put together with the rest when the thread is done.
struct Part<'a> {
    sought: Sought,
    files_max: usize,
    all: &'a Mutex<Sought>,
}

impl Part<'_> {
    fn add(&mut self, candidate: Candidate, entry: &DirEntry, judged: Judged) {
        match judged {
            Judged::NoMatch => {}
            Judged::Binary => self.sought.binary += 1,
            Judged::Unreadable => self.sought.unreadable += 1,
            Judged::Match => {
                // A file that is gone by now is as old as can be.
                let modified = entry.metadata().ok().and_then(|found| found.modified().ok());
                let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
                self.sought.files.push(Candidate { modified, ..candidate });
                if self.sought.files.len() >= 2 * self.files_max.max(1) {
                    keep_newest(&mut self.sought, self.files_max);
                }
            }
        }
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let part = std::mem::take(&mut self.sought);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.extend(part.files);
        all.has_more |= part.has_more;
        all.binary += part.binary;
        all.unreadable += part.unreadable;
        all.is_partial |= part.is_partial;
    }
}

fn keep_newest(sought: &mut Sought, files_max: usize) {
    sought.files.sort_unstable_by(|a, b| a.rank().cmp(&b.rank()));
    sought.has_more |= sought.files.len() > files_max;
    sought.files.truncate(files_max);
}

/// One file that was named is searched whatever ignore files and globs say.
fn alone(place: Place, stat: &rustix::fs::Stat, mut judge: impl FnMut(&Candidate) -> Judged) -> Sought {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let candidate = Candidate { place, modified: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) };
    let mut sought = Sought::default();
    match judge(&candidate) {
        Judged::NoMatch => {}
        Judged::Binary => sought.binary = 1,
        Judged::Unreadable => sought.unreadable = 1,
        Judged::Match => sought.files.push(candidate),
    }
    sought
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
