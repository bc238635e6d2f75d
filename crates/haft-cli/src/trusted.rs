//! Which directories a person trusts. Trust holds for the directory that was agreed to: what lies further down counts
//! for itself, because a command may write there what nobody has agreed to.

use std::path::{Path, PathBuf};

/// The directories that are trusted, as they were when somebody looked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trusted {
    everything: bool,
    directories: Vec<PathBuf>,
}

impl Trusted {
    /// These directories and no others, or everything whatever they are.
    pub(crate) fn new(everything: bool, directories: Vec<PathBuf>) -> Trusted {
        Trusted { everything, directories }
    }

    /// Whether what stands in a directory, in which links are resolved, counts in full.
    pub(crate) fn holds(&self, directory: &Path) -> bool {
        self.everything || self.directories.iter().any(|trusted| trusted == directory)
    }

    /// Whether a path lies in a directory of a project that is trusted.
    pub(crate) fn covers(&self, project: &Path, path: &Path) -> bool {
        let is_around = |trusted: &PathBuf| trusted.starts_with(project) && path.starts_with(trusted);
        self.everything || self.directories.iter().any(is_around)
    }

    /// Those that were agreed to, one by one.
    pub(crate) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_further_down_counts_for_itself() {
        let trusted = Trusted::new(false, vec!["/p".into(), "/p/a/b".into()]);
        assert!(trusted.holds(Path::new("/p")) && trusted.holds(Path::new("/p/a/b")));
        for other in ["/", "/p/a", "/p/a/b/c", "/pp"] {
            assert!(!trusted.holds(Path::new(other)), "{other}");
        }
        assert!(Trusted::new(true, Vec::new()).holds(Path::new("/p/a")));
    }

    #[test]
    fn a_path_is_covered_by_what_is_trusted_in_its_own_project() {
        let trusted = Trusted::new(false, vec!["/home".into(), "/home/p/a".into()]);
        let project = Path::new("/home/p");
        assert!(trusted.covers(project, Path::new("/home/p/a/x.js")));
        assert!(
            !trusted.covers(project, Path::new("/home/p/x.js")),
            "what is around the project does not count"
        );
    }
}
