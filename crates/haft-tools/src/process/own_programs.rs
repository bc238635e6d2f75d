//! Whose own programs are run: those of directories that a person trusts, and none for files of a repository that nobody
//! trusts, since its configuration could make any program run its code.

use std::path::{Path, PathBuf};

use super::is_program;

/// The directories whose own programs may be run.
#[derive(Debug, Clone, Default)]
pub enum OwnPrograms {
    /// All of them.
    #[default]
    Everywhere,
    /// These, and none further down or further up.
    Of(Vec<PathBuf>),
}

impl OwnPrograms {
    /// The nearest program of a name that is installed with a project, from a directory up to its root.
    pub(crate) fn installed(&self, name: &str, from: &Path, base: &Path) -> Option<PathBuf> {
        let above = from.ancestors().take_while(|directory| directory.starts_with(base));
        let believed = above.filter(|directory| self.hold(directory));
        believed.map(|directory| directory.join("node_modules/.bin").join(name)).find(|path| is_program(path))
    }

    /// Whether programs of a directory may be run.
    pub(crate) fn hold(&self, directory: &Path) -> bool {
        match self {
            OwnPrograms::Everywhere => true,
            OwnPrograms::Of(directories) => directories.iter().any(|trusted| trusted == directory),
        }
    }

    /// The repository within a project that a file belongs to, if nobody trusts it.
    pub(crate) fn stranger(&self, file: &Path, base: &Path) -> Option<PathBuf> {
        let within = file.ancestors().skip(1);
        let mut within = within.take_while(|directory| directory.starts_with(base) && *directory != base);
        let is_strange = |directory: &&Path| !self.hold(directory) && directory.join(".git").exists();
        within.find(is_strange).map(Path::to_path_buf)
    }
}

/// Why nothing is run for a file of a repository that nobody trusts.
pub(crate) fn untrusted(repository: &Path) -> String {
    let shown = haft::visible(&repository.to_string_lossy());
    format!("{shown} is a repository of its own that nobody trusts (haft trust {shown})")
}
