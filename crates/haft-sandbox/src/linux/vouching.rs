//! Protected files that somebody was let write. Commands may not make them, but haft does when a person agrees, and a
//! command of this haft or another one may be running there: its supervisor must be able to tell the one from the other.
//!
//! Whoever writes says so before, in a file that commands can neither see nor change, and holds a lock on it as long as
//! the writing takes; then they say what the files hold. What was said before a command began does not count for it: it
//! found the files as they were, and must not bring back what was let once. So it goes after some days.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::removal::nonce;
use super::wire::Wire;
use crate::spec::Content;

const DIRECTORY: &str = "vouched";
/// Writing takes milliseconds. Whoever takes longer has died, or is not waited for.
const WRITING_NANOSECONDS_MAX: u64 = 10_000_000_000;
/// How the names of files begin that haft writes on their way to their place.
const TEMPORARY: &[u8] = b".haft-tmp-";
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 3600);
/// So much of what was said is read.
const BYTES_MAX: u64 = 1 << 20;

/// What is said: when, of which files, and behind it, as soon as they are written, when that was and what these hold.
/// Digests are texts.
type Word = (u64, Vec<PathBuf>);
type LastWord = (u64, Vec<(PathBuf, (u64, PathBuf))>);

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
        forget_the_old(custody);
        let options = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).to_owned();
        let mut file = options.open(directory.join(nonce()))?;
        // Before anything stands in it, so that nobody takes it for finished.
        file.lock()?;
        say(&mut file, &(now(), paths))?;
        Ok(Vouching { file })
    }

    /// Says what those files hold now; of those that are gone it is said that nothing that stands there is vouched for.
    ///
    /// # Errors
    /// Where it cannot be said. Then what was written counts as written by whoever is watched.
    pub fn finish(mut self, files: &[(PathBuf, Content)]) -> io::Result<()> {
        let text = |(path, content): &(PathBuf, Content)| {
            (path.clone(), (content.bytes, PathBuf::from(content.digest.to_hex().as_str())))
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

/// What was said and done with before a command began, by the names of the files that it stands in.
#[derive(Debug, Default)]
pub(super) struct Earlier(HashSet<OsString>);

impl Earlier {
    pub(super) fn of(custody: &Path) -> Earlier {
        let is_done = |path: &PathBuf| heard(path).is_ok_and(|heard| heard.said != Said::Writing);
        let done = listed(custody).filter(is_done);
        Earlier(done.filter_map(|path| Some(path.file_name()?.to_owned())).collect())
    }

    fn has(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| self.0.contains(name))
    }
}

/// What was said of protected files.
#[derive(Debug, Default)]
pub(super) struct Vouched {
    files: HashMap<PathBuf, Content>,
    /// Files that somebody is just writing.
    pending: Vec<PathBuf>,
}

impl Vouched {
    /// All that was said since. What cannot be read was not said.
    pub(super) fn said(custody: &Path, earlier: &Earlier) -> Vouched {
        let since = listed(custody).filter(|path| !earlier.has(path));
        let mut words: Vec<Heard> = since.filter_map(|path| heard(&path).ok()).collect();
        words.sort();
        let mut vouched = Vouched::default();
        for Heard { at, paths, said } in words {
            match said {
                // The last word on a file counts.
                Said::Written(files) => {
                    vouched.files.retain(|path, _| !paths.contains(path));
                    let content = |(bytes, text): (u64, PathBuf)| {
                        Some(Content { bytes, digest: blake3::Hash::from_hex(text.to_str()?).ok()? })
                    };
                    let known = files.into_iter().filter_map(|(path, said)| Some((path, content(said)?)));
                    vouched.files.extend(known);
                }
                // A clock that was set back says nothing.
                Said::Writing if now().checked_sub(at).is_some_and(|it| it < WRITING_NANOSECONDS_MAX) => {
                    vouched.pending.extend(paths);
                }
                // They hang, or have died.
                Said::Writing | Said::Nothing => {}
            }
        }
        vouched
    }

    /// Whether a file is one that somebody is just writing, or lies beside it on its way there.
    pub(super) fn is_pending(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_beside = |pending: &Path| name.starts_with(TEMPORARY) && pending.parent() == path.parent();
        self.pending.iter().any(|pending| pending == path || is_beside(pending))
    }

    /// Whether somebody is just writing below a directory.
    pub(super) fn is_pending_below(&self, path: &Path) -> bool {
        self.pending.iter().any(|pending| pending.starts_with(path) && pending != path)
    }

    /// The same, as if nobody was writing any more.
    pub(super) fn without_pending(self) -> Vouched {
        Vouched { pending: Vec::new(), ..self }
    }

    /// Whether something was said of files below a directory.
    pub(super) fn has_below(&self, path: &Path) -> bool {
        self.files.keys().any(|known| known.starts_with(path))
    }

    /// The content that a file was let have.
    pub(super) fn content(&self, path: &Path) -> Option<Content> {
        self.files.get(path).copied()
    }
}

/// What one of them said. The order is that in which it was said.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Heard {
    at: u64,
    paths: Vec<PathBuf>,
    said: Said,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Writing,
    Written(Vec<(PathBuf, (u64, PathBuf))>),
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
        (false, _) => Heard { at, paths, said: Said::Writing },
        (true, Ok((at, files))) => Heard { at, paths, said: Said::Written(files) },
        (true, Err(_)) => Heard { at, paths, said: Said::Nothing },
    })
}

fn listed(custody: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(custody.join(DIRECTORY)).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn forget_the_old(custody: &Path) {
    for path in listed(custody) {
        let modified = fs::metadata(&path).and_then(|found| found.modified());
        if modified.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > KEPT_FOR)) {
            fs::remove_file(path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Content, Earlier, Vouched, Vouching};

    #[test]
    fn what_is_said_last_counts_and_what_is_not_finished_is_pending() {
        let custody = tempfile::tempdir().unwrap();
        let custody = custody.path();
        let (a, b) = (PathBuf::from("/w/.vscode/a"), PathBuf::from("/w/b"));
        let [one, two] = [b"1", b"2"].map(|bytes| Content::of(bytes));
        let begin = || Vouching::begin(custody, vec![a.clone(), b.clone()]).unwrap();
        let said = || Vouched::said(custody, &Earlier::default());
        let first = begin();
        let now = said();
        assert!(now.is_pending(&a) && now.is_pending(&b) && now.is_pending_below(Path::new("/w/.vscode")));
        assert!(now.is_pending(Path::new("/w/.vscode/.haft-tmp-1")));
        assert!(!now.is_pending(Path::new("/w/.vscode/c")) && !now.is_pending_below(Path::new("/w/.idea")));
        assert_eq!(now.content(&a), None);
        let earlier = Earlier::of(custody);
        first.finish(&[(a.clone(), one), (b.clone(), one)]).unwrap();
        assert!(!said().is_pending(&a));
        assert_eq!((said().content(&a), said().content(&b)), (Some(one), Some(one)));
        // It was begun before, and is finished since.
        assert_eq!(Vouched::said(custody, &earlier).content(&a), Some(one));
        assert_eq!(Vouched::said(custody, &Earlier::of(custody)).content(&a), None);
        // A file is written anew, the other one is removed.
        begin().finish(&[(a.clone(), two)]).unwrap();
        assert_eq!((said().content(&a), said().content(&b)), (Some(two), None));
        // Whoever died has said nothing of what the files hold, so what was said before holds on.
        drop(begin());
        assert!(!said().is_pending(&a) && said().content(&a) == Some(two));
    }
}
