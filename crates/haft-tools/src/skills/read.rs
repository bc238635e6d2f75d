//! Reading files of skills: from a directory that was opened once, without following a link on the way.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use haft::visible;
use rustix::fs::{FileType, OFlags};

use super::{Owner, SkillPlace};
use crate::workspace::Root;

/// Longer skills are none.
const BYTES_MAX: u64 = 256 << 10;

/// A place of skills, and how far files may be reached from it.
pub(super) struct Reach {
    /// The directory as it is spelled.
    pub(super) directory: PathBuf,
    root: Root,
    /// Whether links are followed, wherever they lead.
    follows: bool,
}

impl Reach {
    /// Opens a place. `None` if there is no such directory, or it leads out of its project.
    pub(super) fn of(place: &SkillPlace) -> Option<Reach> {
        // To follow a path takes as many questions as it has names; most are not there.
        if !place.directory.is_dir() {
            return None;
        }
        let real = place.directory.canonicalize().ok()?;
        let (root, follows) = match &place.owner {
            Owner::Person => (PathBuf::from("/"), true),
            Owner::Project { root, .. } => (root.canonicalize().ok()?, false),
        };
        if !real.starts_with(&root) {
            return None;
        }
        Some(Reach { directory: place.directory.clone(), root: Root::open(&root).ok()?, follows })
    }

    /// Where a path really is. `None` if it is not there, an error if it may not be followed.
    pub(super) fn real(&self, path: &Path) -> Result<Option<PathBuf>, String> {
        let Ok(real) = path.canonicalize() else { return Ok(None) };
        match self.follows || real.starts_with(self.root.path()) {
            true => Ok(Some(real)),
            false => Err(format!("{} leads out of the project and is left out", shown(path))),
        }
    }

    /// The text of a file.
    pub(super) fn text(&self, path: &Path) -> Result<String, String> {
        let problem = |what: &str| format!("{}: {what}; the skill is left out", shown(path));
        let real = self.real(path)?.ok_or_else(|| problem("it is gone"))?;
        let relative = Root::relative(&self.root, &real).ok_or_else(|| problem("it is out of reach"))?;
        let look = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = self.root.open_at(&relative, look).map_err(|error| problem(&error.to_string()))?;
        let stat = rustix::fs::fstat(&fd).map_err(|error| problem(&error.to_string()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(problem("it is not a file"));
        }
        let mut bytes = Vec::new();
        let read = File::from(fd).take(BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| problem(&error.to_string()))?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(problem(&format!("it is larger than {BYTES_MAX} bytes")));
        }
        String::from_utf8(bytes).map_err(|_| problem("it is not UTF-8 text"))
    }
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}
