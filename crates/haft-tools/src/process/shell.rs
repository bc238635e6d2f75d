//! Which shell runs a script.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Processes;

/// Shells that read scripts as no other does.
const FOREIGN: &[&str] = &["fish", "nu", "xonsh", "elvish", "pwsh"];

impl Processes {
    /// The configured shell, the person's own unless scripts would be foreign to it, bash, or sh.
    pub(super) fn shell(&self) -> Option<PathBuf> {
        let variable = |wanted: &str| {
            let found = self.environment.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_os_str())
        };
        let own = variable("SHELL").map(PathBuf::from).filter(|shell| speaks(shell) && is_program(shell));
        let on_path = || {
            let path = variable("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
            std::env::split_paths(path)
                .map(|directory| directory.join("bash"))
                .find(|shell| is_program(shell))
        };
        let fallback = || Some(PathBuf::from("/bin/sh")).filter(|shell| is_program(shell));
        self.shell.clone().or(own).or_else(on_path).or_else(fallback)
    }
}

fn speaks(shell: &Path) -> bool {
    shell.file_name().and_then(OsStr::to_str).is_some_and(|name| !FOREIGN.contains(&name))
}

/// Whether a path is absolute and leads to something that can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.is_absolute()
        && path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
