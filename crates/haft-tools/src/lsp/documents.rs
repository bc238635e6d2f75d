//! The files that a server has open: what it was sent of each, and what it found.

use std::collections::{HashMap, VecDeque};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use super::found::{Basis, Found};
use super::habits::{Fence, Habits};
use super::position::Units;
use super::{address, problems, servers};
use crate::after::Problem;

/// So many files are open at a time; the one that was not used for longest is closed.
const OPEN_MAX: usize = 64;
/// So many closed files are remembered. Nothing is on its way any more about those that were closed before them.
const CLOSED_MAX: usize = 64;

/// The open files of one server.
#[derive(Default)]
pub(super) struct Documents {
    open: HashMap<PathBuf, Document>,
    /// The last versions of the files that were closed. What is said about them may arrive when they are open again.
    closed: VecDeque<(PathBuf, i32)>,
    /// Counts uses.
    clock: u64,
    /// Counts what the server was told that can make it speak.
    told: u64,
    /// How this server was seen to speak.
    pub(super) habits: Habits,
    /// The longest that it has taken to say what it found after a change, as far as that was why it spoke.
    pub(super) slowest: Duration,
}

/// An open file.
pub(super) struct Document {
    pub(super) version: i32,
    /// The version that it was opened with.
    first: i32,
    pub(super) text: Arc<str>,
    /// When this version was sent,
    pub(super) sent: Instant,
    /// and its number among all that the server was told.
    told: u64,
    /// What was asked right after this version was sent.
    pub(super) fence: Fence,
    /// Whether findings of the version before may still be on their way.
    pub(super) is_behind: bool,
    /// The newest version of which nothing more is waited for.
    pub(super) heard_out: i32,
    stamp: Option<Stamp>,
    used: u64,
    /// What was found last.
    pub(super) found: Option<Found>,
    /// The problems that it is known to have, because whoever changed it was told.
    pub(super) known: Option<Baseline>,
}

impl Document {
    /// What a server finds in this version, as if that were certain.
    fn finds(&self, diagnostics: &Value, units: Units) -> Found {
        let problems = problems::errors(diagnostics, &self.text, units).into();
        Found { version: self.version, basis: Basis::Certain, at: Instant::now(), problems }
    }
}

/// What new problems are told from.
#[derive(Clone)]
pub(super) struct Baseline {
    pub(super) problems: Arc<[Problem]>,
    /// The text that had them.
    pub(super) text: Arc<str>,
}

/// By which a file on disk is known to have changed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Stamp {
    fn of(found: &Metadata) -> Stamp {
        Stamp { bytes: found.len(), changed: found.modified().ok() }
    }
}

/// What a server says by itself.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) version: Option<i32>,
    pub(super) diagnostics: &'a Value,
    pub(super) units: Units,
}

