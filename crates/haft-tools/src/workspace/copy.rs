//! A copy of a file for a program that insists on a file: it stands in a directory of its own beside the original, so
//! the program finds the configuration that holds there, and nothing but the copy can be changed.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use haft::Intent;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::Workspace;
use super::left::LeftFile;

/// So many names are tried for a directory.
const NAMES_MAX: usize = 16;

/// A copy that goes away with this.
pub(crate) struct Copy {
    directory: PathBuf,
    opened: OwnedFd,
    name: PathBuf,
}

impl Workspace {
    /// Copies a text beside the file it is of. Should the process die, what is left is found by the file's digest.
    pub(crate) fn copy_beside(&self, file: &LeftFile, text: &str) -> io::Result<Copy> {
        let real = file.place().real();
        let (Some(above), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let (root, relative) = self.root_of(above);
        let parent = root.open_directory(&relative)?;
        let intent = Intent {
            path: PathBuf::new(),
            before: None,
            after: Some(file.digest().to_owned()),
            midway: None,
        };
        let made = make_directory(&parent, &intent.temporary())?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&parent, &made, flags, Mode::empty()).inspect_err(|_| {
            let _stays = rustix::fs::unlinkat(&parent, &made, AtFlags::REMOVEDIR);
        })?;
        let copy = Copy { directory: above.join(made), opened, name: name.into() };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let written = rustix::fs::openat(&copy.opened, &copy.name, flags, Mode::from_raw_mode(0o600))?;
        File::from(written).write_all(text.as_bytes())?;
        Ok(copy)
    }
}

impl Copy {
    /// The directory, which holds nothing else.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the copy is.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// What the copy holds now, up to a size. No link is followed.
    pub(crate) fn read(&self, bytes_max: usize) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.opened, &self.name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&opened)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no longer a file"));
        }
        let mut bytes = Vec::new();
        File::from(opened).take(bytes_max as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let remove = || fs::remove_dir_all(&self.directory);
        // Tried twice, since nobody else would remove it. One that cannot be removed does no harm.
        let _stays = remove().or_else(|_| remove());
    }
}

fn make_directory(parent: &OwnedFd, beginning: &str) -> Result<String, Errno> {
    let mut tries = 0;
    loop {
        let name = format!("{beginning}-{:016x}", RandomState::new().hash_one(tries));
        match rustix::fs::mkdirat(parent, &name, Mode::from_raw_mode(0o700)) {
            Ok(()) => return Ok(name),
            Err(Errno::EXIST) if tries < NAMES_MAX => tries += 1,
            Err(error) => return Err(error),
        }
    }
}
