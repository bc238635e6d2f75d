//! Bubblewrap shows a command the file system as it is told to: what it shows where it is anyway, it touches no
//! more than the command that it runs.

use std::path::{Path, PathBuf};

use super::word::Word;

/// Options that show something from outside: what, and where.
const SHOWING: &[&str] =
    &["--bind", "--bind-try", "--ro-bind", "--ro-bind-try", "--dev-bind", "--dev-bind-try"];
/// Options that make something new, and where everybody has it made.
const MAKING: &[(&str, &str)] = &[("--dev", "/dev"), ("--proc", "/proc"), ("--tmpfs", "/tmp")];
/// Options with a value that is no path.
const VALUED: &[&str] = &["--hostname", "--uid", "--gid", "--cap-drop"];
/// Options that stand for themselves.
const ALONE: &[&str] = &[
    "--unshare-all",
    "--unshare-user",
    "--unshare-user-try",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup",
    "--unshare-cgroup-try",
    "--share-net",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--as-pid-1",
];

/// What the words of bubblewrap say.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct View<'w> {
    /// The command that it runs.
    pub(super) command: &'w [Word],
    /// Which words name what stays as it is.
    pub(super) unchanged: Vec<usize>,
}

/// Reads them; nothing, if there is one that is not known. Other options could lead the command's own names elsewhere.
pub(super) fn view<'w>(words: &'w [Word], directories: &[PathBuf]) -> Option<View<'w>> {
    let (mut at, mut unchanged, mut is_whole) = (0, Vec::new(), false);
    while let Some(word) = words.get(at) {
        let option = word.known()?;
        if option == "--" {
            at += 1;
            break;
        } else if !option.starts_with('-') {
            break;
        } else if SHOWING.contains(&option) {
            let (from, to) = (words.get(at + 1)?.known()?, words.get(at + 2)?.known()?);
            if from == to && from.starts_with('/') {
                unchanged.extend([at + 1, at + 2]);
                is_whole |= from == "/";
            }
            at += 3;
        } else if let Some((_, usual)) = MAKING.iter().find(|(making, _)| *making == option) {
            // Where it lies over the directory that it runs in, it runs in another one.
            let is_elsewhere = |directory: &PathBuf| !directory.starts_with(Path::new(usual));
            if words.get(at + 1)?.known()? == *usual && directories.iter().all(is_elsewhere) {
                unchanged.push(at + 1);
            }
            at += 2;
        } else if VALUED.contains(&option) {
            at += 2;
        } else if ALONE.contains(&option) {
            at += 1;
        } else {
            return None;
        }
    }
    // Where only parts are shown, the directory that it runs in may not be among them.
    if !is_whole {
        unchanged.clear();
    }
    Some(View { command: words.get(at..).unwrap_or_default(), unchanged })
}
