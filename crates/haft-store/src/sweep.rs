//! Sweeping: outputs that are too old, or too many, go; those of an open session stay. So do images of files, apart
//! from those of calls that are under way.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft::{OutputId, StoreError};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::background::off_thread;
use crate::clock::now_ms;
use crate::fault::Fault;
use crate::files::{self, Places};
use crate::images;
use crate::leftovers;
use crate::outputs::path_of;
use crate::process::Census;
use crate::store::{JournalBounds, Retention, Store};
use crate::writer::{Chore, Durability};

/// A session that did something this recently is open.
const OPEN: Duration = Duration::from_secs(3600);
/// How often stores sweep by themselves.
const EVERY: Duration = Duration::from_secs(3600);
/// How many outputs one sweep removes.
const SWEEP_MAX: usize = 10_000;

/// What a sweep removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// The outputs.
    pub outputs: Vec<OutputId>,
    /// Their size.
    pub bytes: u64,
    /// Files that nothing referred to, left behind by processes that died.
    pub leftovers: u64,
    /// The size of those of them that were to be outputs.
    pub leftovers_bytes: u64,
    /// The files that could not be removed, with why. The next sweep tries again.
    pub stuck: Vec<(PathBuf, String)>,
    /// How many images of files went; what they belong to can no longer be undone.
    pub images: u64,
    /// Their size.
    pub images_bytes: u64,
}

impl Store {
    /// Removes outputs that are older than the retention allows or, oldest first, beyond its total; never one of an
    /// open session. `now_ms` is the present in Unix milliseconds.
    pub async fn sweep(&self, now_ms: i64) -> Result<Swept, StoreError> {
        let (places, retention, journal) = (self.0.places.clone(), self.0.retention, self.0.journal);
        let kept = self.0.places.clone();
        let (swept, forgotten) = self
            .write("sweep outputs", Durability::Process, move |connection| {
                let plan = plan(connection, &places, retention, now_ms)?;
                forget(connection, &plan)?;
                Ok((plan, images::forget(connection, journal, now_ms)?))
            })
            .await?;
        let known = self.read("list the outputs", known)?;
        let unused = self.tidy_images()?;
        let outputs = kept.outputs.clone();
        let removed = off_thread(move || remove(&kept, &swept, &known, now_ms)).await;
        let mut swept =
            removed.map_err(|fault| fault.into_error(format!("could not sweep {}", outputs.display())))?;
        swept.leftovers += unused;
        (swept.images, swept.images_bytes) = forgotten;
        Ok(swept)
    }
}

impl Store {
    /// Removes the files of images that were forgotten. Returns how many.
    pub(crate) fn tidy_images(&self) -> Result<u64, StoreError> {
        self.read("tidy up the images", |connection| images::tidy(connection, &self.0.places))
    }
}

/// A sweep for when there is time, if the last one was long enough ago.
pub(crate) fn due(
    connection: &Connection,
    places: &Places,
    retention: Retention,
    journal: JournalBounds,
) -> Option<Chore> {
    let is_due = |connection: &Connection| swept_at(connection).is_ok_and(|at| now_ms() - at >= ms(EVERY));
    if !is_due(connection) {
        return None;
    }
    let places = places.clone();
    Some(Box::new(move |connection| {
        // Another process may have swept meanwhile; and what cannot be swept now is swept in an hour.
        let _later = sweep_now(connection, &places, retention, journal);
    }))
}

/// What a sweep would remove.
pub(crate) fn plan(
    connection: &Connection,
    places: &Places,
    retention: Retention,
    now_ms: i64,
) -> Result<Vec<Candidate>, Fault> {
    let open = OpenSessions::find(connection, places, now_ms)?;
    let mut statement = connection
        .prepare_cached("SELECT id, bytes, created_ms, session FROM output ORDER BY created_ms, id")?;
    let rows = statement.query_map([], |row| {
        let (bytes, created_ms, session): (i64, i64, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        Ok((Candidate { id: row.get(0)?, bytes: bytes.unsigned_abs() }, created_ms, session))
    })?;
    let outputs = rows.collect::<Result<Vec<_>, _>>()?;

    let oldest = now_ms - ms(Duration::from_secs(u64::from(retention.days) * 24 * 3600));
    let mut total: u64 = outputs.iter().map(|(output, ..)| output.bytes).sum();
    let mut plan = Vec::new();
    for (output, created_ms, session) in outputs {
        let may_go = created_ms < oldest || total > retention.total_bytes;
        if may_go && !open.holds(&session) && plan.len() < SWEEP_MAX {
            total -= output.bytes;
            plan.push(output);
        }
    }
    Ok(plan)
}

/// An output that may go.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) id: String,
    pub(crate) bytes: u64,
}

