//! Which values of git's configuration name programs, and which files those are.
//!
//! Git hands most of them to a shell. So every word counts that is a path, and what an interpreter is given; what is found
//! by its name alone lies where programs are installed.

use std::path::{Path, PathBuf};

use super::git_config::Entry;
use super::place::Kind;
use super::resolve;

/// So many words of a value are looked at.
const WORDS_MAX: usize = 256;

/// Sections and keys whose values git runs; a star stands for every key.
const RUN: &[(&str, &[&str])] = &[
    ("alias", &["*"]),
    ("browser", &["cmd", "path"]),
    ("core", &["alternaterefscommand", "askpass", "editor", "fsmonitor", "gitproxy", "pager", "sshcommand"]),
    ("credential", &["helper"]),
    ("diff", &["command", "external", "textconv"]),
    ("difftool", &["cmd", "path"]),
    ("filter", &["clean", "process", "smudge"]),
    ("gpg", &["defaultkeycommand", "program"]),
    ("guitool", &["cmd"]),
    ("hook", &["command"]),
    ("imap", &["tunnel"]),
    ("instaweb", &["httpd"]),
    ("interactive", &["difffilter"]),
    ("man", &["cmd", "path"]),
    ("merge", &["driver"]),
    ("mergetool", &["cmd", "path"]),
    ("pager", &["*"]),
    ("remote", &["receivepack", "uploadpack"]),
    ("sendemail", &["cccmd", "headercmd", "sendmailcmd", "smtpserver", "tocmd"]),
    ("sequence", &["editor"]),
    ("submodule", &["update"]),
    ("tar", &["command"]),
    ("trailer", &["cmd", "command"]),
    ("uploadpack", &["packobjectshook"]),
];

/// What an address begins with behind which git runs the rest, and the keys of remotes that have addresses.
const RUN_ADDRESS: &str = "ext::";
const ADDRESSES: &[&str] = &["pushurl", "url"];

/// Programs that run the file they are given.
const INTERPRETERS: &[&str] = &[
    ".", "ash", "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "node", "perl", "php", "python",
    "python2", "python3", "ruby", "sh", "source", "zsh",
];

/// Words that a command follows.
const LAUNCHERS: &[&str] = &[
    "!", "command", "do", "else", "env", "eval", "exec", "if", "nice", "nohup", "sudo", "then", "time",
    "until", "while", "xargs", "{",
];

/// What a shell puts in for the top of a working tree, where git starts its programs.
const TOPS: &[&str] = &[
    "$(git rev-parse --show-toplevel)",
    "`git rev-parse --show-toplevel`",
    "${GIT_WORK_TREE}",
    "$GIT_WORK_TREE",
    "${PWD}",
    "$PWD",
];

/// Whether git runs the value of an entry.
pub(super) fn is_run(entry: &Entry) -> bool {
    let is_listed = |(section, keys): &(&str, &[&str])| {
        *section == entry.section && keys.iter().any(|key| *key == "*" || *key == entry.key)
    };
    let is_address = entry.section == "remote" && ADDRESSES.contains(&entry.key.as_str());
    RUN.iter().any(is_listed) || is_address && entry.value.starts_with(RUN_ADDRESS)
}

/// The files that a value may have git run, seen from the top of a working tree. Directories are no programs, and of
/// what else a program is given only files count that are there.
pub(super) fn files(value: &str, top: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let value = TOPS.iter().fold(value.to_owned(), |value, name| value.replace(name, "."));
    let value = run_part(&value);
    let mut found = Vec::new();
    let mut from = vec![top.to_owned()];
    let mut before = Before::Start;
    for word in words(value).take(WORDS_MAX) {
        let Some(word) = word else {
            before = Before::Start;
            continue;
        };
        // What an option or a variable is given is a word, too.
        let named = word.rsplit_once('=').map_or(word.as_str(), |(_, given)| given);
        let is_option = word.starts_with('-');
        let name = word.rsplit('/').next().unwrap_or_default();
        let is_interpreter = INTERPRETERS.contains(&name);
        let is_file = named.contains('/') || before == Before::Interpreter && !is_option && !is_interpreter;
        if before == Before::Cd {
            from.extend(path(&word, top, home));
        } else if is_file {
            let is_program = before != Before::Word && !is_option && named.len() == word.len();
            let paths = from.iter().filter_map(|from| path(named, from, home));
            found.extend(paths.filter(|path| may_run(path, is_program)));
        }
        before = match word.as_str() {
            "cd" | "pushd" | "-C" => Before::Cd,
            "-c" | "-m" => Before::Start,
            _ if is_option || named.len() < word.len() => before,
            _ if is_interpreter => Before::Interpreter,
            _ if LAUNCHERS.contains(&name) => Before::Start,
            _ => Before::Word,
        };
    }
    // No shell is asked about the names of some programs, and they may have spaces.
    if value.split_whitespace().next().is_some_and(|first| first.contains('/') && first != value) {
        found.extend(path(value, top, home).filter(|path| may_run(path, true)));
    }
    found.sort();
    found.dedup();
    found
}

/// Whether git has to be told from where it looks, to know what a value names.
pub(super) fn is_relative(value: &str) -> bool {
    let is_fixed = |word: &str| ["/", "~", "$HOME", "${HOME}"].iter().any(|fixed| word.starts_with(fixed));
    let is_seen_from = |word: String| {
        let given = word.rsplit('=').next().unwrap_or_default();
        given.contains('/') && !is_fixed(given)
            || INTERPRETERS.contains(&word.rsplit('/').next().unwrap_or_default())
    };
    words(run_part(value)).flatten().take(WORDS_MAX).any(is_seen_from)
}

