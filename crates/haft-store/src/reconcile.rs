//! What became of calls whose process died. Nothing is run again; the files themselves tell what was done.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::{CallId, Change, Ended, Image, Intent, Interruption, Reopen, Restorer, SessionId};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::clock::now_ms;
use crate::end::End;
use crate::fault::Fault;
use crate::files::{self, Places};
use crate::journal;
use crate::open::Notice;
use crate::process::Census;
use crate::redact::Redactor;

/// Larger files are not read only to find out what became of a call.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// The name of the file that is locked meanwhile, beside those of the processes.
const LOCK: &str = "reconciling";

/// So much of a directory is searched for what was left behind.
const ENTRIES_MAX: usize = 100_000;

/// Settles every call, and drops every request, of processes that died. Says which outcomes are unknown.
pub(crate) fn all(
    connection: &mut Connection,
    places: &Places,
    restorer: &dyn Restorer,
) -> Result<Vec<Notice>, Fault> {
    let Dead { called, asked } = Dead::find(connection, places)?;
    if called.is_empty() && asked.is_empty() {
        return Ok(Vec::new());
    }
    // Whoever starts at the same time waits, and finds nothing left to do.
    let lock = lock_file(places)?;
    lock.lock()?;
    let mut judged = Vec::new();
    for process in &called {
        for call in unsettled(connection, places, process)? {
            // Files are read before the transaction, which others may be waiting for.
            judged.push((call.judge(connection, places, restorer)?, call));
        }
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut notices = Vec::new();
    for (interruption, call) in judged {
        if settle(&transaction, &call.id, interruption)? && interruption == Interruption::Unknown {
            notices.extend(call.notice());
        }
    }
    for process in &asked {
        transaction.execute("DELETE FROM request WHERE process = ?1", [process])?;
    }
    transaction.commit()?;
    Ok(notices)
}

/// The processes that died.
struct Dead {
    /// With calls that have not ended.
    called: Vec<String>,
    /// With requests that nobody waits for any longer.
    asked: Vec<String>,
}

impl Dead {
    fn find(connection: &Connection, places: &Places) -> Result<Dead, Fault> {
        let mut census = Census::new(&places.run);
        let mut dead = |query: &str| -> Result<Vec<String>, Fault> {
            let mut found = processes(connection, query)?;
            found.retain(|process| !census.is_alive(process));
            Ok(found)
        };
        Ok(Dead {
            called: dead("SELECT DISTINCT process FROM call WHERE state IN ('pending', 'running')")?,
            asked: dead("SELECT DISTINCT process FROM request")?,
        })
    }
}

/// The lock of whoever looks at, and puts back, what calls of dead processes did.
fn lock_file(places: &Places) -> io::Result<File> {
    files::private_file_or_existing(&places.run.join(LOCK))
}

/// Settles one call of a process that died; `None` if somebody else is at it. It waits for nobody, because those who
/// hold the lock may wait for the database.
pub(crate) fn one(
    connection: &Connection,
    places: &Places,
    restorer: &dyn Restorer,
    id: &str,
) -> Result<Option<Interruption>, Fault> {
    let lock = lock_file(places)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let call = connection.query_row(&unsettled_where("id = ?1"), [id], Unsettled::of).optional()?;
    let call = call
        .ok_or_else(|| Fault::Said(format!("the call {id} is not under way")))?
        .with_intents(connection, places)?;
    let interruption = call.judge(connection, places, restorer)?;
    settle(connection, id, interruption)?;
    Ok(Some(interruption))
}

/// What is known, in words.
pub(crate) fn words(interruption: Interruption) -> &'static str {
    match interruption {
        Interruption::NotStarted => "the process died before the call changed anything",
        Interruption::Committed => "the process died after the call had changed what it was to change",
        Interruption::RolledBack => {
            "the process died while the call was changing files, and those it had changed were put back"
        }
        Interruption::Unknown => "the process died, and whether the call took effect is unknown",
    }
}

