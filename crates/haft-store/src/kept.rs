//! Images that were kept: how they are read back and, where they cannot be, why.

use std::fs::{self, File};
use std::io::{self, Read};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::{Image, Reopen};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::fault::Fault;
use crate::files::Places;
use crate::open::Notice;
use crate::seal::keys::Keys;
use crate::seal::{Seal, pieces};
use crate::shelf::{earlier_path_of, path_of};

/// What is read of an image before its content.
pub(crate) const COLUMNS: &str = "digest, bytes, length(content),
    coalesce(sealed_by, (SELECT value FROM meta WHERE key = 'images_key'))";

/// Why an image that should be there cannot be read back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    /// Its bytes are not those that were written.
    #[error("what was kept is damaged, or was exchanged")]
    Damaged,
    /// Its file is not there.
    #[error("what was kept is gone: there is no {}", .file.display())]
    Missing {
        /// Where it should be.
        file: PathBuf,
    },
    /// It may be whole, but the key to it is not there.
    #[error("what was kept is sealed with a key that is gone; {}", put_back(.key))]
    KeyLost {
        /// Where the key should be.
        key: PathBuf,
    },
    /// The system does not let it be read.
    #[error("what was kept cannot be read from {}; see to its permissions and its disk: {why}", .file.display())]
    Unreadable {
        /// Its file.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
}

/// What a person does who has a copy of a key that is gone.
pub(crate) fn put_back(key: &Path) -> String {
    let key = key.display();
    format!("put {key} back from a backup or, where there is a newer one, beside it as {key}.old")
}

impl From<Trouble> for io::Error {
    fn from(trouble: Trouble) -> io::Error {
        let kind = match trouble {
            Trouble::Damaged => io::ErrorKind::InvalidData,
            Trouble::Missing { .. } => io::ErrorKind::NotFound,
            Trouble::KeyLost { .. } | Trouble::Unreadable { .. } => io::ErrorKind::Other,
        };
        io::Error::new(kind, trouble)
    }
}

/// Reads back an image. Without content if that was never kept, or was forgotten; what should be there and cannot be read
/// says so when it is opened.
pub(crate) fn find(connection: &Connection, places: &Places, digest: String) -> Result<Image, Fault> {
    let Some(kept) = row(connection, &digest)? else {
        return Ok(Image { digest, bytes: 0, attributes: None, content: None });
    };
    let content = match kept.open(connection, places, &Keys::of(places)?)? {
        Ok(content) => content,
        Err(trouble) => Arc::new(Lost(trouble)),
    };
    Ok(Image { digest, bytes: kept.bytes, attributes: None, content: Some(content) })
}

/// What the record says of an image.
pub(crate) fn row(connection: &Connection, digest: &str) -> Result<Option<Kept>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM image WHERE digest = ?1"))?;
    Ok(statement.query_row([digest], Kept::of).optional()?)
}

/// Notes the key of the images that do not say theirs, because an earlier version kept them. Where it is gone already,
/// there is nothing to note.
pub(crate) fn note_key(connection: &Connection, places: &Places) -> Result<(), Fault> {
    if let Some(seal) = Seal::existing(places)? {
        connection
            .execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('images_key', ?1)", [seal.name()])?;
    }
    Ok(())
}

/// Says that the key is gone although something is sealed with it, until a new one is made.
pub(crate) fn missed_key(connection: &Connection, places: &Places) -> Result<Option<Notice>, Fault> {
    if matches!(Seal::existing(places), Ok(Some(_)) | Err(_)) {
        return Ok(None);
    }
    let is_needed = connection.query_row("SELECT EXISTS (SELECT 1 FROM image)", [], |row| row.get(0))?;
    Ok(Some(Notice::KeyLost { key: places.key.clone() }).filter(|_| is_needed))
}

/// An image on record.
pub(crate) struct Kept {
    pub(crate) digest: String,
    pub(crate) bytes: u64,
    /// The size of its content, where that is in the database.
    inline: Option<u64>,
    sealed_by: Option<String>,
}

