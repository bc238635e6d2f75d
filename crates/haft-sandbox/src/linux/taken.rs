//! Where that is kept which was taken away from a protected name. Nobody can be sure who made it, so it is not removed: it
//! waits out of reach of commands for whoever misses it.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::removal::{self, nonce};

const DIRECTORY: &str = "taken";
/// So much is kept of what one command left: a command may make anything, and it is not asked for.
pub(super) const ITEMS_MAX: usize = 64;
const BYTES_MAX: u64 = 16 << 20;
/// So many things are kept in all; for a new one, the oldest goes.
const ITEMS_IN_ALL_MAX: usize = 512;
const ENTRIES_MAX: usize = 16 << 10;
const DEPTH_MAX: usize = 64;

/// What is kept in a custody: a directory for each thing, whose name begins with when it was taken away, in milliseconds.
pub fn taken(custody: &Path) -> Vec<PathBuf> {
    listed(&custody.join(DIRECTORY)).collect()
}

/// Keeps things, as long as there is room for them.
pub(super) struct Keeping {
    directory: PathBuf,
    items: usize,
    room: Room,
}

/// How much more is kept.
#[derive(Clone, Copy)]
struct Room {
    bytes: u64,
    entries: usize,
}

impl Keeping {
    pub(super) fn within(custody: &Path) -> Keeping {
        let room = Room { bytes: BYTES_MAX, entries: ENTRIES_MAX };
        Keeping { directory: custody.join(DIRECTORY), items: 0, room }
    }

    /// Moves something from where it was put aside to where it is kept, under its own name; says where that is. Nothing
    /// is kept of what is empty, and of what there is no room for. What lies on another file system is copied.
    ///
    /// # Errors
    /// Where it could be neither moved nor copied: then it is where it was.
    pub(super) fn keep(&mut self, aside: &Path, name: &Path) -> io::Result<Option<PathBuf>> {
        let Some(room) = measured(aside, self.room).filter(|_| self.items < ITEMS_MAX) else {
            return Ok(None);
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let directory = self.directory.join(format!("{since}-{}", nonce()));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        self.make_room();
        let kept = directory.join(name);
        if let Err(error) = fs::rename(aside, &kept).or_else(|_| copy(aside, &kept, DEPTH_MAX)) {
            removal::remove(&directory).ok();
            return Err(error);
        }
        (self.items, self.room) = (self.items + 1, room);
        Ok(Some(kept))
    }
}

impl Keeping {
    fn make_room(&self) {
        let mut all: Vec<PathBuf> = listed(&self.directory).collect();
        all.sort();
        let too_many = all.len().saturating_sub(ITEMS_IN_ALL_MAX);
        all.iter().take(too_many).for_each(|oldest| drop(removal::remove(oldest)));
    }
}

fn listed(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// How much room would be left. None if there is not enough, if it holds what cannot be kept, or nothing at all.
fn measured(path: &Path, room: Room) -> Option<Room> {
    let (mut left, mut is_empty) = (room, true);
    let mut waiting = vec![(path.to_path_buf(), DEPTH_MAX)];
    while let Some((path, depth)) = waiting.pop() {
        left.entries = left.entries.checked_sub(1)?;
        let found = fs::symlink_metadata(&path).ok()?;
        if found.is_dir() {
            let depth = depth.checked_sub(1)?;
            for entry in fs::read_dir(&path).ok()? {
                waiting.push((entry.ok()?.path(), depth));
            }
        } else if found.is_file() {
            left.bytes = left.bytes.checked_sub(found.len())?;
            is_empty &= found.len() == 0;
        } else if found.is_symlink() {
            is_empty = false;
        } else {
            return None;
        }
    }
    (!is_empty).then_some(left)
}

/// The same where haft's data lie on another file system. Every process of the command is gone, so nothing changes under it.
fn copy(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    let depth = depth.checked_sub(1).ok_or(io::ErrorKind::InvalidInput)?;
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if !found.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()), depth)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ITEMS_MAX, Keeping, copy};

    #[test]
    fn what_holds_something_is_kept_under_its_name_as_long_as_there_is_room() {
        let world = tempfile::tempdir().unwrap();
        let mut keeping = Keeping::within(&world.path().join("custody"));
        let aside = world.path().join("aside");
        fs::create_dir_all(aside.join("empty/too")).unwrap();
        fs::write(aside.join("nothing"), "").unwrap();
        assert_eq!(keeping.keep(&aside, ".vscode".as_ref()).unwrap(), None);
        fs::write(aside.join("tasks.json"), "{}").unwrap();
        let kept = keeping.keep(&aside, ".vscode".as_ref()).unwrap().unwrap();
        assert!(kept.ends_with(".vscode") && !aside.exists());
        assert_eq!(fs::read_to_string(kept.join("tasks.json")).unwrap(), "{}");
        let file = |bytes: u64| {
            fs::File::create(&aside).unwrap().set_len(bytes).unwrap();
        };
        file(super::BYTES_MAX);
        assert_eq!(keeping.keep(&aside, "large".as_ref()).unwrap(), None);
        for _ in 1..ITEMS_MAX {
            file(1);
            assert!(keeping.keep(&aside, "small".as_ref()).unwrap().is_some());
        }
        file(1);
        assert_eq!(keeping.keep(&aside, "one more".as_ref()).unwrap(), None);
    }

    #[test]
    fn a_copy_is_the_same_and_follows_no_link() {
        let world = tempfile::tempdir().unwrap();
        let (from, to) = (world.path().join("from"), world.path().join("to"));
        fs::create_dir_all(from.join("deep/er")).unwrap();
        fs::write(from.join("deep/er/file"), "x").unwrap();
        std::os::unix::fs::symlink("/etc", from.join("link")).unwrap();
        copy(&from, &to, 9).unwrap();
        assert_eq!(fs::read_to_string(to.join("deep/er/file")).unwrap(), "x");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), std::path::Path::new("/etc"));
        assert!(copy(&from, &world.path().join("shallow"), 2).is_err());
    }
}
