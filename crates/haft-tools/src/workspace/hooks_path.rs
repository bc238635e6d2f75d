//! Where a repository takes its hooks from: `core.hooksPath`, read from its own configuration without running git.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::file::{Found, OpenedFile};
use super::place::{Kind, Place};
use super::{Workspace, resolve};

/// So much of a configuration file is read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The canonical directory of the repository's hooks, if it is configured.
pub(super) fn hooks_path(workspace: &Workspace) -> Option<PathBuf> {
    let base = workspace.base();
    let directory = git_directory(workspace, base)?;
    let common = match read(workspace, &directory.join("commondir")) {
        Some(common) => directory.join(common.trim()),
        None => directory.clone(),
    };
    let configured = [directory.join("config.worktree"), common.join("config")];
    let value = configured.iter().find_map(|path| hooks_path_in(&read(workspace, path)?))?;
    let absolute = resolve::lexical(base, &value).ok()?;
    resolve::canonical(&absolute).ok().map(|(real, _)| real)
}

/// The repository's own directory: `.git`, or what a file of that name points to.
fn git_directory(workspace: &Workspace, base: &Path) -> Option<PathBuf> {
    let path = base.join(".git");
    match read(workspace, &path) {
        Some(pointer) => Some(base.join(pointer.trim().strip_prefix("gitdir:")?.trim())),
        None => Some(path),
    }
}

fn read(workspace: &Workspace, path: &Path) -> Option<String> {
    let (real, kind) = resolve::canonical(path).ok()?;
    if kind != Kind::File {
        return None;
    }
    let place = Place::new(workspace, path.to_owned(), real, kind);
    let Found::File(opened, _) = workspace.open_place(&place).ok()? else { return None };
    bounded(opened)
}

fn bounded(opened: OpenedFile) -> Option<String> {
    let mut bytes = Vec::new();
    opened.into_file().take(CONFIG_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last `hooksPath` in a `[core]` section.
fn hooks_path_in(config: &str) -> Option<String> {
    let mut in_core = false;
    let mut found = None;
    for line in config.lines().map(str::trim) {
        let line = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((section, rest)) => {
                in_core = section.trim().eq_ignore_ascii_case("core");
                rest.trim()
            }
            None => line,
        };
        let Some((key, value)) = line.split_once('=') else { continue };
        if in_core && key.trim().eq_ignore_ascii_case("hookspath") {
            let value = value.trim().trim_matches('"');
            found = Some(value.to_owned()).filter(|value| !value.is_empty());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::hooks_path_in;

    #[test]
    fn the_last_hooks_path_of_the_core_section_counts() {
        let check = |config: &str, expected: Option<&str>| {
            assert_eq!(hooks_path_in(config).as_deref(), expected, "{config}");
        };
        check("[core]\n\thooksPath = tools/hooks\n", Some("tools/hooks"));
        check("[CORE] HooksPath=\"a b\"\n", Some("a b"));
        check("[core]\nhookspath = a\n[core]\nhookspath = b\n", Some("b"));
        check("[alias]\nhooksPath = no\n", None);
        check("[core \"x\"]\nhooksPath = no\n", None);
        check("", None);
    }
}
