//! What archives and patches put where they are unpacked. Where they are files, those could be looked at; what a script says
//! itself or is sent could not.

use crate::shell::command::{Command, Direction};
use crate::shell::held::changes_untold;
use crate::shell::options::subcommand;
use crate::shell::word::Word;

/// Commands that put files where an archive or a patch says.
const EXTRACTING: &[&str] = &["tar", "bsdtar", "gtar", "unzip", "7z", "7za", "unrar", "cpio", "pax", "patch"];
/// Subcommands of git that do.
const APPLYING: &[&str] = &["apply", "am"];
/// How lines of a patch begin that name files.
const HEADERS: &[&str] = &["+++ ", "--- ", "*** ", "diff ", "Index: ", "rename to ", "copy to "];
/// So many names of a patch are looked at.
const NAMES_MAX: usize = 1024;
/// So deep in directories a name may be.
const SLASHES_MAX: usize = 64;
/// What is longer is no name.
const NAME_BYTES_MAX: usize = 4096;

/// What a command puts somewhere because of what it is fed.
pub(super) enum Unpacked {
    /// Nothing, or what is in a file that the command names.
    Nothing,
    /// Files of these names, from where it runs or from somewhere above.
    Names(Vec<String>),
    /// Nobody knows.
    Anything,
}

/// Whether a command unpacks something.
pub(super) fn unpacks(command: &Command) -> bool {
    let name = command.name().unwrap_or_default();
    let words = command.words.get(1..).unwrap_or_default();
    let is_git = || name == "git" && subcommand(name, words).is_some_and(|second| APPLYING.contains(&second));
    (EXTRACTING.contains(&name) || is_git()) && changes_untold(name, words)
}

/// The words of a command that may name what it unpacks. What a patch is put into is no patch.
pub(super) fn packed(command: &Command) -> impl Iterator<Item = &Word> {
    const GIVING: &[&str] = &["-i", "--input"];
    let words = &command.words;
    let is_patch = command.name() == Some("patch");
    let is_given =
        |at: usize| GIVING.contains(&words[at - 1].text()) || words[at].text().starts_with(GIVING[1]);
    (1..words.len()).filter(move |at| !is_patch || is_given(*at)).map(|at| &words[at])
}

/// What a command unpacks that it is fed.
pub(super) fn unpacked(command: &Command) -> Unpacked {
    if !unpacks(command) {
        return Unpacked::Nothing;
    }
    let mut texts = command.redirections.iter().filter(|one| one.direction == Direction::Text).peekable();
    if texts.peek().is_none() {
        return if command.is_fed { Unpacked::Anything } else { Unpacked::Nothing };
    }
    let is_elsewhere = |word: &Word| word.text().starts_with("-d") || word.text().starts_with("--dir");
    if command.words.iter().any(is_elsewhere) {
        return Unpacked::Anything;
    }
    let names: Option<Vec<Vec<String>>> = texts.map(|one| named_by(one.target.known()?)).collect();
    names.map_or(Unpacked::Anything, |names| Unpacked::Names(names.concat()))
}

/// The files that a patch names, also without the directories that it is told to leave away; nothing, if it names none or
/// names them by something that is known only when it runs.
fn named_by(patch: &str) -> Option<Vec<String>> {
    let headers = patch.lines().filter(|line| HEADERS.iter().any(|header| line.starts_with(header)));
    let mut names = Vec::new();
    for word in headers.flat_map(str::split_whitespace).filter(|word| word.contains(char::is_alphanumeric)) {
        let word = word.trim_matches('"');
        let is_long = word.len() > NAME_BYTES_MAX || word.matches('/').count() > SLASHES_MAX;
        if is_long || word.contains(['$', '`', '\\']) || names.len() > NAMES_MAX {
            return None;
        }
        let behind = word.match_indices('/').map(|(at, _)| word[at + 1..].to_owned());
        names.extend(behind.chain([word.to_owned()]));
    }
    (!names.is_empty()).then_some(names)
}