/// Removes the files of outputs whose rows are gone. Says which stay; one that does keeps no other.
pub(crate) fn remove_files(outputs: &Path, ids: &[String]) -> Vec<(PathBuf, String)> {
    let files = ids.iter().filter_map(|id| path_of(outputs, id));
    files.filter_map(|path| stuck(&path)).collect()
}

/// Removes a file, or says why it stays.
fn stuck(path: &Path) -> Option<(PathBuf, String)> {
    files::remove(path).err().map(|error| (path.to_owned(), error.to_string()))
}

/// The sessions whose outputs must stay: with one of a tree, the whole tree.
struct OpenSessions {
    parents: HashMap<String, String>,
    roots: HashSet<String>,
}

impl OpenSessions {
    fn find(connection: &Connection, places: &Places, now_ms: i64) -> Result<OpenSessions, Fault> {
        let mut statement = connection.prepare("SELECT id, parent FROM session WHERE parent IS NOT NULL")?;
        let parents = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<HashMap<String, String>, _>>()?;
        let mut open = OpenSessions { parents, roots: HashSet::new() };

        let mut census = Census::new(&places.run);
        let mut held = connection.prepare(
            "SELECT id, process, updated_ms > ?1 FROM session WHERE updated_ms > ?1 OR closed_ms IS NULL
             UNION ALL
             SELECT DISTINCT session, process, 0 FROM call WHERE state IN ('pending', 'running')",
        )?;
        let mut rows = held.query([now_ms - ms(OPEN)])?;
        while let Some(row) = rows.next()? {
            let (session, process, recent): (String, String, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if recent || census.is_alive(&process) {
                let root = open.root(&session).to_owned();
                open.roots.insert(root);
            }
        }
        Ok(open)
    }

    fn holds(&self, session: &str) -> bool {
        self.roots.contains(self.root(session))
    }

    fn root<'a>(&'a self, session: &'a str) -> &'a str {
        let mut root = session;
        // Each step consumes a parent, so that sessions that are their own ancestors end this too.
        for _ in 0..=self.parents.len() {
            match self.parents.get(root) {
                Some(parent) => root = parent,
                None => break,
            }
        }
        root
    }
}

fn sweep_now(
    connection: &mut Connection,
    places: &Places,
    retention: Retention,
    journal: JournalBounds,
) -> Result<Swept, Fault> {
    let now = now_ms();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if now - swept_at(&transaction)? < ms(EVERY) {
        return Ok(Swept::default());
    }
    let plan = plan(&transaction, places, retention, now)?;
    forget(&transaction, &plan)?;
    images::forget(&transaction, journal, now)?;
    transaction.execute(
        "INSERT INTO meta (key, value) VALUES ('swept_ms', ?1) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [now.to_string()],
    )?;
    transaction.commit()?;
    images::tidy(connection, places)?;
    let known = known(connection)?;
    remove(places, &plan, &known, now)
}

fn swept_at(connection: &Connection) -> Result<i64, Fault> {
    let at: Option<String> = connection
        .query_row("SELECT value FROM meta WHERE key = 'swept_ms'", [], |row| row.get(0))
        .optional()?;
    Ok(at.and_then(|at| at.parse().ok()).unwrap_or(0))
}

/// Removes the rows first: a file without a row is a leftover, a row without a file would be a lie.
fn forget(connection: &Connection, plan: &[Candidate]) -> Result<(), Fault> {
    let mut delete = connection.prepare_cached("DELETE FROM output WHERE id = ?1")?;
    for output in plan {
        delete.execute(params![output.id])?;
    }
    Ok(())
}

pub(crate) fn known(connection: &Connection) -> Result<HashSet<String>, Fault> {
    let mut statement = connection.prepare_cached("SELECT id FROM output")?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn remove(places: &Places, plan: &[Candidate], known: &HashSet<String>, now_ms: i64) -> Result<Swept, Fault> {
    let mut swept = Swept::default();
    let ids: Vec<String> = plan.iter().map(|output| output.id.clone()).collect();
    swept.stuck = remove_files(&places.outputs, &ids);
    swept.bytes = plan.iter().map(|output| output.bytes).sum();
    swept.outputs = ids.iter().filter_map(|id| OutputId::parse(id).ok()).collect();
    for leftover in leftovers::find(places, known, now_ms)? {
        match stuck(&leftover.path) {
            Some(stuck) => swept.stuck.push(stuck),
            None => {
                swept.leftovers += 1;
                swept.leftovers_bytes += leftover.bytes;
            }
        }
    }
    Ok(swept)
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
