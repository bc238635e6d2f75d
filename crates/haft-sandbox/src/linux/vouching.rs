//! Protected files that somebody was let write. Commands may not make them, but haft does when a person agrees, and a
//! command of this haft or another one may be running there: its supervisor must be able to tell the one from the other.
//!
//! Whoever writes says so before, in a file that commands can neither see nor change, and holds a lock on it as long as
//! the writing takes; then they say what the files hold. What was said is of use to those commands only that ran then,
//! so it goes after some days.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::removal::nonce;
use super::wire::Wire;

const DIRECTORY: &str = "vouched";
/// Writing takes milliseconds. Whoever takes longer has died, or is not waited for.
const WRITING_NANOSECONDS_MAX: u64 = 10_000_000_000;
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 3600);
/// So much of what was said is read.
const BYTES_MAX: u64 = 1 << 20;

/// What is said: when, of which files, and behind it, as soon as they are written, when that was and what these hold.
/// Digests are texts.
type Word = (u64, Vec<PathBuf>);
type LastWord = (u64, Vec<(PathBuf, PathBuf)>);

/// Somebody who is about to write protected files, or does.
#[derive(Debug)]
pub struct Vouching {
    file: File,
}

impl Vouching {
    /// Says that these files are about to be written or removed, in the custody that commands are given in their
    /// [`Profile`](crate::Profile).
    ///
    /// # Errors
    /// Where it cannot be said.
    pub fn begin(custody: &Path, paths: Vec<PathBuf>) -> io::Result<Vouching> {
        let directory = custody.join(DIRECTORY);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        forget_the_old(&directory);
        let options = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).to_owned();
        let mut file = options.open(directory.join(nonce()))?;
        // Before anything stands in it, so that nobody takes it for finished.
        file.lock()?;
        say(&mut file, &(now(), paths))?;
        Ok(Vouching { file })
    }

    /// Says what those files hold now, each by the digest of its content; of those that are gone it is said that nothing
    /// that stands there is vouched for.
    ///
    /// # Errors
    /// Where it cannot be said. Then what was written counts as written by whoever is watched.
    pub fn finish(mut self, files: &[(PathBuf, blake3::Hash)]) -> io::Result<()> {
        let text = |(path, digest): &(PathBuf, blake3::Hash)| {
            (path.clone(), PathBuf::from(digest.to_hex().as_str()))
        };
        say(&mut self.file, &(now(), files.iter().map(text).collect::<Vec<_>>()))
    }
}

fn say(file: &mut File, word: &impl Wire) -> io::Result<()> {
    let mut said = Vec::new();
    word.put(&mut said);
    file.write_all(&said)
}

/// In nanoseconds, because files may be written more often than the clock of files goes on.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// What was said of protected files.
#[derive(Debug, Default)]
pub(super) struct Vouched {
    files: HashMap<PathBuf, blake3::Hash>,
    /// Files that somebody is just writing.
    pending: Vec<PathBuf>,
}

impl Vouched {
    /// All that was said so far. What cannot be read was not said.
    pub(super) fn said(custody: &Path) -> Vouched {
        let entries = fs::read_dir(custody.join(DIRECTORY)).into_iter().flatten().flatten();
        let mut words: Vec<Heard> = entries.filter_map(|entry| heard(&entry.path()).ok()).collect();
        words.sort();
        let mut vouched = Vouched::default();
        for Heard { at, paths, files } in words {
            match files {
                // The last word on a file counts.
                Said::Written(files) => {
                    vouched.files.retain(|path, _| !paths.contains(path));
                    let digest = |text: PathBuf| blake3::Hash::from_hex(text.to_str()?).ok();
                    let known = files.into_iter().filter_map(|(path, text)| Some((path, digest(text)?)));
                    vouched.files.extend(known);
                }
                Said::Writing if now().saturating_sub(at) < WRITING_NANOSECONDS_MAX => {
                    vouched.pending.extend(paths);
                }
                // They hang, or have died.
                Said::Writing | Said::Nothing => {}
            }
        }
        vouched
    }

    /// Whether somebody is just writing something at a path or below it.
    pub(super) fn is_pending(&self, path: &Path) -> bool {
        self.pending.iter().any(|pending| pending.starts_with(path))
    }

    /// The content that a file was let have.
    pub(super) fn content(&self, path: &Path) -> Option<&blake3::Hash> {
        self.files.get(path)
    }
}

/// What one of them said. The order is that in which it was said.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Heard {
    at: u64,
    paths: Vec<PathBuf>,
    files: Said,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Writing,
    Written(Vec<(PathBuf, PathBuf)>),
    /// They are gone.
    Nothing,
}

fn heard(path: &Path) -> io::Result<Heard> {
    let mut file = File::open(path)?;
    let is_over = match file.try_lock_shared() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(error)) => return Err(error),
    };
    let mut bytes = Vec::new();
    (&mut file).take(BYTES_MAX).read_to_end(&mut bytes)?;
    let mut rest = bytes.as_slice();
    let (at, paths) = Word::take(&mut rest)?;
    Ok(match (is_over, LastWord::take(&mut rest)) {
        (false, _) => Heard { at, paths, files: Said::Writing },
        (true, Ok((at, files))) => Heard { at, paths, files: Said::Written(files) },
        (true, Err(_)) => Heard { at, paths, files: Said::Nothing },
    })
}

fn forget_the_old(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|found| found.modified());
        if modified.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > KEPT_FOR)) {
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Vouched, Vouching};

    #[test]
    fn what_is_said_last_counts_and_what_is_not_finished_is_pending() {
        let custody = tempfile::tempdir().unwrap();
        let custody = custody.path();
        let (a, b) = (PathBuf::from("/w/.vscode/a"), PathBuf::from("/w/b"));
        let (one, two) = (blake3::hash(b"1"), blake3::hash(b"2"));
        let begin = || Vouching::begin(custody, vec![a.clone(), b.clone()]).unwrap();
        let first = begin();
        let said = Vouched::said(custody);
        assert!(said.is_pending(Path::new("/w/.vscode")) && said.is_pending(&b));
        assert!(!said.is_pending(Path::new("/w/.idea")) && said.content(&a).is_none());
        first.finish(&[(a.clone(), one), (b.clone(), one)]).unwrap();
        let said = Vouched::said(custody);
        assert!(!said.is_pending(Path::new("/w")));
        assert_eq!((said.content(&a), said.content(&b)), (Some(&one), Some(&one)));
        // A file is written anew, the other one is removed.
        begin().finish(&[(a.clone(), two)]).unwrap();
        let said = Vouched::said(custody);
        assert_eq!((said.content(&a), said.content(&b)), (Some(&two), None));
        // Whoever died has said nothing of what the files hold, so what was said before holds on.
        drop(begin());
        let said = Vouched::said(custody);
        assert!(!said.is_pending(&a) && said.content(&a) == Some(&two));
    }
}
