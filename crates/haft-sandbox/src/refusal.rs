//! What the kernel refused, as far as a command's own words tell.
//!
//! The kernel tells the program, not us: `EROFS` for a file system that is read-only, `EACCES` for what is hidden or
//! what Landlock refuses, `EBUSY` for a protected path that was to be renamed or replaced, `ENETUNREACH` for a
//! network that is off. Programs print these in the C library's words, mostly with the path before or quoted within.

use std::path::{Path, PathBuf};

/// Something a command was refused, which a person may grant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A path that it wanted to change, or to read if that is hidden.
    Path(PathBuf),
    /// A host that it wanted to reach.
    Host(String),
    /// The network, without a name.
    Network,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Path(path) => write!(f, "{}", path.display()),
            Refusal::Host(host) => write!(f, "the host {host}"),
            Refusal::Network => f.write_str("the network"),
        }
    }
}

/// How many refusals are looked for: enough to see what is the matter.
const REFUSALS_MAX: usize = 20;

const OF_FILES: &[&str] = &[
    "Read-only file system",
    "Permission denied",
    "Device or resource busy",
    "EROFS",
    "EACCES",
    "EBUSY",
    "read-only file system",
];
/// What some shells put before a path that they do not quote.
const BEFORE_PATHS: &[&str] = &[
    "could not write config file ",
    "cannot create ",
    "cannot open ",
    "can't create ",
    "can't open ",
    "open ",
    "mkdir ",
    "remove ",
];
const OF_NETWORK: &[&str] = &["Network is unreachable", "ENETUNREACH"];

/// What stands before a host that could not be looked up.
const BEFORE_HOSTS: &[&str] = &[
    "Could not resolve host: ",
    "Could not resolve hostname ",
    "getaddrinfo EAI_AGAIN ",
    "lookup ",
    "unable to resolve host address ",
];
const OF_NAMES: &[&str] = &["Temporary failure in name resolution", "Name or service not known"];
/// What Python says of a host, be it reached or not.
const OF_PYTHON: &str = "(host='";
/// What it says besides where a host was not reached.
const OF_FAILURES: &[&str] = &[
    "name resolution",
    "Name or service not known",
    "Network is unreachable",
    "Max retries",
    "Failed to establish",
];

/// Reads refusals out of what a command printed. A guess: nothing may be granted because of it but what a person or a
/// rule then grants.
pub fn refusals(output: &str, cwd: &Path) -> Vec<Refusal> {
    let mut found = Vec::new();
    for line in output.lines() {
        let refusal = host(line).or_else(|| network(line)).or_else(|| path(line, cwd));
        if let Some(refusal) = refusal
            && !found.contains(&refusal)
        {
            found.push(refusal);
        }
        if found.len() == REFUSALS_MAX {
            break;
        }
    }
    found
}

fn host(line: &str) -> Option<Refusal> {
    let after = |before: &str| line.split_once(before).map(|(_, rest)| rest);
    let is_failure = || OF_FAILURES.iter().any(|words| line.contains(words));
    let of_python = || after(OF_PYTHON).filter(|_| is_failure());
    let rest = BEFORE_HOSTS.iter().find_map(|before| after(before)).or_else(of_python)?;
    let rest = rest.trim_start_matches(['‘', '\'', '"', '`', '“']);
    let host = rest.split(|letter: char| !(letter.is_alphanumeric() || ".-_".contains(letter))).next()?;
    host.contains('.').then(|| Refusal::Host(host.trim_end_matches('.').to_owned()))
}

fn network(line: &str) -> Option<Refusal> {
    OF_NETWORK.iter().chain(OF_NAMES).any(|words| line.contains(words)).then_some(Refusal::Network)
}

/// The path that a message is about: quoted, or the last part before the words.
fn path(line: &str, cwd: &Path) -> Option<Refusal> {
    let (before, after) = OF_FILES.iter().find_map(|words| line.split_once(words))?;
    let quoted = [before, after].into_iter().find_map(|part| {
        let (open, close) = [('\'', '\''), ('‘', '’'), ('"', '"'), ('`', '`')]
            .into_iter()
            .find(|(open, _)| part.contains(*open))?;
        let (_, rest) = part.split_once(open)?;
        Some(rest.split_once(close)?.0)
    });
    let last = || before.trim_end_matches([' ', ':', '(', '-']).rsplit(": ").next();
    let name = quoted.or_else(last)?.trim();
    let name = BEFORE_PATHS.iter().find_map(|words| name.strip_prefix(words)).unwrap_or(name);
    // A word like `mkdir` is not a path; a name in the working directory is, if something could be there.
    let is_path = name.contains('/') || (quoted.is_some() && !name.contains(' ') && !name.is_empty());
    is_path.then(|| Refusal::Path(cwd.join(name)))
}

#[cfg(test)]
mod tests {
    use super::{Refusal, refusals};
    use std::path::Path;

    #[test]
    fn what_tools_print_names_what_was_refused() {
        let path = |path: &str| Some(Refusal::Path(path.into()));
        let host = |host: &str| Some(Refusal::Host(host.to_owned()));
        let lines = [
            ("bash: line 1: /etc/x: Read-only file system", path("/etc/x")),
            ("s.sh: 1: cannot create /etc/a b: Read-only file system", path("/etc/a b")),
            ("open /etc/go: read-only file system", path("/etc/go")),
            ("touch: cannot touch '/opt/a b': Read-only file system", path("/opt/a b")),
            ("mv: cannot move '.git' to 'g': Device or resource busy", path("/ws/.git")),
            ("cat: /home/me/.ssh/id: Permission denied", path("/home/me/.ssh/id")),
            ("OSError: [Errno 30] Read-only file system: '/etc/y'", path("/etc/y")),
            ("Error: EROFS: read-only file system, open '/etc/z'", path("/etc/z")),
            ("mkdir: cannot create directory ‘/srv/d’: Read-only file system", path("/srv/d")),
            ("curl: (6) Could not resolve host: example.com", host("example.com")),
            (
                "npm error errno EAI_AGAIN getaddrinfo EAI_AGAIN registry.example.org",
                host("registry.example.org"),
            ),
            ("wget: unable to resolve host address ‘example.com’", host("example.com")),
            ("wget: unable to resolve host address 'example.com'", host("example.com")),
            (
                "HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: /simple/x/",
                host("pypi.org"),
            ),
            (
                "WARNING: Retrying after connection broken by 'NewConnectionError(\"HTTPSConnection(host='pypi.org', \
                 port=443): Failed to establish a new connection: [Errno 101] Network is unreachable\")'",
                host("pypi.org"),
            ),
            ("DEBUG HTTPSConnectionPool(host='pypi.org', port=443): 200 OK", None),
            ("bash: connect: Network is unreachable", Some(Refusal::Network)),
            ("everything is fine", None),
            ("Permission denied", None),
        ];
        for (line, expected) in lines {
            assert_eq!(refusals(line, Path::new("/ws")).first(), expected.as_ref(), "{line}");
        }
    }

    #[test]
    fn each_is_told_once_and_not_without_end() {
        let line = "bash: /etc/x: Read-only file system\n";
        assert_eq!(refusals(&line.repeat(50), Path::new("/")).len(), 1);
        let many: String = (0..50).map(|n| format!("bash: /etc/{n}: Read-only file system\n")).collect();
        assert_eq!(refusals(&many, Path::new("/")).len(), 20);
    }
}
