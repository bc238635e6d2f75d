//! Which shell runs a script.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Processes;

/// Shells that read scripts as POSIX has it. Whoever has another one, or none (`nologin`), wrote no script for it.
const KNOWN: &[&str] = &["ash", "bash", "dash", "ksh", "mksh", "oksh", "sh", "yash", "zsh"];

impl Processes {
    /// The configured shell, the person's own if it is known to read scripts, bash, or sh.
    pub(super) fn shell(&self) -> Option<PathBuf> {
        if self.shell.is_some() {
            return self.shell.clone();
        }
        // To look through all of `PATH` takes a while, and it was the same last time unless it is gone.
        let known = self.found.get().filter(|shell| is_program(shell));
        known.cloned().or_else(|| {
            let found = self.look_for_shell()?;
            self.found.get_or_init(|| found.clone());
            Some(found)
        })
    }

    fn look_for_shell(&self) -> Option<PathBuf> {
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
        own.or_else(on_path).or_else(fallback)
    }
}

/// Whether a shell is a known one, also by a name that says which version it is: `bash5`, `ksh93`, `zsh-5.9`.
fn speaks(shell: &Path) -> bool {
    let is_version = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-');
    let name = shell.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| KNOWN.contains(&name.trim_end_matches(is_version)))
}

/// Whether a path is absolute and leads to something that can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.is_absolute()
        && path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::speaks;

    #[test]
    fn only_shells_that_read_scripts_are_used() {
        let known =
            ["bash", "sh", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "oksh", "yash", "bash5", "zsh-5.9"];
        let other =
            ["nologin", "false", "true", "csh", "tcsh", "fish", "nu", "pwsh", "git-shell", "rbash", "", "5"];
        for (names, expected) in [(&known, true), (&other, false)] {
            for name in names {
                assert_eq!(speaks(&Path::new("/bin").join(name)), expected, "{name}");
            }
        }
    }
}
