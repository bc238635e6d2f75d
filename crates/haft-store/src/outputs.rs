//! Retained outputs: one file each, whole and on the disk before its row says that it exists.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use haft::preview::count_lines;
use haft::{
    BoxFuture, CallId, OpenOutput, Output, OutputId, OutputStore, SessionId, Spool, StoreError, ToolContext,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::background::off_thread;
use crate::clock::now_ms;
use crate::fault::Fault;
use crate::files;
use crate::leftovers;
use crate::spool::FileSpool;
use crate::store::Store;
use crate::writer::Durability;

/// How far a session's ancestors are followed.
const ANCESTORS_MAX: u32 = 64;

impl OutputStore for Store {
    fn spool(&self, maker: &ToolContext) -> Result<Box<dyn Spool>, StoreError> {
        Ok(Box::new(FileSpool::begin(self, maker)?))
    }

    fn retain<'a>(
        &'a self,
        maker: &'a ToolContext,
        whole: &'a str,
    ) -> BoxFuture<'a, Result<Output, StoreError>> {
        Box::pin(async move {
            let (store, whole) = (self.clone(), whole.to_owned());
            let (output, redactions) =
                off_thread(move || Ok(write(&store, &whole)?)).await.map_err(|fault| {
                    fault.into_error(format!(
                        "could not retain the output in {}",
                        self.0.places.outputs.display()
                    ))
                })?;
            let (maker, kept) = (maker.clone(), output.clone());
            self.write("retain an output", Durability::Brief, move |connection| {
                insert(connection, &maker, &kept, redactions)
            })
            .await?;
            Ok(output)
        })
    }

    fn open<'a>(
        &'a self,
        reader: &'a SessionId,
        id: &'a OutputId,
    ) -> BoxFuture<'a, Result<Option<OpenOutput>, StoreError>> {
        Box::pin(std::future::ready(self.open_output(reader, id)))
    }
}

impl Store {
    /// The last output that a call retained, if it is still there.
    pub fn output_of(&self, call: &CallId) -> Result<Option<Output>, StoreError> {
        self.kept("call = ?1 ORDER BY id DESC LIMIT 1", call.as_str())
    }

    /// The output of an id, if it is still there.
    pub(crate) fn output(&self, id: &OutputId) -> Result<Option<Output>, StoreError> {
        self.kept("id = ?1", id.as_str())
    }

    fn kept(&self, condition: &str, wanted: &str) -> Result<Option<Output>, StoreError> {
        let query = format!("{COLUMNS} WHERE {condition}");
        let found = self.read("find an output", |connection| {
            Ok(connection.prepare_cached(&query)?.query_row([wanted], Kept::of).optional()?)
        })?;
        Ok(found.and_then(|kept| kept.into_output(&self.0.places.outputs)))
    }

    fn open_output(&self, reader: &SessionId, id: &OutputId) -> Result<Option<OpenOutput>, StoreError> {
        let found = self.read("find an output", |connection| {
            let kept = connection
                .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
                .query_row([id.as_str()], Kept::of)
                .optional()?;
            let Some(kept) = kept else { return Ok(None) };
            let is_own = root(connection, &kept.session)? == root(connection, reader.as_str())?;
            Ok(Some((kept, is_own)))
        })?;
        let Some((kept, is_own)) = found else { return Ok(None) };
        let Ok(owner) = SessionId::parse(&kept.session) else { return Ok(None) };
        let Some(output) = kept.into_output(&self.0.places.outputs) else { return Ok(None) };
        let path = output.path.as_deref().unwrap_or(Path::new(""));
        match File::open(path) {
            Ok(file) => Ok(Some(OpenOutput { output, owner, is_own, reader: Box::new(file) })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::new(format!("could not open {}", path.display()), error)),
        }
    }
}

const COLUMNS: &str = "SELECT id, bytes, lines, session FROM output";