/// A value without the sign that it is run.
fn run_part(value: &str) -> &str {
    value.strip_prefix('!').or_else(|| value.strip_prefix(RUN_ADDRESS)).unwrap_or(value)
}

/// What a word stands behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    Word,
    Interpreter,
    Cd,
}

fn may_run(path: &Path, is_program: bool) -> bool {
    resolve::canonical(path).is_ok_and(|(_, kind)| match kind {
        Kind::File => true,
        Kind::Missing => is_program,
        Kind::Directory | Kind::Special(_) => false,
    })
}

/// Where a path leads that is written as git or a shell reads it.
pub(super) fn path(word: &str, from: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let below = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|prefix| word.strip_prefix(prefix));
    match below {
        Some(below) => resolve::lexical(home?, below.trim_start_matches('/')).ok(),
        None => resolve::lexical(from, word).ok(),
    }
}

/// The words of a shell's line, and nothing where a command ends.
fn words(line: &str) -> impl Iterator<Item = Option<String>> {
    let mut words = vec![Some(String::new())];
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            // A script may be quoted within the line, so what is in quotes is taken apart as well.
            (_, ';' | '|' | '&' | '(' | ')' | '`' | '\n') => words.extend([None, Some(String::new())]),
            _ if c.is_whitespace() || matches!(c, '<' | '>') => words.push(Some(String::new())),
            _ => {
                let is_escape = c == '\\' && quote != Some('\'');
                let c = if is_escape { chars.next() } else { Some(c) };
                words.last_mut().into_iter().flatten().for_each(|word| word.extend(c));
            }
        }
    }
    words.into_iter().filter(|word| word.as_ref().is_none_or(|word| !word.is_empty()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::git_config::entries;
    use super::{files, is_run};

    #[test]
    fn what_git_runs_is_known_by_its_key() {
        for config in [
            "[core] fsmonitor = x",
            "[core] sshCommand = x",
            "[core] askPass = x",
            "[core] editor = x",
            "[core] pager = x",
            "[core] gitProxy = x for host",
            "[pager] log = x",
            "[filter \"a\"] clean = x",
            "[filter \"a\"] smudge = x",
            "[filter \"a\"] process = x",
            "[diff] external = x",
            "[diff \"a\"] command = x",
            "[diff \"a\"] textconv = x",
            "[merge \"a\"] driver = x",
            "[credential] helper = x",
            "[credential \"https://host\"] helper = x",
            "[gpg] program = x",
            "[gpg \"ssh\"] program = x",
            "[sequence] editor = x",
            "[alias] a = !x",
            "[uploadpack] packObjectsHook = x",
            "[interactive] diffFilter = x",
            "[trailer \"a\"] command = x",
            "[mergetool \"a\"] cmd = x",
            "[difftool \"a\"] path = x",
            "[browser \"a\"] cmd = x",
            "[man \"a\"] cmd = x",
            "[sendemail] toCmd = x",
            "[sendemail \"a\"] ccCmd = x",
            "[remote \"a\"] url = ext::x",
            "[remote \"a\"] pushUrl = ext::x",
        ] {
            assert!(entries(config).iter().all(is_run) && !entries(config).is_empty(), "{config}");
        }
        for config in [
            "[user] name = x",
            "[core] hooksPath = x",
            "[diff] algorithm = x",
            "[merge] tool = x",
            "[remote \"a\"] url = https://host/ext::x",
        ] {
            assert!(!entries(config).iter().any(is_run), "{config}");
        }
    }

    #[test]
    fn the_files_of_a_value_are_its_paths_and_what_interpreters_are_given() {
        let top = Path::new("/no-such-top");
        let home = Path::new("/no-such-home");
        let check = |value: &str, expected: &[&str]| {
            let found = files(value, top, Some(home));
            let found: Vec<&str> = found.iter().map(|path| path.to_str().unwrap()).collect();
            assert_eq!(found, expected, "{value}");
        };
        check("./x.sh", &["/no-such-top/x.sh"]);
        check("tools/x.sh --fast", &["/no-such-top/tools/x.sh", "/no-such-top/tools/x.sh --fast"]);
        check("/no-such-top/x", &["/no-such-top/x"]);
        check("~/x", &["/no-such-home/x"]);
        check("sh x.sh", &["/no-such-top/x.sh"]);
        check("env A=b python3 -u x.py y", &["/no-such-top/x.py"]);
        check("!git x && sh -c 'bash y.sh'", &["/no-such-top/y.sh"]);
        check("!git x && A=b ./y.sh | sudo ./z", &["/no-such-top/y.sh", "/no-such-top/z"]);
        check("!git diff origin/main", &[]);
        check("cat ~/no-such /etc/passwd", &["/etc/passwd"]);
        check("sh -c 'git status'", &[]);
        check("!cd in && sh x.sh", &["/no-such-top/in/x.sh", "/no-such-top/x.sh"]);
        check("\"$HOME\"/x", &["/no-such-home/x"]);
        check("$(git rev-parse --show-toplevel)/x.sh", &["/no-such-top/x.sh"]);
        check("!f() { git log; }; f", &[]);
        check("status --short", &[]);
        check("!npm test", &[]);
        check("ext::sh x.sh %S", &["/no-such-top/x.sh"]);
        check("ext::./x.sh", &["/no-such-top/x.sh"]);
        check("less -FRX", &[]);
        check("vim", &[]);
        check("cat /etc/", &[]);
    }
}
