//! Which program is started as the helper: a small one that lies beside this program, or this program itself.
//!
//! The small one starts in about half the time. It is trusted as this program is (`beside.rs`), and started by the
//! descriptor that was judged; once it was replaced or written to, by an upgrade or by anybody, this program goes on with
//! itself. Whether it is of the same build it says itself, see `helper.rs`.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::beside::{Beside, Made};
use crate::sandbox::THIS_PROGRAM;

/// The small helper's name.
const BESIDE: &str = "haft-helper";

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
    Held(&'static Beside),
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
            Helper::Held(held) => held.path().display().to_string(),
            Helper::At(path) if path != Path::new(THIS_PROGRAM) => path.display().to_string(),
            Helper::At(_) => match beside().and_then(|helper| judge(&helper)) {
                Ok(()) => "this program itself".to_owned(),
                Err(why) => format!("this program itself ({BESIDE} would start sooner: {why})"),
            },
        }
    }
}

/// The small helper, or why there is none to use. It is looked for once, and held as long as this process lives: a
/// command that is to start it may be kept for however long.
fn beside() -> Result<Helper, String> {
    static FOUND: OnceLock<Result<Beside, String>> = OnceLock::new();
    FOUND.get_or_init(|| Beside::find(BESIDE)).as_ref().map(Helper::Held).map_err(String::clone)
}
