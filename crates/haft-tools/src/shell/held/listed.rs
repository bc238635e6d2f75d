//! Files that no word of a command names: it is told them by what it reads, or goes through all there are. As data.

use crate::shell::command::{Command, Direction};
use crate::shell::interpreters::archives;
use crate::shell::options::{is_given, is_input, subcommand};
use crate::shell::word::Word;

/// Options by which commands are told names by what they read, in the language of the gadgets.
const TOLD: &[(&str, &str)] = &[
    ("tar bsdtar gtar", "-T --files-from"),
    ("rsync", "--files-from"),
    ("zip", "-@"),
    ("sort wc", "--files0-from"),
    ("cpio", "-o -p --create --pass-through"),
    ("pax", "-w"),
    ("file", "-f --files-from"),
    ("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum shasum", "-c --check"),
    ("7z 7za", "+@"),
    ("ctags etags", "-L"),
    ("cscope", "-i"),
    ("clang-format", "--files"),
    ("curl", "-K --config +#1 +#2 +#3"),
    ("zstd unzstd zstdcat", "--filelist"),
    ("xz unxz xzcat lzma unlzma lzcat", "--files --files0"),
    ("du", "--files0-from"),
    ("find", "-files0-from"),
    ("rclone restic borg", "--files-from --include-from --patterns-from"),
    ("exiftool", "-@"),
    ("aria2c", "-i --input-file"),
    ("git hash-object", "--stdin-paths"),
    ("git update-index", "--stdin --index-info"),
    ("git cat-file", "--batch --batch-check --batch-command"),
    ("git checkout-index", "--stdin"),
    ("git fast-import", "*"),
    ("git add", "--pathspec-from-file"),
    ("git commit", "--pathspec-from-file"),
    ("git checkout", "--pathspec-from-file"),
    ("git restore", "--pathspec-from-file"),
    ("git reset", "--pathspec-from-file"),
    ("git rm", "--pathspec-from-file"),
    ("git stash", "--pathspec-from-file"),
];

/// Commands that read what includes other files, if they are fed it.
const INCLUDING: &[(&str, &str)] = &[
    ("gcc g++ cc c++ clang clang++ cpp rustc as nasm tcc gfortran", "-"),
    ("cpp as m4 troff groff nroff tex latex pdftex pdflatex xetex lualatex", "#0 -"),
];

/// Commands that change files which something else names: an archive, a patch, what git knows.
const UNTOLD: &[(&str, &str)] = &[
    ("tar bsdtar gtar", "-x --extract --get"),
    ("cpio", "-i --extract"),
    ("unzip", "#1"),
    ("7z 7za", "x e"),
    ("patch", "#0 -p -i --input --strip"),
    ("git clean", "*"),
    ("git stash", "*"),
    ("git apply", "*"),
    ("git am", "*"),
    ("git reset", "--hard --merge --keep"),
    ("git checkout", "-f --force"),
    ("git checkout-index", "-a --all"),
    ("git read-tree", "-u"),
];

/// What makes them change nothing.
const ONLY_LOOKING: &[(&str, &str)] = &[
    ("unzip", "-l -p -t -v -Z"),
    ("patch", "--dry-run"),
    ("git clean", "-n --dry-run"),
    ("git stash", "list show"),
    ("git apply", "--check --stat --numstat --summary --cached"),
];

/// Whether a command reads files that it is told by what it reads itself.
pub(super) fn reads_untold(command: &Command, name: &str, words: &[Word]) -> bool {
    is_any(TOLD, name, words) || includes(command, name, words)
}

/// Whether a command changes files that none of its words names.
pub(in crate::shell) fn changes_untold(name: &str, words: &[Word]) -> bool {
    archives(name, words, "extract") || is_any(UNTOLD, name, words) && !is_any(ONLY_LOOKING, name, words)
}

fn includes(command: &Command, name: &str, words: &[Word]) -> bool {
    let is_asked = words.iter().any(|word| matches!(word.text(), "--version" | "--help"));
    let is_named = |word: &Word| is_input(word.text(), &command.directories);
    let may_include = INCLUDING.iter().any(|(names, _)| lists(names, name));
    let is_fed = is_any(INCLUDING, name, words) || words.iter().any(is_named);
    may_include && is_fed && !is_asked
}

/// The texts that a command is given to read in the script itself.
pub(super) fn given(command: &Command) -> impl Iterator<Item = &str> {
    let texts = command.redirections.iter().filter(|one| one.direction == Direction::Text);
    texts.map(|one| one.target.text())
}

fn is_any(table: &[(&str, &str)], name: &str, words: &[Word]) -> bool {
    table.iter().any(|(names, options)| {
        let second = names.strip_prefix("git ");
        let is_it = match second {
            Some(second) => name == "git" && subcommand(name, words) == Some(second),
            None => lists(names, name),
        };
        is_it && options.split(' ').any(|option| is_given(option, name, words, usize::from(second.is_some())))
    })
}

fn lists(names: &str, name: &str) -> bool {
    names.split(' ').any(|one| one == name)
}