fn settle(connection: &Connection, call: &str, interruption: Interruption) -> Result<bool, Fault> {
    let end = End::of(&Ended::Interrupted(interruption), &Redactor::default())?;
    Ok(end.record(connection, call, now_ms())?.is_some())
}

fn processes(connection: &Connection, query: &str) -> Result<Vec<String>, Fault> {
    let mut statement = connection.prepare(query)?;
    let processes = statement.query_map([], |row| row.get(0))?;
    Ok(processes.collect::<Result<_, _>>()?)
}

fn unsettled(connection: &Connection, places: &Places, process: &str) -> Result<Vec<Unsettled>, Fault> {
    let condition = "process = ?1 AND state IN ('pending', 'running')";
    let mut statement = connection.prepare(&unsettled_where(condition))?;
    let calls = statement.query_map([process], Unsettled::of)?.collect::<Result<Vec<_>, _>>()?;
    calls.into_iter().map(|call| call.with_intents(connection, places)).collect()
}

fn unsettled_where(condition: &str) -> String {
    format!("SELECT id, session, tool, acted, blind FROM call WHERE {condition} ORDER BY seq")
}

/// A call that has not ended.
struct Unsettled {
    id: String,
    session: String,
    tool: String,
    acted: bool,
    /// Whether it announced a change that left nothing to tell by.
    blind: bool,
    intents: Vec<Intent>,
}

impl Unsettled {
    fn of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Unsettled> {
        let (id, session, tool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Unsettled { id, session, tool, acted: row.get(3)?, blind: row.get(4)?, intents: Vec::new() })
    }

    fn with_intents(mut self, connection: &Connection, places: &Places) -> Result<Unsettled, Fault> {
        let announced = journal::announced(connection, places, &self.id)?;
        self.intents = announced.into_iter().map(|(_, intent)| intent).collect();
        Ok(self)
    }

    /// What became of it, from what is there now. If it had changed some files and not others, the ones it had changed
    /// are put back; then what it left beside its files is removed.
    fn judge(
        &self,
        connection: &Connection,
        places: &Places,
        restorer: &dyn Restorer,
    ) -> Result<Interruption, Fault> {
        if !self.acted {
            return Ok(Interruption::NotStarted);
        }
        let changes = journal::changes(connection, places, &self.id)?;
        let interruption = self.conclude(&changes, restorer);
        for change in &changes {
            let intent = change.intent();
            // What the journal does not keep must not be lost as long as it may be needed.
            let spared = match (interruption, &change.before) {
                (Interruption::Unknown, Some(image)) if !is_kept(image) => Some(&image.digest),
                _ => None,
            };
            // What it left; what a step before left; and an earlier start may have died while putting it back.
            for left in [&intent.after, &intent.midway, &intent.before] {
                tidy_up(&Intent { after: left.clone(), ..intent.clone() }, spared);
            }
            remove_made(change);
            // An undo takes also the directories with it that were made for the file.
            for undone in &change.undoes {
                let undone = journal::changes(connection, places, undone.as_str())?;
                undone.iter().filter(|undone| undone.path == change.path).for_each(remove_made);
            }
        }
        Ok(interruption)
    }

    fn conclude(&self, changes: &[Change], restorer: &dyn Restorer) -> Interruption {
        if self.blind || self.intents.is_empty() {
            return Interruption::Unknown;
        }
        let found: Vec<Found> = self.intents.iter().map(look).collect();
        if found.iter().all(|found| found.is_after) {
            Interruption::Committed
        } else if found.iter().all(|found| found.is_before) {
            Interruption::NotStarted
        } else if found.iter().all(|found| found.is_before || found.is_after) {
            roll_back(changes, restorer)
        } else {
            Interruption::Unknown
        }
    }

    fn notice(&self) -> Option<Notice> {
        let (call, session) = (CallId::parse(&self.id).ok()?, SessionId::parse(&self.session).ok()?);
        Some(Notice::OutcomeUnknown { call, session, tool: self.tool.clone() })
    }
}

