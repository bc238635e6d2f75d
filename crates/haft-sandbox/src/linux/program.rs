//! Which program is started as the helper: a small one that lies beside this program, or this program itself.
//!
//! The small one starts in about half the time. It deserves the trust that this program has, because it lies in
//! the same directory, where nobody else may have put or changed it: it belongs to root or to whoever runs this, and
//! nobody else may write to it. It is opened once, judged by what was opened, and started by that descriptor; once it
//! was replaced or written to, by an upgrade or by anybody, this program goes on with itself. Whether it is of the same
//! build it says itself, see `helper.rs`.

use std::fs::{self, File, Metadata};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags, open, openat};

use crate::sandbox::THIS_PROGRAM;

/// The small helper's name.
const BESIDE: &str = "haft-helper";

const ANYBODY_WRITES: u32 = 0o002;
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;
const TAKES_ANOTHER_IDENTITY: u32 = 0o6000;

/// The programs that can serve as the helper.
pub(crate) struct Helpers {
    /// The one that is rather used, if it works as well.
    beside: Option<Helper>,
    own: Helper,
}

impl Helpers {
    /// The small one, if there is one to be trusted, and this program.
    pub(crate) fn of_this_program() -> Helpers {
        Helpers { beside: beside().ok(), own: Helper::At(THIS_PROGRAM.into()) }
    }

    pub(crate) fn only(program: &Path) -> Helpers {
        Helpers { beside: None, own: Helper::At(program.into()) }
    }

    /// Each of them, the best first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Helper> {
        self.beside.iter().chain([&self.own])
    }

    /// The one that is left when none works.
    pub(super) fn last(&self) -> &Helper {
        &self.own
    }
}

/// One program that can serve as the helper.
#[derive(Debug, Clone)]
pub(crate) enum Helper {
    /// Whatever is there when it is started.
    At(PathBuf),
    /// Exactly this file.
    Held(&'static Held),
}

/// A program that is held open.
#[derive(Debug)]
pub(crate) struct Held {
    path: PathBuf,
    file: File,
    made: Made,
}

impl Helper {
    /// What to start.
    pub(super) fn program(&self) -> PathBuf {
        match self {
            Helper::At(path) => path.clone(),
            Helper::Held(held) if held.is_as_it_was() => {
                format!("/proc/self/fd/{}", held.file.as_raw_fd()).into()
            }
            // Somebody has put a new one there.
            Helper::Held(_) => THIS_PROGRAM.into(),
        }
    }

    /// What tells this file from all others; nothing where it is not there.
    pub(super) fn made(&self) -> Option<Made> {
        match self {
            Helper::At(path) => fs::metadata(path).ok().map(|found| Made::of(&found)),
            Helper::Held(held) => Some(held.made),
        }
    }

    /// Which one it is, in words. `judge` says what is wrong with another one, if anything.
    pub(super) fn described(&self, judge: impl Fn(&Helper) -> Result<(), String>) -> String {
        match self {
            Helper::Held(held) => held.path.display().to_string(),
            Helper::At(path) if path != Path::new(THIS_PROGRAM) => path.display().to_string(),
            Helper::At(_) => match beside().and_then(|helper| judge(&helper)) {
                Ok(()) => "this program itself".to_owned(),
                Err(why) => format!("this program itself ({BESIDE} would start sooner: {why})"),
            },
        }
    }
}

impl Held {
    /// Whether nothing happened to it since it was judged. A program that runs cannot be written to, but this one does
    /// not always run.
    fn is_as_it_was(&self) -> bool {
        self.file.metadata().is_ok_and(|found| Made::of(&found) == self.made)
    }
}

/// What tells a file from all others and from what it was before: the last of it cannot be set by anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Made {
    fn of(found: &Metadata) -> Made {
        Made {
            file: (found.dev(), found.ino()),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// The small helper that lies in the directory of this program, or why there is none to use. It is looked for once, and
/// held as long as this process lives: a command that is to start it may be kept for however long.
fn beside() -> Result<Helper, String> {
    static FOUND: OnceLock<Result<Held, String>> = OnceLock::new();
    FOUND.get_or_init(found_beside).as_ref().map(Helper::Held).map_err(String::clone)
}

fn found_beside() -> Result<Held, String> {
    let own = fs::read_link(THIS_PROGRAM).map_err(|error| format!("this program is not found: {error}"))?;
    let directory = own.parent().ok_or("this program is in no directory")?;
    let path = directory.join(BESIDE);
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let lost = |error| format!("{}: {error}", path.display());
    let opened = open(directory, flags | OFlags::DIRECTORY, Mode::empty()).map_err(lost)?;
    let file = openat(&opened, BESIDE, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(lost)?;
    let (directory, file) = (File::from(opened), File::from(file));
    let found = (directory.metadata(), file.metadata());
    let (Ok(directory), Ok(found)) = found else { return Err(format!("{} is gone", path.display())) };
    judged(&directory, &found).map_err(|why| format!("{} {why}", path.display()))?;
    Ok(Held { path, file, made: Made::of(&found) })
}

/// Whether a program may be trusted as the one that it lies beside.
fn judged(directory: &Metadata, file: &Metadata) -> Result<(), &'static str> {
    let is_ours = [0, rustix::process::geteuid().as_raw()].contains(&file.uid());
    if !file.is_file() {
        Err("is not a file")
    } else if !is_ours {
        Err("belongs to somebody else")
    } else if file.mode() & OTHERS_WRITE != 0 {
        Err("can be written to by others")
    } else if file.mode() & TAKES_ANOTHER_IDENTITY != 0 {
        Err("would run as somebody else")
    } else if directory.mode() & (ANYBODY_WRITES | STICKY) == ANYBODY_WRITES {
        Err("is in a directory that anybody can write to")
    } else {
        Ok(())
    }
}
