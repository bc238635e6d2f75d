//! Where that is kept which was taken away from a protected name. Nobody can be sure who made it, so it is not removed: it
//! waits out of reach of commands for whoever misses it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, openat, readlinkat};

use super::removal::{self, nonce, open_above};

const DIRECTORY: &str = "taken";
/// So much is kept of what one command left: a command may make anything, and it is not asked for.
const ITEMS_MAX: usize = 64;
const BYTES_MAX: u64 = 16 << 20;
/// So many things are kept in all; for a new one, the oldest goes.
const ITEMS_IN_ALL_MAX: usize = 256;
const ENTRIES_MAX: usize = 16 << 10;
const DEPTH_MAX: usize = 64;
/// So many entries are looked at to see that nothing is in something.
const LOOKED_AT_MAX: usize = 256;

/// What is kept in a custody: a directory for each thing, whose name begins with when it was taken away, in milliseconds.
pub fn taken(custody: &Path) -> Vec<PathBuf> {
    listed(&custody.join(DIRECTORY)).collect()
}

/// Removes one of the things that are kept, whatever its modes.
///
/// # Errors
/// Where some of it is still there.
pub fn remove_taken(thing: &Path) -> io::Result<()> {
    removal::remove(thing)
}

/// Keeps things, as long as there is room for them.
pub(super) struct Keeping {
    directory: PathBuf,
    room: Room,
}

/// How much more is kept.
#[derive(Clone, Copy)]
struct Room {
    items: usize,
    bytes: u64,
    entries: usize,
}

/// Why something is not kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unkept {
    /// There is nothing in it.
    Empty,
    /// There is no room for it, or it can be neither moved nor copied. It is where it was.
    Whole,
}

impl Keeping {
    pub(super) fn within(custody: &Path) -> Keeping {
        let room = Room { items: ITEMS_MAX, bytes: BYTES_MAX, entries: ENTRIES_MAX };
        Keeping { directory: custody.join(DIRECTORY), room }
    }

    /// Moves something from where it was put aside to where it is kept, under its own name; says where that is.
    pub(super) fn keep(&mut self, aside: &Path, name: &Path) -> Result<PathBuf, Unkept> {
        if is_empty(aside) {
            return Err(Unkept::Empty);
        }
        let moved = || {
            let room = measured(aside, self.room)?;
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
            let directory = self.directory.join(format!("{since}-{}", nonce()));
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
            make_room(&self.directory);
            let kept = directory.join(name);
            move_to(aside, &kept).inspect_err(|_| drop(removal::remove(&directory)))?;
            Ok::<_, io::Error>((kept, room))
        };
        let (kept, room) = moved().map_err(|_| Unkept::Whole)?;
        self.room = room;
        Ok(kept)
    }
}

fn make_room(directory: &Path) {
    let mut all: Vec<PathBuf> = listed(directory).collect();
    all.sort();
    let too_many = all.len().saturating_sub(ITEMS_IN_ALL_MAX);
    all.iter().take(too_many).for_each(|oldest| drop(removal::remove(oldest)));
}

fn listed(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Whether nothing would be lost with something: it holds neither bytes nor links, as far as that is quickly seen.
fn is_empty(path: &Path) -> bool {
    let mut waiting = vec![path.to_path_buf()];
    for _ in 0..LOOKED_AT_MAX {
        let Some(path) = waiting.pop() else { return true };
        let Ok(found) = fs::symlink_metadata(&path) else { return true };
        if !(found.is_dir() || found.is_file() && found.len() == 0) {
            return false;
        }
        if found.is_dir() {
            let Ok(entries) = fs::read_dir(&path) else { return false };
            waiting.extend(entries.take(LOOKED_AT_MAX).flatten().map(|entry| entry.path()));
        }
    }
    false
}

/// How much room would be left.
fn measured(path: &Path, room: Room) -> io::Result<Room> {
    let no_room = || io::Error::other("there is no room for it");
    let mut left = Room { items: room.items.checked_sub(1).ok_or_else(no_room)?, ..room };
    let mut waiting = vec![(path.to_path_buf(), DEPTH_MAX)];
    while let Some((path, depth)) = waiting.pop() {
        left.entries = left.entries.checked_sub(1).ok_or_else(no_room)?;
        let found = fs::symlink_metadata(&path)?;
        if found.is_dir() {
            let depth = depth.checked_sub(1).ok_or_else(no_room)?;
            for entry in fs::read_dir(&path)? {
                waiting.push((entry?.path(), depth));
            }
        } else {
            left.bytes = left.bytes.checked_sub(found.len()).ok_or_else(no_room)?;
        }
    }
    Ok(left)
}

/// Moves something. Where that leads to another file system, and where it has other names by which it could be written,
/// it is copied.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    let has_other_names = fs::symlink_metadata(from).is_ok_and(|found| found.is_file() && found.nlink() > 1);
    if !has_other_names && fs::rename(from, to).is_ok() {
        return Ok(());
    }
    let name = from.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    copy(&open_above(from)?, Path::new(name), to, &mut BYTES_MAX.clone(), DEPTH_MAX)?;
    removal::remove(from)
}

