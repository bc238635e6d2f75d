//! Images of files, sealed: small ones in the database, where they cost no fsync of their own, large ones in files.
//!
//! A file and its row are written side by side, and both are there before anything is changed; a file goes after its row.
//! Whoever adds one holds a lock that whoever removes files needs alone, so that none goes while its row is on the way.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use haft::{IMAGE_BYTES_KEPT, Image, Reopen};
use rusqlite::{Connection, params};

use crate::fault::Fault;
use crate::files::{self, Places};
use crate::seal::{Seal, pieces};
use crate::shelf::{Whole, earlier_path_of, path_of};
use crate::store::JournalBounds;

/// Larger images have files of their own.
const INLINE_BYTES_MAX: u64 = 128 << 10;
/// The start of the name of a file that is still being written.
const UNFINISHED: &str = ".unfinished-";

/// The right to add images: as long as it is held, no file is removed.
pub(crate) struct Adding {
    _lock: File,
}

/// Whether any of the images is kept in a file of its own.
pub(crate) fn needs_shelf(bounds: JournalBounds, images: &[Image]) -> bool {
    images.iter().any(|image| image.content.is_some() && is_shelved(image) && bounds.admits(image))
}

/// Writes the large images to their files, on the disk.
pub(crate) fn shelve(
    places: &Places,
    bounds: JournalBounds,
    images: &[Image],
    whole: &Whole,
) -> io::Result<Adding> {
    let lock = lock_file(places)?;
    lock.lock_shared()?;
    let seal = Seal::of(places)?;
    for image in images.iter().filter(|image| is_shelved(image) && bounds.admits(image)) {
        if let Some(content) = &image.content {
            write(&places.images, &seal, image, &**content, whole)?;
        }
    }
    Ok(Adding { _lock: lock })
}

/// Records that an image is in use; a small one is stored with that, also in the place of what was stored and may have
/// been damaged since, or be sealed with a key that is gone.
pub(crate) fn keep(
    connection: &Connection,
    places: &Places,
    bounds: JournalBounds,
    image: &Image,
    at_ms: i64,
) -> Result<(), Fault> {
    let Some(content) = image.content.as_ref().filter(|_| bounds.admits(image)) else { return Ok(()) };
    let mut inline = if is_shelved(image) { None } else { content.in_memory().map(<[u8]>::to_vec) };
    let seal = Seal::of(places)?;
    if let Some(bytes) = &mut inline {
        seal.apply(&image.digest, bytes);
    }
    connection
        .prepare_cached(
            "INSERT INTO image (digest, bytes, content, used_ms, sealed_by) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (digest) DO UPDATE SET
                 used_ms = max(used_ms, excluded.used_ms), content = excluded.content, sealed_by = excluded.sealed_by",
        )?
        .execute(params![image.digest, sql_size(image.bytes), inline, at_ms, seal.name()])?;
    Ok(())
}

/// Forgets images that no change refers to, that are too old, or, the ones used longest ago first, that are too many;
/// but none of a call that is under way. Returns how many, and their size.
pub(crate) fn forget(
    connection: &Connection,
    bounds: JournalBounds,
    now_ms: i64,
) -> Result<(u64, u64), Fault> {
    let oldest = now_ms.saturating_sub(i64::from(bounds.days) * 24 * 3600 * 1000);
    let mut statement = connection.prepare_cached(
        "SELECT digest, bytes, used_ms < ?1 OR NOT EXISTS (
             SELECT 1 FROM intent WHERE before = digest OR after = digest)
         FROM image
         WHERE NOT EXISTS (
             SELECT 1 FROM intent JOIN call ON call.id = intent.call
             WHERE (before = digest OR after = digest) AND state IN ('pending', 'running'))
         ORDER BY used_ms",
    )?;
    let mut total = total(connection)?;
    let mut rows = statement.query([oldest])?;
    let mut gone: Vec<String> = Vec::new();
    let mut freed = 0;
    while let Some(row) = rows.next()? {
        let (digest, bytes, is_idle): (String, i64, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if is_idle || total > bounds.bytes {
            total = total.saturating_sub(bytes.unsigned_abs());
            freed += bytes.unsigned_abs();
            gone.push(digest);
        }
    }
    drop(rows);
    let mut delete = connection.prepare_cached("DELETE FROM image WHERE digest = ?1")?;
    for digest in &gone {
        delete.execute([digest])?;
    }
    Ok((gone.len() as u64, freed))
}