impl Kept {
    /// Reads [`COLUMNS`].
    pub(crate) fn of(row: &Row<'_>) -> rusqlite::Result<Kept> {
        let (bytes, inline): (i64, Option<i64>) = (row.get(1)?, row.get(2)?);
        let inline = inline.map(i64::unsigned_abs);
        Ok(Kept { digest: row.get(0)?, bytes: bytes.unsigned_abs(), inline, sealed_by: row.get(3)? })
    }

    /// What can be said without reading it: whether its key is there, and as many bytes as there should be.
    pub(crate) fn glance(&self, places: &Places, keys: &Keys) -> Result<(), Trouble> {
        let seal = keys.find(self.sealed_by.as_deref());
        let seal = seal.ok_or_else(|| Trouble::KeyLost { key: keys.file() })?;
        match self.inline {
            Some(bytes) if bytes == self.bytes => Ok(()),
            Some(_) => Err(Trouble::Damaged),
            None => self.shelved(places, seal).map(drop),
        }
    }

    /// Opens it. What is small is read; what is large is found, and read by whoever opens it.
    pub(crate) fn open(
        &self,
        connection: &Connection,
        places: &Places,
        keys: &Keys,
    ) -> Result<Result<Arc<dyn Reopen>, Trouble>, Fault> {
        let Some(seal) = keys.find(self.sealed_by.as_deref()) else {
            return Ok(Err(Trouble::KeyLost { key: keys.file() }));
        };
        if self.inline.is_none() {
            return Ok(self.shelved(places, seal).map(|shelved| Arc::new(shelved) as Arc<dyn Reopen>));
        }
        let mut content: Vec<u8> = connection
            .prepare_cached("SELECT content FROM image WHERE digest = ?1")?
            .query_row([&self.digest], |row| row.get(0))?;
        seal.apply(&self.digest, &mut content);
        Ok(match crate::digest(&content) == self.digest {
            true => Ok(Arc::new(content)),
            false => Err(Trouble::Damaged),
        })
    }

    /// Reads all of it and says what is wrong with it.
    pub(crate) fn read(
        &self,
        connection: &Connection,
        places: &Places,
        keys: &Keys,
    ) -> Result<Result<(), Trouble>, Fault> {
        let content = match self.open(connection, places, keys)? {
            Ok(content) => content,
            Err(trouble) => return Ok(Err(trouble)),
        };
        if self.inline.is_some() {
            return Ok(Ok(()));
        }
        let mut hasher = blake3::Hasher::new();
        let read = content.open().and_then(|content| hasher.update_reader(content).map(drop));
        Ok(match read {
            Ok(()) if hasher.finalize().to_hex().as_str() == self.digest => Ok(()),
            Ok(()) => Err(Trouble::Damaged),
            Err(error) => Err(self.trouble(places, error)),
        })
    }

    /// The file of the image, with as many bytes as it should have.
    fn shelved(&self, places: &Places, seal: &Seal) -> Result<Shelved, Trouble> {
        let file = path_of(&places.images, &self.digest).ok_or(Trouble::Damaged)?;
        let earlier = |images, is_in_pieces| Some((earlier_path_of(images, &self.digest)?, is_in_pieces));
        let earlier = [earlier(&places.images, true), earlier(&places.earlier_images, false)];
        let mut found = None;
        for (path, is_in_pieces) in iter::once((file.clone(), true)).chain(earlier.into_iter().flatten()) {
            if let Some(size) = size(&path)? {
                found = Some((path, size, is_in_pieces));
                break;
            }
        }
        let Some((path, size, is_in_pieces)) = found else { return Err(Trouble::Missing { file }) };
        let expected = if is_in_pieces { pieces::sealed_bytes(self.bytes) } else { self.bytes };
        if size != expected {
            return Err(Trouble::Damaged);
        }
        let (digest, seal) = (self.digest.clone(), seal.clone());
        Ok(Shelved { path, is_in_pieces, digest, seal })
    }

    /// What an error while reading means.
    fn trouble(&self, places: &Places, error: io::Error) -> Trouble {
        match error.downcast::<Trouble>() {
            Ok(trouble) => trouble,
            Err(error) => {
                let file = path_of(&places.images, &self.digest).unwrap_or_default();
                Trouble::Unreadable { file, why: error.to_string() }
            }
        }
    }
}