/// Removes the directories that were made for a file, if it never came to be and nothing else is in them.
fn remove_made(change: &Change) {
    let is_there = change.path.symlink_metadata().is_ok();
    if change.before.is_some() || is_there || !change.path.is_absolute() {
        return;
    }
    for directory in change.made_directories() {
        // Behind a link stands what somebody else made.
        let is_itself = directory.canonicalize().is_ok_and(|real| real == directory);
        if is_itself && fs::remove_dir(directory).is_err() {
            return;
        }
    }
}

/// Removes the files that held new content and never took their place, or old content that was to come back; but none
/// with the content that is spared. One that cannot be removed does no harm.
fn tidy_up(intent: &Intent, spared: Option<&String>) {
    for path in left_beside(intent) {
        if path.is_dir() {
            // A copy for a program that died with the call.
            let _stays = fs::remove_dir_all(path);
        } else if spared.is_none_or(|spared| content(&path).flatten().as_ref() != Some(spared)) {
            let _stays = fs::remove_file(path);
        }
    }
}

/// The files, and directories with copies, that a change left beside the one it was for.
fn left_beside(intent: &Intent) -> Vec<PathBuf> {
    let Some(entries) = intent.path.parent().and_then(|directory| fs::read_dir(directory).ok()) else {
        return Vec::new();
    };
    let beginning = intent.temporary();
    let is_left = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(&beginning))
            && entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir())
    };
    entries.take(ENTRIES_MAX).filter_map(Result::ok).filter(is_left).map(|entry| entry.path()).collect()
}

/// Puts back every file that holds what the call was to leave. What the journal did not keep, because it is too large,
/// or can no longer give back, stands beside its file.
fn roll_back(changes: &[Change], restorer: &dyn Restorer) -> Interruption {
    for change in changes {
        let intent = change.intent();
        let found = look(&intent);
        if found.is_before {
            continue;
        }
        let whole = match &change.before {
            Some(image) if !is_kept(image) => {
                let aside = left_beside(&intent)
                    .into_iter()
                    .find(|path| content(path).flatten().as_ref() == Some(&image.digest));
                let kept = aside.map(|path| Arc::new(Aside(path)) as Arc<dyn Reopen>);
                Change { before: Some(Image { content: kept, ..image.clone() }), ..change.clone() }
            }
            Some(_) | None => change.clone(),
        };
        let restored = found.is_after && restorer.restore(&whole).is_ok();
        if !restored {
            return Interruption::Unknown;
        }
    }
    Interruption::RolledBack
}

/// Whether the journal can give an image back.
fn is_kept(image: &Image) -> bool {
    let Some(Ok(content)) = image.content.as_ref().map(|content| content.open()) else { return false };
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(content).is_ok() && hasher.finalize().to_hex().as_str() == image.digest
}

/// What a file held, in a file beside it.
struct Aside(PathBuf);

impl Reopen for Aside {
    fn open(&self) -> io::Result<Box<dyn io::Read + Send + '_>> {
        Ok(Box::new(File::open(&self.0)?))
    }
}

/// How a file compares with what a call announced.
pub(crate) struct Found {
    pub(crate) is_before: bool,
    pub(crate) is_after: bool,
}

pub(crate) fn look(intent: &Intent) -> Found {
    match content(&intent.path) {
        Some(now) => Found {
            is_before: now == intent.before,
            is_after: now == intent.after || (now.is_some() && now == intent.midway),
        },
        None => Found { is_before: false, is_after: false },
    }
}

/// The digest of a file as it is now, `Some(None)` if there is none, `None` if that cannot be told.
fn content(path: &Path) -> Option<Option<String>> {
    if !path.is_absolute() {
        return None;
    }
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= FILE_BYTES_MAX => {
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(File::open(path).ok()?).ok()?;
            Some(Some(hasher.finalize().to_hex().to_string()))
        }
        Ok(_) => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(None),
        Err(_) => None,
    }
}
