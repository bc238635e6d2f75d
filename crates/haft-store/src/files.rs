//! Files and directories that only their owner can read, and that are on the disk when they should be.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the database file in a data directory.
pub const FILE: &str = "haft.db";

/// Where a store keeps what.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) data: PathBuf,
    pub(crate) database: PathBuf,
    pub(crate) outputs: PathBuf,
    /// The key that what files held is sealed with.
    pub(crate) key: PathBuf,
    /// What files held, where that is large.
    pub(crate) images: PathBuf,
    /// The same by earlier versions, which sealed it otherwise and remove from there what they do not know.
    pub(crate) earlier_images: PathBuf,
    pub(crate) run: PathBuf,
    /// Left behind by a process that found the database damaged while using it.
    pub(crate) suspect: PathBuf,
    /// How far the record had come.
    pub(crate) mark: PathBuf,
    /// Held while the database is created, migrated or set aside.
    pub(crate) opening: PathBuf,
}

impl Places {
    pub(crate) fn in_dir(data: &Path) -> Places {
        Places {
            data: data.to_owned(),
            database: data.join(FILE),
            outputs: data.join("outputs"),
            images: data.join("journal"),
            earlier_images: data.join("images"),
            key: data.join("images.key"),
            run: data.join("run"),
            suspect: data.join("haft.db.suspect"),
            mark: data.join("haft.db.mark"),
            opening: data.join("run").join("opening"),
        }
    }

    /// The key file with a further ending, after a dot.
    pub(crate) fn key_with(&self, ending: &str) -> PathBuf {
        let mut path = self.key.clone().into_os_string();
        path.push(".");
        path.push(ending);
        path.into()
    }

    /// The database file with a further ending, such as `-wal`.
    pub(crate) fn database_with(&self, ending: &str) -> PathBuf {
        let mut path = self.database.clone().into_os_string();
        path.push(ending);
        path.into()
    }
}

/// Makes a directory, and those above it, that only the owner can enter. One that exists stays as it is.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a file that did not exist and that only the owner can read.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    private_options().create_new(true).open(path)
}

/// Opens a file for reading and writing; makes one that only the owner can read if there is none.
pub(crate) fn private_file_or_existing(path: &Path) -> io::Result<File> {
    private_options().create(true).truncate(false).open(path)
}

fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes durable which files a directory holds.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    match cfg!(unix) {
        true => File::open(path)?.sync_all(),
        // Elsewhere a directory cannot be opened as a file, and its changes are durable by themselves.
        false => Ok(()),
    }
}

/// Removes a file. That it is gone already is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// How old a file is, by its last change. What cannot be told is new.
pub(crate) fn age(metadata: &fs::Metadata) -> std::time::Duration {
    metadata.modified().ok().and_then(|changed| changed.elapsed().ok()).unwrap_or_default()
}