/// Another command may change what is copied meanwhile: no link is followed, nothing is waited for, and what was opened is
/// what is read.
fn copy(above: &OwnedFd, name: &Path, to: &Path, room: &mut u64, depth: usize) -> io::Result<()> {
    let depth = depth.checked_sub(1).ok_or(io::ErrorKind::InvalidInput)?;
    if let Ok(target) = readlinkat(above, name, Vec::new()) {
        return std::os::unix::fs::symlink(OsStr::from_bytes(target.as_bytes()), to);
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(above, name, flags, Mode::empty())?;
    match FileType::from_raw_mode(fstat(&opened)?.st_mode) {
        FileType::RegularFile => {
            let mut made = File::options().write(true).create_new(true).mode(0o600).open(to)?;
            let copied = io::copy(&mut File::from(opened).take(*room + 1), &mut made)?;
            *room = room.checked_sub(copied).ok_or(io::ErrorKind::FileTooLarge)?;
            Ok(())
        }
        FileType::Directory => {
            fs::DirBuilder::new().mode(0o700).create(to)?;
            for entry in Dir::read_from(&opened)? {
                let entry = entry?;
                let name = Path::new(OsStr::from_bytes(entry.file_name().to_bytes()));
                if name != Path::new(".") && name != Path::new("..") {
                    copy(&opened, name, &to.join(name), room, depth)?;
                }
            }
            Ok(())
        }
        _ => Err(io::Error::other("it is neither a file nor a directory")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{BYTES_MAX, ITEMS_MAX, Keeping, Unkept, copy, open_above};

    #[test]
    fn what_holds_something_is_kept_under_its_name_as_long_as_there_is_room() {
        let world = tempfile::tempdir().unwrap();
        let mut keeping = Keeping::within(&world.path().join("custody"));
        let aside = world.path().join("aside");
        fs::create_dir_all(aside.join("empty/too")).unwrap();
        fs::write(aside.join("nothing"), "").unwrap();
        assert_eq!(keeping.keep(&aside, ".vscode".as_ref()), Err(Unkept::Empty));
        fs::write(aside.join("tasks.json"), "{}").unwrap();
        let kept = keeping.keep(&aside, ".vscode".as_ref()).unwrap();
        assert!(kept.ends_with(".vscode") && !aside.exists());
        assert_eq!(fs::read_to_string(kept.join("tasks.json")).unwrap(), "{}");
        let file = |bytes: u64| {
            fs::File::create(&aside).unwrap().set_len(bytes).unwrap();
        };
        file(BYTES_MAX);
        assert_eq!(keeping.keep(&aside, "large".as_ref()), Err(Unkept::Whole));
        for _ in 1..ITEMS_MAX {
            file(1);
            assert!(keeping.keep(&aside, "small".as_ref()).is_ok());
        }
        file(1);
        assert_eq!(keeping.keep(&aside, "one more".as_ref()), Err(Unkept::Whole));
        assert!(aside.exists());
    }

    #[test]
    fn what_can_be_written_by_another_name_is_copied() {
        let world = tempfile::tempdir().unwrap();
        let (aside, other) = (world.path().join("aside"), world.path().join("other"));
        fs::write(&aside, "x").unwrap();
        fs::hard_link(&aside, &other).unwrap();
        let kept = Keeping::within(world.path()).keep(&aside, "name".as_ref()).unwrap();
        fs::write(&other, "changed").unwrap();
        assert_eq!(fs::read_to_string(kept).unwrap(), "x");
        assert!(!aside.exists());
    }

    #[test]
    fn a_copy_is_the_same_follows_no_link_and_has_an_end() {
        let world = tempfile::tempdir().unwrap();
        let (from, to) = (world.path().join("from"), world.path().join("to"));
        fs::create_dir_all(from.join("deep/er")).unwrap();
        fs::write(from.join("deep/er/file"), "x").unwrap();
        std::os::unix::fs::symlink("/etc", from.join("link")).unwrap();
        let above = open_above(&from.canonicalize().unwrap()).unwrap();
        let copied = |to: &str, room: u64, depth: usize| {
            copy(&above, "from".as_ref(), &world.path().join(to), &mut room.clone(), depth)
        };
        copied("to", 9, 9).unwrap();
        assert_eq!(fs::read_to_string(to.join("deep/er/file")).unwrap(), "x");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), std::path::Path::new("/etc"));
        assert!(copied("shallow", 9, 2).is_err() && copied("small", 0, 9).is_err());
        rustix::fs::mkfifoat(rustix::fs::CWD, from.join("pipe"), 0o600.into()).unwrap();
        assert!(copied("pipe", 9, 9).is_err());
    }
}