/// The size of a file, if it is there.
fn size(path: &Path) -> Result<Option<u64>, Trouble> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
        Ok(_) => Err(Trouble::Damaged),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Trouble {
    Trouble::Unreadable { file: path.to_owned(), why: error.to_string() }
}

/// An image in a file of its own.
struct Shelved {
    path: PathBuf,
    is_in_pieces: bool,
    digest: String,
    seal: Seal,
}

impl Reopen for Shelved {
    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        let file = File::open(&self.path).map_err(|error| unreadable(&self.path, &error))?;
        Ok(match self.is_in_pieces {
            true => Box::new(pieces::Opened::new(&self.seal, &self.digest, file)?),
            false => Box::new(self.seal.reader(&self.digest, file)),
        })
    }
}

/// An image that cannot be read back.
struct Lost(Trouble);

impl Reopen for Lost {
    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        Err(self.0.clone().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::{MIGRATIONS, migrate};

    /// The schema before images said their key.
    const EARLIER: usize = 5;

    struct Kit {
        _directory: tempfile::TempDir,
        places: Places,
        connection: Connection,
    }

    /// A data directory that an earlier version left.
    fn earlier() -> Kit {
        let directory = tempfile::tempdir().unwrap();
        let places = Places::in_dir(directory.path());
        fs::create_dir(&places.run).unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &MIGRATIONS[..EARLIER]).unwrap();
        Kit { _directory: directory, places, connection }
    }

    impl Kit {
        fn insert(&self, digest: &str, bytes: usize, content: Option<&[u8]>) {
            let insert = "INSERT INTO image (digest, bytes, content, used_ms) VALUES (?1, ?2, ?3, 0)";
            self.connection.execute(insert, rusqlite::params![digest, bytes as i64, content]).unwrap();
        }

        fn upgrade(&mut self) {
            migrate(&mut self.connection, MIGRATIONS).unwrap();
            note_key(&self.connection, &self.places).unwrap();
        }

        fn content(&self, digest: &str) -> Result<Vec<u8>, String> {
            let image = find(&self.connection, &self.places, digest.to_owned()).unwrap();
            let mut bytes = Vec::new();
            let content = image.content.unwrap();
            let read = content.open().and_then(|mut content| content.read_to_end(&mut bytes));
            read.map(|_| bytes).map_err(|error| error.to_string())
        }
    }

    #[test]
    fn what_an_earlier_version_kept_is_still_read_and_known_to_be_lost_with_its_key() {
        let mut kit = earlier();
        let seal = Seal::of(&kit.places).unwrap();
        let texts = [b"small".to_vec(), b"kept ".repeat(100_000), b"in pieces ".repeat(100_000)];
        let digests = texts.clone().map(|text| crate::digest(&text));
        let mut sealed = texts.clone();
        for (digest, text) in digests.iter().zip(&mut sealed).take(2) {
            seal.apply(digest, text);
        }
        kit.insert(&digests[0], texts[0].len(), Some(&sealed[0]));
        for (at, images) in [(1, &kit.places.earlier_images), (2, &kit.places.images)] {
            kit.insert(&digests[at], texts[at].len(), None);
            let path = earlier_path_of(images, &digests[at]).unwrap();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut file = File::create(path).unwrap();
            match at {
                1 => io::copy(&mut sealed[at].as_slice(), &mut file).map(drop).unwrap(),
                _ => pieces::seal(&seal, &digests[at], texts[at].as_slice(), &mut file).unwrap(),
            }
        }
        kit.upgrade();
        for (digest, text) in digests.iter().zip(&texts) {
            assert!(kit.content(digest).unwrap() == *text);
        }

        let copy = kit.places.key_with("old");
        fs::rename(&kit.places.key, kit.places.data.join("elsewhere")).unwrap();
        for _ in ["no key at all", "another key"] {
            for digest in &digests {
                assert!(kit.content(digest).unwrap_err().contains("sealed with a key that is gone"));
            }
            Seal::of(&kit.places).unwrap();
        }
        fs::rename(kit.places.data.join("elsewhere"), copy).unwrap();
        for (digest, text) in digests.iter().zip(&texts) {
            assert!(kit.content(digest).unwrap() == *text);
        }
    }
}