/// What has to be sent to a server, in this order.
pub(super) type Notices = Vec<(&'static str, Value)>;

impl Documents {
    /// Makes a file hold a text for the server. Returns its version and what has to be sent.
    pub(super) fn put(&mut self, path: &Path, text: &str) -> (i32, Notices) {
        self.clock += 1;
        let (clock, uri) = (self.clock, address::of(path));
        let stamp = path.metadata().ok().as_ref().map(Stamp::of);
        if let Some(document) = self.open.get_mut(path) {
            (document.used, document.stamp) = (clock, stamp);
            if *document.text == *text {
                return (document.version, Vec::new());
            }
            let found = document.found.as_ref().map_or(0, |found| found.version);
            document.is_behind = found.max(document.heard_out) < document.version;
            self.told += 1;
            document.told = self.told;
            (document.version, document.fence) = (document.version + 1, Fence::None);
            // Whoever knows better says so afterwards.
            document.known = None;
            (document.text, document.sent) = (text.into(), Instant::now());
            let changed = json!({
                "textDocument": { "uri": uri, "version": document.version },
                "contentChanges": [{ "text": text }],
            });
            return (document.version, vec![("textDocument/didChange", changed)]);
        }
        let mut notices: Notices = self.make_room().into_iter().collect();
        let place = self.closed.iter().position(|(closed, _)| closed == path);
        let before = place.and_then(|place| self.closed.remove(place)).map(|(_, version)| version);
        let version = before.unwrap_or(0) + 1;
        self.told += 1;
        let document = Document {
            version,
            first: version,
            text: text.into(),
            sent: Instant::now(),
            told: self.told,
            fence: Fence::None,
            is_behind: before.is_some(),
            heard_out: 0,
            stamp,
            used: clock,
            found: None,
            known: None,
        };
        self.open.insert(path.to_owned(), document);
        let language = servers::language(path);
        let opened = json!({
            "textDocument": { "uri": uri, "languageId": language, "version": version, "text": text },
        });
        notices.push(("textDocument/didOpen", opened));
        (version, notices)
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    pub(super) fn get_mut(&mut self, path: &Path) -> Option<&mut Document> {
        self.open.get_mut(path)
    }

    /// The open files that are not on disk as they were when they were last sent.
    pub(super) fn outdated(&self) -> Vec<PathBuf> {
        let is_outdated = |(path, document): &(&PathBuf, &Document)| {
            path.metadata().ok().as_ref().map(Stamp::of) != document.stamp
        };
        self.open.iter().filter(is_outdated).map(|(path, _)| path.clone()).collect()
    }

    /// Closes a file. Returns what has to be sent.
    pub(super) fn close(&mut self, path: &Path) -> Option<(&'static str, Value)> {
        let closed = self.open.remove(path)?;
        self.told += 1;
        self.closed.push_back((path.to_owned(), closed.version));
        if self.closed.len() > CLOSED_MAX {
            self.closed.pop_front();
        }
        Some(("textDocument/didClose", json!({ "textDocument": { "uri": address::of(path) } })))
    }

    /// Notes that the server was told of something other than a text.
    pub(super) fn tell(&mut self) {
        self.told += 1;
    }

    /// Whether nothing but this text can be why the server speaks of it: it was told of nothing since.
    pub(super) fn is_told_last(&self, document: &Document) -> bool {
        document.told == self.told
    }

    /// Notes that a question was sent right behind a version of a file, or that it was answered.
    pub(super) fn fence(&mut self, path: &Path, version: i32, fence: Fence) {
        self.habits.answers |= fence == Fence::Passed;
        if let Some(document) = self.open.get_mut(path).filter(|open| open.version == version) {
            document.fence = fence;
        }
    }

    /// Notes that nothing more is waited for about a version of a file, and whether that shows how the server speaks.
    pub(super) fn hear_out(&mut self, path: &Path, version: i32, shows_habits: bool) {
        self.habits.was_heard_out |= shows_habits;
        if let Some(document) = self.open.get_mut(path) {
            document.heard_out = document.heard_out.max(version);
        }
    }

    /// Takes what the server found by itself. One that can be asked may speak in steps meanwhile, so that a version which
    /// it names says only what this is not about. What comes later than `settling` after the last it said is nothing that
    /// anybody would have waited for.
    pub(super) fn publish(&mut self, path: &Path, said: Said<'_>, can_be_asked: bool, settling: Duration) {
        let Said { version, diagnostics, units } = said;
        self.habits.note_version(version);
        if let Some(version) = version.filter(|_| !can_be_asked) {
            return self.find(path, version, diagnostics, units);
        }
        let is_old = |document: &&Document| version.is_some_and(|version| version < document.version);
        let Some(document) = self.open.get(path).filter(|document| !is_old(document)) else { return };
        let fence = document.fence;
        if document.version == 1 {
            self.habits.note_opening(fence);
        } else if self.habits.is_of_text_before(fence) {
            // What is left from before it was closed, or that it was: it is of no use.
            if document.version == document.first {
                return;
            }
            return self.find_of_text_before(path, diagnostics, units, settling);
        }
        let mut found = document.finds(diagnostics, units);
        let mut step = 1;
        match document.found.as_ref().filter(|spoken| spoken.version == document.version) {
            // What may be about another version is of no use where something certainly is about this one.
            Some(spoken) if spoken.is_certain() => return,
            Some(spoken) => {
                let is_same = spoken.problems == found.problems;
                if is_same {
                    // Nobody waits longer because it says so once more.
                    found.at = spoken.at;
                }
                let is_in_time = spoken.at.elapsed() <= settling;
                let is_step = (version.is_none() || !is_same) && is_in_time && self.is_told_last(document);
                step = spoken.step() + u32::from(is_step);
            }
            None => {}
        }
        found.basis = match fence {
            Fence::Ahead => Basis::Early { step },
            Fence::None | Fence::Passed => Basis::Later { step },
        };
        self.habits.note_step(step);
        self.take(path, found);
    }

    /// Takes what the server found in a version, by itself or when asked. What is about a file that is not open, or about
    /// a version that is gone, is of no use.
    pub(super) fn find(&mut self, path: &Path, version: i32, diagnostics: &Value, units: Units) {
        let Some(document) = self.open.get(path).filter(|document| version >= document.version) else {
            return;
        };
        let found = document.finds(diagnostics, units);
        self.take(path, found);
    }

    fn take(&mut self, path: &Path, found: Found) {
        let Some(document) = self.open.get(path) else { return };
        let is_first = document.found.as_ref().is_none_or(|found| found.version < document.version);
        // What nobody waits for, or what has another reason, may come at any time.
        let is_answer = document.heard_out < document.version && self.is_told_last(document);
        if document.version > document.first && is_first && is_answer {
            self.slowest = self.slowest.max(document.sent.elapsed());
        }
        if let Some(document) = self.open.get_mut(path) {
            document.found = Some(found);
        }
    }

    /// Takes what the server said before it had read the version that it was sent last.
    fn find_of_text_before(&mut self, path: &Path, diagnostics: &Value, units: Units, settling: Duration) {
        let Some(document) = self.open.get_mut(path) else { return };
        let version = document.version - 1;
        let found = Found { version, basis: Basis::Before, ..document.finds(diagnostics, units) };
        let is_step = |spoken: &&Found| {
            let is_more = !spoken.is_certain() || spoken.problems != found.problems;
            spoken.version == version && is_more && spoken.at.elapsed() <= settling
        };
        if let Some(spoken) = document.found.as_ref().filter(is_step) {
            self.habits.note_step(spoken.step() + 1);
        }
        document.is_behind = false;
        document.found = Some(found);
    }

    fn make_room(&mut self) -> Option<(&'static str, Value)> {
        if self.open.len() < OPEN_MAX {
            return None;
        }
        let oldest = self.open.iter().min_by_key(|(_, document)| document.used)?.0.clone();
        self.close(&oldest)
    }
}

#[cfg(test)]
mod tests;