/// Whether a call under way refers to an image.
pub(crate) fn is_needed_now(connection: &Connection, digest: &str) -> Result<bool, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT EXISTS (
             SELECT 1 FROM intent JOIN call ON call.id = intent.call
             WHERE (before = ?1 OR after = ?1) AND state IN ('pending', 'running'))",
    )?;
    Ok(statement.query_row([digest], |row| row.get(0))?)
}

/// The size of all images.
pub(crate) fn total(connection: &Connection) -> Result<u64, Fault> {
    let bytes: i64 = connection
        .prepare_cached("SELECT coalesce(sum(bytes), 0) FROM journal")?
        .query_row([], |row| row.get(0))?;
    Ok(bytes.unsigned_abs())
}

/// Removes the files of images that no row speaks of, unless somebody is just adding one. What is no image stays, and so
/// does what cannot be removed: the next sweep tries again. Returns how many went.
pub(crate) fn tidy(connection: &Connection, places: &Places) -> Result<u64, Fault> {
    if !places.images.exists() && !places.earlier_images.exists() {
        return Ok(0);
    }
    let lock = lock_file(places)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(0),
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let mut statement = connection.prepare("SELECT digest FROM image WHERE content IS NULL")?;
    let known: HashSet<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut removed = 0;
    for images in [&places.images, &places.earlier_images] {
        for (name, path) in listed(images) {
            let places = [path_of(images, &name), earlier_path_of(images, &name)];
            let is_ours = places.contains(&Some(path.clone())) || name.starts_with(UNFINISHED);
            if is_ours && !known.contains(&name) && files::remove(&path).is_ok() {
                removed += 1;
            }
        }
    }
    Ok(removed)
}

/// What lies in a directory of images, and in those that earlier versions made in it.
fn listed(images: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = |directory: &Path| fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries(images)
        .flat_map(move |entry| match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => entries(&entry.path()).collect(),
            false => vec![entry],
        })
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
}

impl JournalBounds {
    /// Whether an image is kept at all: if there is room for it, or if its call may have to be rolled back.
    fn admits(self, image: &Image) -> bool {
        image.bytes <= self.bytes.max(IMAGE_BYTES_KEPT)
    }
}

fn is_shelved(image: &Image) -> bool {
    let is_in_memory = image.content.as_deref().is_some_and(|content| content.in_memory().is_some());
    image.bytes > INLINE_BYTES_MAX || !is_in_memory
}

fn lock_file(places: &Places) -> io::Result<File> {
    files::private_dir(&places.images)?;
    files::private_file_or_existing(&places.run.join("images"))
}

/// Writes an image, so that it is whole and on the disk under its name, or not there at all.
fn write(images: &Path, seal: &Seal, image: &Image, content: &dyn Reopen, whole: &Whole) -> io::Result<()> {
    let Image { digest, bytes, .. } = image;
    let path = path_of(images, digest);
    let path = path.ok_or_else(|| io::Error::other("an image has no digest for a name"))?;
    // What lies there under its name may have been damaged since, or be sealed with a key that is gone.
    if whole.holds(&path, seal, digest, *bytes) {
        return Ok(());
    }
    let unfinished = images.join(format!("{UNFINISHED}{}", haft::CallId::mint()));
    let written = (|| {
        let mut file = files::private_file(&unfinished)?;
        match content.in_memory() {
            // What is in memory is what was digested.
            Some(bytes) => pieces::seal(seal, digest, bytes, &mut file)?,
            None => {
                let mut hasher = blake3::Hasher::new();
                let digested = Digested { inner: content.open()?, hasher: &mut hasher };
                pieces::seal(seal, digest, digested, &mut file)?;
                if hasher.finalize().to_hex().as_str() != digest.as_str() {
                    return Err(io::Error::other("the file changed while it was being kept; try again"));
                }
            }
        }
        file.sync_all()?;
        fs::rename(&unfinished, &path)?;
        files::sync_dir(images)?;
        whole.note(&file, seal, digest);
        Ok(())
    })();
    if written.is_err() {
        // What stays is tidied up later.
        let _stays = files::remove(&unfinished);
    }
    written
}

/// Digests what is read.
struct Digested<'a, R> {
    inner: R,
    hasher: &'a mut blake3::Hasher,
}

impl<R: Read> Read for Digested<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        Ok(read)
    }
}

fn sql_size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
