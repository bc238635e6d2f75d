//! What JavaScript itself may read: the workspace, its own files, and what it imports. The kernel lets a process look at
//! more, because programs need that; code that wants it of its own accord has to ask.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Where code may read.
#[derive(Debug, Clone, Default)]
pub struct Readable(Option<Vec<PathBuf>>);

impl Readable {
    /// Nothing but what is below these directories. Links in them are resolved.
    pub fn below(roots: impl IntoIterator<Item = PathBuf>) -> Readable {
        let real = roots.into_iter().map(|root| root.canonicalize().unwrap_or(root));
        Readable(Some(real.collect()))
    }

    /// Whether a file may be read; where nothing is, there is nothing to be kept from anybody.
    pub(super) fn check(&self, path: &Path) -> io::Result<()> {
        let (Some(roots), Ok(real)) = (&self.0, path.canonicalize()) else { return Ok(()) };
        match roots.iter().any(|root| real.starts_with(root)) || real == Path::new("/dev/null") {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(rustix::io::Errno::ACCESS.raw_os_error())),
        }
    }

    /// Whether what is written there stays: where everything may be read nothing is private, and elsewhere only what is
    /// below one of the directories, unless that is a temporary one itself.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        let is_private =
            |root: &PathBuf| ["/tmp", "/var/tmp"].iter().any(|private| root == Path::new(private));
        let Some(roots) = &self.0 else { return true };
        roots.iter().filter(|root| !is_private(root)).any(|root| path.starts_with(root))
    }

    /// The same for what is imported, which may also be a package of anybody's.
    pub(super) fn check_import(&self, path: &Path) -> io::Result<()> {
        let of_package = Component::Normal("node_modules".as_ref());
        match path.components().any(|component| component == of_package) {
            true => Ok(()),
            false => self.check(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Readable;
    use std::path::{Path, PathBuf};

    #[test]
    fn what_is_written_stays_where_the_work_is_and_not_in_a_private_directory() {
        let roots = ["/tmp", "/tmp/project", "/home/me/project"].map(PathBuf::from);
        let readable = Readable(Some(roots.to_vec()));
        assert!(readable.keeps(Path::new("/tmp/project/a.txt")));
        assert!(!readable.keeps(Path::new("/tmp/a.txt")));
        assert!(Readable::default().keeps(Path::new("/tmp/a.txt")));
    }
}
