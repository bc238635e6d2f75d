//! The files that a server has open: what it was sent of each, and what it found.

use std::collections::HashMap;
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

/// The open files of one server.
#[derive(Default)]
pub(super) struct Documents {
    open: HashMap<PathBuf, Document>,
    /// The last versions of the files that were closed. What is said about them may arrive when they are open again.
    closed: HashMap<PathBuf, i32>,
    /// Counts uses.
    clock: u64,
    /// How this server was seen to speak.
    pub(super) habits: Habits,
    /// The longest that it has taken to say what it found after a change.
    pub(super) slowest: Duration,
}

/// An open file.
pub(super) struct Document {
    pub(super) version: i32,
    /// The version that it was opened with.
    first: i32,
    pub(super) text: Arc<str>,
    /// When this version was sent.
    pub(super) sent: Instant,
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
        let before = self.closed.remove(path);
        let version = before.unwrap_or(0) + 1;
        let document = Document {
            version,
            first: version,
            text: text.into(),
            sent: Instant::now(),
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
        self.closed.insert(path.to_owned(), closed.version);
        Some(("textDocument/didClose", json!({ "textDocument": { "uri": address::of(path) } })))
    }

    /// Notes that a question was sent right behind a version of a file, or that it was answered.
    pub(super) fn fence(&mut self, path: &Path, version: i32, fence: Fence) {
        self.habits.answers |= fence == Fence::Passed;
        if let Some(document) = self.open.get_mut(path).filter(|open| open.version == version) {
            document.fence = fence;
        }
    }

    /// Takes what the server found by itself. One that can be asked may speak in steps meanwhile, so that a version which
    /// it names says only what this is not about.
    pub(super) fn publish(&mut self, path: &Path, said: Said<'_>, can_be_asked: bool) {
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
            return self.find_of_text_before(path, diagnostics, units);
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
                step = spoken.step() + u32::from(version.is_none() || !is_same);
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
        let Some(document) = self.open.get_mut(path) else { return };
        let is_first = document.found.as_ref().is_none_or(|found| found.version < document.version);
        if document.version > document.first && is_first {
            self.slowest = self.slowest.max(document.sent.elapsed());
        }
        document.found = Some(found);
    }

    /// Takes what the server said before it had read the version that it was sent last.
    fn find_of_text_before(&mut self, path: &Path, diagnostics: &Value, units: Units) {
        let Some(document) = self.open.get_mut(path) else { return };
        let version = document.version - 1;
        let found = Found { version, basis: Basis::Before, ..document.finds(diagnostics, units) };
        let of_before = document.found.as_ref().filter(|spoken| spoken.version == version);
        if let Some(spoken) =
            of_before.filter(|spoken| !spoken.is_certain() || spoken.problems != found.problems)
        {
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
mod tests {
    use super::*;

    #[test]
    fn texts_have_versions_and_what_is_unchanged_is_not_sent_again() {
        let mut documents = Documents::default();
        let path = Path::new("/p/a.rs");
        let (version, sent) = documents.put(path, "one");
        assert_eq!((version, sent[0].0), (1, "textDocument/didOpen"));
        assert_eq!(sent[0].1["textDocument"]["languageId"], "rust");
        assert!(documents.put(path, "one").1.is_empty());
        let (version, sent) = documents.put(path, "two");
        assert_eq!((version, sent[0].0), (2, "textDocument/didChange"));
        assert_eq!(sent[0].1["contentChanges"], json!([{ "text": "two" }]));
    }

    #[test]
    fn what_is_about_an_older_version_is_not_taken() {
        let mut documents = Documents::default();
        let path = Path::new("/p/a.rs");
        documents.put(path, "one");
        documents.put(path, "two");
        documents.find(path, 1, &json!([]), Units::Utf16);
        assert!(documents.get(path).unwrap().found.is_none());
        documents.find(path, 2, &json!([]), Units::Utf16);
        assert!(documents.get(path).unwrap().found.as_ref().is_some_and(Found::is_certain));
        // Whatever says nothing of a version may be older.
        says(&mut documents, path, &json!([{ "message": "old" }]));
        assert!(documents.get(path).unwrap().found.as_ref().is_some_and(|found| found.problems.is_empty()));
        documents.find(Path::new("/p/other.rs"), 2, &json!([]), Units::Utf16);
        assert!(documents.get(Path::new("/p/other.rs")).is_none());
    }

    fn says(documents: &mut Documents, path: &Path, diagnostics: &Value) {
        documents.publish(path, Said { version: None, diagnostics, units: Units::Utf16 }, false);
    }

    #[test]
    fn who_says_twice_that_nothing_is_wrong_speaks_in_steps() {
        let mut documents = Documents::default();
        let path = Path::new("/p/a.rs");
        documents.put(path, "one");
        says(&mut documents, path, &json!([]));
        assert_eq!(documents.habits.steps, 1);
        says(&mut documents, path, &json!([]));
        assert_eq!(documents.habits.steps, 2);
        documents.put(path, "two");
        says(&mut documents, path, &json!([]));
        assert_eq!(documents.get(path).unwrap().found.as_ref().unwrap().step(), 1, "more is to come");
    }

    #[test]
    fn what_is_said_of_a_file_that_was_open_before_teaches_nothing() {
        let mut documents = Documents::default();
        let path = Path::new("/p/a.rs");
        documents.put(path, "one");
        documents.fence(path, 1, Fence::Passed);
        says(&mut documents, path, &json!([]));
        assert_eq!(documents.habits.speaks_at_once, Some(false));
        documents.put(path, "two");
        assert!(documents.close(path).is_some());
        let (version, sent) = documents.put(path, "bad");
        assert_eq!((version, sent[0].0), (3, "textDocument/didOpen"));
        assert_eq!(sent[0].1["textDocument"]["version"], 3);
        // What it says about the closed file comes behind the opening.
        documents.fence(path, version, Fence::Ahead);
        says(&mut documents, path, &json!([]));
        assert_eq!(documents.habits.speaks_at_once, Some(false));
        assert!(documents.get(path).unwrap().found.is_none());
        documents.fence(path, version, Fence::Passed);
        says(&mut documents, path, &json!([{ "message": "bad", "severity": 1 }]));
        let document = documents.get(path).unwrap();
        assert_eq!(document.found.as_ref().map(|found| (found.version, found.problems.len())), Some((3, 1)));
        assert!(document.is_behind, "more of the closed file may come");
    }

    #[test]
    fn no_more_than_so_many_are_open() {
        let mut documents = Documents::default();
        let path = |number: usize| PathBuf::from(format!("/p/{number}.rs"));
        (0..OPEN_MAX).for_each(|number| drop(documents.put(&path(number), "")));
        documents.put(&path(0), "");
        let (_, sent) = documents.put(&path(OPEN_MAX), "");
        assert_eq!(sent[0].1["textDocument"]["uri"], "file:///p/1.rs");
        assert_eq!(documents.open.len(), OPEN_MAX);
    }
}