/// A row of [`COLUMNS`].
struct Kept {
    id: String,
    bytes: u64,
    lines: u64,
    session: String,
}

impl Kept {
    fn of(row: &Row<'_>) -> rusqlite::Result<Kept> {
        let (bytes, lines): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(Kept {
            id: row.get(0)?,
            bytes: bytes.unsigned_abs(),
            lines: lines.unsigned_abs(),
            session: row.get(3)?,
        })
    }

    fn into_output(self, outputs: &Path) -> Option<Output> {
        let path = path_of(outputs, &self.id)?;
        let id = OutputId::parse(&self.id).ok()?;
        Some(Output { id, bytes: self.bytes, lines: self.lines, path: Some(path) })
    }
}

/// The file of an output. Only ids of the shape we mint become part of a path.
pub(crate) fn path_of(outputs: &Path, id: &str) -> Option<PathBuf> {
    let rest = id.strip_prefix("out_")?;
    let minted = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // Ids begin with the time, so the shelf is taken from a digest: outputs spread evenly.
    minted.then(|| outputs.join(&crate::digest(id.as_bytes())[..2]).join(id))
}

/// The oldest ancestor of a session.
pub(crate) fn root(connection: &Connection, session: &str) -> Result<String, Fault> {
    let root = connection
        .prepare_cached(
            "WITH RECURSIVE up (id, depth) AS (
                 SELECT ?1, 0
                 UNION
                 SELECT session.parent, depth + 1 FROM up JOIN session ON session.id = up.id
                 WHERE session.parent IS NOT NULL AND depth < ?2
             )
             SELECT id FROM up ORDER BY depth DESC LIMIT 1",
        )?
        .query_row(params![session, ANCESTORS_MAX], |row| row.get(0))?;
    Ok(root)
}

pub(crate) fn insert(
    connection: &Connection,
    maker: &ToolContext,
    output: &Output,
    redactions: usize,
) -> Result<(), Fault> {
    connection
        .prepare_cached(
            "INSERT INTO output (id, session, call, bytes, lines, created_ms, redactions)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            output.id.as_str(),
            maker.session.as_str(),
            maker.call.as_str(),
            i64::try_from(output.bytes).unwrap_or(i64::MAX),
            i64::try_from(output.lines).unwrap_or(i64::MAX),
            now_ms(),
            i64::try_from(redactions).unwrap_or(i64::MAX),
        ])?;
    Ok(())
}

/// Writes a whole, without secrets, so that it is on the disk under its name or not there at all.
fn write(store: &Store, whole: &str) -> io::Result<(Output, usize)> {
    let outputs = &store.0.places.outputs;
    let clean = store.0.redactor.redact_counting(whole);
    let id = OutputId::mint();
    let path =
        path_of(outputs, id.as_str()).ok_or_else(|| io::Error::other("a minted id has another shape"))?;
    let shelf = path.parent().unwrap_or(outputs);
    if !shelf.exists() {
        files::private_dir(shelf)?;
        files::sync_dir(outputs)?;
    }
    let unfinished = Unfinished(leftovers::unfinished(outputs, store.0.process.id(), &id));
    let mut file = files::private_file(&unfinished.0)?;
    file.write_all(clean.text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished.0, &path)?;
    files::sync_dir(shelf)?;
    let (bytes, lines) = (clean.text.len() as u64, count_lines(&clean.text));
    Ok((Output { id, bytes, lines, path: Some(path) }, clean.places))
}

/// A file that is still being written. It is removed unless it was given its name.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        // What stays is swept later.
        let _stays = files::remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_from_outside_never_becomes_a_path() {
        let outputs = Path::new("/data/outputs");
        for id in ["out_../../etc/passwd", "out_", "../x", "out_a/b", "out_a.b", "OUT_a", ""] {
            assert_eq!(path_of(outputs, id), None, "{id}");
        }
        assert!(path_of(outputs, OutputId::mint().as_str()).unwrap().starts_with(outputs));
    }
}
