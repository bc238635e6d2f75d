//! Which directories a person trusts. Trust holds for the directory that was agreed to: what lies further down counts
//! for itself, because a command may write there what nobody has agreed to; and what somebody else has put in its place
//! is another directory.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directories that are trusted, as they were when somebody looked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trusted {
    everything: bool,
    agreed: Vec<Agreed>,
}

/// A directory that somebody agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agreed {
    /// The directory, in which links are resolved.
    pub(crate) path: PathBuf,
    /// Whose it was then, where that is on record.
    pub(crate) owner: Option<u32>,
}

impl Agreed {
    /// A directory as it is now.
    pub(crate) fn now(path: &Path) -> Agreed {
        Agreed { path: path.to_path_buf(), owner: fs::metadata(path).ok().map(|found| found.uid()) }
    }

    /// Who owns the directory now, if it is a stranger: neither who runs this, nor root, nor who owned it when it was
    /// agreed to. Where there is nothing, there is nothing to believe.
    pub(crate) fn stranger(&self) -> Option<Stranger> {
        let owner = match fs::symlink_metadata(&self.path) {
            Ok(found) => found.uid(),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return None;
            }
            Err(_) => return Some(Stranger::Unknown),
        };
        let known = [Some(rustix::process::geteuid().as_raw()), Some(0), self.owner];
        (!known.contains(&Some(owner))).then_some(Stranger::User(owner))
    }
}

/// Who owns a directory that somebody else owned when it was agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// A user, by number.
    User(u32),
    /// Somebody: it cannot be found out.
    Unknown,
}

impl std::fmt::Display for Stranger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stranger::User(user) => write!(f, "user {user}"),
            Stranger::Unknown => f.write_str("somebody who cannot be found out"),
        }
    }
}

impl Trusted {
    /// These directories and no others, or everything whatever they are.
    pub(crate) fn new(everything: bool, agreed: Vec<Agreed>) -> Trusted {
        Trusted { everything, agreed }
    }

    /// Whether what stands in a directory, in which links are resolved, counts in full.
    pub(crate) fn holds(&self, directory: &Path) -> bool {
        self.everything || self.is_agreed(directory)
    }

    /// Whether somebody agreed to that very directory.
    pub(crate) fn is_agreed(&self, directory: &Path) -> bool {
        self.agreed.iter().any(|agreed| agreed.path == directory && agreed.stranger().is_none())
    }

    /// Whether a path lies in a directory of a project that is trusted.
    pub(crate) fn covers(&self, project: &Path, path: &Path) -> bool {
        let is_around = |agreed: &Agreed| {
            agreed.path.starts_with(project) && path.starts_with(&agreed.path) && agreed.stranger().is_none()
        };
        self.everything || self.agreed.iter().any(is_around)
    }

    /// Whether everything is, whatever was agreed to.
    pub(crate) fn is_everything(&self) -> bool {
        self.everything
    }

    /// Those that were agreed to, one by one.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &PathBuf> {
        self.agreed.iter().map(|agreed| &agreed.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreed(paths: &[&str]) -> Vec<Agreed> {
        paths.iter().map(|path| Agreed { path: path.into(), owner: None }).collect()
    }

    #[test]
    fn what_lies_further_down_counts_for_itself() {
        let trusted = Trusted::new(false, agreed(&["/p", "/p/a/b"]));
        assert!(trusted.holds(Path::new("/p")) && trusted.holds(Path::new("/p/a/b")));
        for other in ["/", "/p/a", "/p/a/b/c", "/pp"] {
            assert!(!trusted.holds(Path::new(other)), "{other}");
        }
        assert!(Trusted::new(true, Vec::new()).holds(Path::new("/p/a")));
    }

    #[test]
    fn a_path_is_covered_by_what_is_trusted_in_its_own_project() {
        let trusted = Trusted::new(false, agreed(&["/home", "/home/p/a"]));
        let project = Path::new("/home/p");
        assert!(trusted.covers(project, Path::new("/home/p/a/x.js")));
        assert!(
            !trusted.covers(project, Path::new("/home/p/x.js")),
            "what is around the project does not count"
        );
    }

    #[test]
    fn a_directory_is_believed_while_it_is_somebodys_who_is_known() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap();
        assert_eq!(Agreed::now(&path).stranger(), None);
        assert_eq!(Agreed { owner: Some(4242), ..Agreed::now(&path) }.stranger(), None, "it is ours");
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let owned_by = |owner| std::os::unix::fs::chown(&path, Some(owner), None).unwrap();
        owned_by(4242);
        assert_eq!(Agreed::now(&path).stranger(), None, "it was theirs when it was agreed to");
        for before in [None, Some(0), Some(4243)] {
            let agreed = Agreed { path: path.clone(), owner: before };
            assert_eq!(agreed.stranger(), Some(Stranger::User(4242)), "{before:?}");
            assert!(!Trusted::new(false, vec![agreed]).holds(&path));
        }
        owned_by(0);
    }
}
