//! What a search found, put together from what each thread found.

use std::cmp::Reverse;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::Workspace;
use super::lead::{Candidate, Lead};
use super::place::Place;
use super::search::Judged;

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Sought {
    /// The directory that was searched, or the file.
    base: Option<Place>,
    files: Vec<Hit>,
    binary: Vec<Box<Path>>,
    unread: Vec<Box<Path>>,
    /// Whether there are more files than were kept.
    pub(crate) has_more: bool,
    /// So many paths could not be read, whatever they contain.
    pub(crate) unreadable: usize,
    /// Whether the search ended before it had seen everything.
    pub(crate) is_partial: bool,
}

/// A file that is one of those looked for, relative to the directory. There may be very many.
#[derive(Debug)]
struct Hit {
    relative: Box<Path>,
    modified: SystemTime,
}

impl Hit {
    /// Newest first, and among the equally old by the bytes of the path.
    fn rank(&self) -> (Reverse<SystemTime>, &[u8]) {
        (Reverse(self.modified), self.relative.as_os_str().as_bytes())
    }
}

impl Sought {
    /// What all threads have found by now.
    pub(super) fn joined(all: &Mutex<Sought>, files_max: usize, is_late: bool) -> Sought {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sought = std::mem::take(&mut *all);
        sought.keep_newest(files_max);
        sought.is_partial |= is_late;
        sought
    }

    fn take_in(&mut self, part: Sought) {
        self.files.extend(part.files);
        self.binary.extend(part.binary);
        self.unread.extend(part.unread);
        self.has_more |= part.has_more;
        self.unreadable += part.unreadable;
        self.is_partial |= part.is_partial;
    }

    /// The same, found at this place.
    pub(super) fn at(self, place: Place) -> Sought {
        Sought { base: Some(place), ..self }
    }

    /// The files, newest first, without so many that were taken before.
    pub(crate) fn files<'a>(
        &'a self,
        workspace: &'a Workspace,
        taken: usize,
    ) -> impl Iterator<Item = Candidate> {
        self.candidates(workspace, self.files.iter().skip(taken).map(|hit| &*hit.relative))
    }

    /// The files that were passed over because they are not text.
    pub(crate) fn binary<'a>(&'a self, workspace: &'a Workspace) -> impl Iterator<Item = Candidate> {
        self.candidates(workspace, self.binary.iter().map(|path| &**path))
    }

    /// The files that could not be read, or not to their end.
    pub(crate) fn unread<'a>(&'a self, workspace: &'a Workspace) -> impl Iterator<Item = Candidate> {
        self.candidates(workspace, self.unread.iter().map(|path| &**path))
    }

    fn candidates<'a>(
        &'a self,
        workspace: &'a Workspace,
        paths: impl Iterator<Item = &'a Path>,
    ) -> impl Iterator<Item = Candidate> {
        let base = self.base.as_ref();
        paths.filter_map(move |path| Some(Candidate::below(workspace, base?, path)))
    }

    fn note(&mut self, lead: &Lead<'_>, judged: Judged) {
        let relative = || Box::from(lead.relative());
        match judged {
            Judged::NoMatch => {}
            Judged::Binary => self.binary.push(relative()),
            Judged::Unreadable => self.unread.push(relative()),
            Judged::Match => self.files.push(Hit { relative: relative(), modified: lead.modified() }),
        }
    }

    fn keep_newest(&mut self, files_max: usize) {
        self.files.sort_unstable_by(|a, b| a.rank().cmp(&b.rank()));
        self.has_more |= self.files.len() > files_max;
        self.files.truncate(files_max);
    }
}

/// What one thread found. It is put together with the rest when the thread is done.
pub(super) struct Part<'a> {
    sought: Sought,
    files_max: usize,
    all: &'a Mutex<Sought>,
}

impl<'a> Part<'a> {
    pub(super) fn new(all: &'a Mutex<Sought>, files_max: usize) -> Part<'a> {
        Part { sought: Sought::default(), files_max, all }
    }

    pub(super) fn add(&mut self, lead: &Lead<'_>, judged: Judged) {
        self.sought.note(lead, judged);
        // What is handed over at once is there even if the next file takes too long.
        if judged == Judged::Match
            && let Ok(mut all) = self.all.try_lock()
        {
            all.take_in(std::mem::take(&mut self.sought));
            if all.files.len() >= 2 * self.files_max.max(1) {
                all.keep_newest(self.files_max);
            }
        }
    }

    /// Something could not be read that is no file.
    pub(super) fn miss(&mut self) {
        self.sought.unreadable += 1;
    }

    /// The search ends before it has seen everything.
    pub(super) fn give_up(&mut self) {
        self.sought.is_partial = true;
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.take_in(std::mem::take(&mut self.sought));
    }
}
