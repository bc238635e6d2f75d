//! Programs that are given a password by an option whose name does not say so.

use Given::{AfterColon, AfterComma, AfterPercent, AfterScheme, Cookie, Header, Whole};
use Spelled::{Apart, Either, Joined};

/// A program, and its options that are followed by a credential.
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    /// Only after this word; other commands of the program mean something else by them.
    pub(super) only_after: Option<&'static str>,
    /// Whether the first word that is no option begins another command.
    pub(super) is_launcher: bool,
    pub(super) options: &'static [Credential],
}

/// An option, how its value is written, and what of it is secret.
pub(super) type Credential = (&'static str, Spelled, Given);

/// How the value of an option is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelled {
    /// As the next word, or after an equals sign.
    Apart,
    /// In the same word: what comes next is something else.
    Joined,
    Either,
}

/// What of a value is secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Whole,
    /// A person, and the password after a colon.
    AfterColon,
    AfterComma,
    AfterPercent,
    /// `pass:x`; anything else says where the password is.
    AfterScheme,
    /// A header, if its name says so.
    Header,
    /// Cookies, or a file with them.
    Cookie,
}

const fn program(names: &'static [&'static str], options: &'static [Credential]) -> Program {
    Program { names, only_after: None, is_launcher: false, options }
}

const HTTP: &[Credential] = &[("-H", Either, Header), ("--header", Apart, Header)];

pub(super) const PROGRAMS: &[Program] = &[
    program(
        &["curl"],
        &[
            ("-u", Either, AfterColon),
            ("-U", Either, AfterColon),
            ("--user", Apart, AfterColon),
            ("--proxy-user", Apart, AfterColon),
            ("-E", Either, AfterColon),
            ("--cert", Apart, AfterColon),
            ("--proxy-cert", Apart, AfterColon),
            ("-b", Either, Cookie),
            ("--cookie", Apart, Cookie),
            ("--pass", Apart, Whole),
            ("--proxy-pass", Apart, Whole),
            ("--oauth2-bearer", Apart, Whole),
            ("-H", Either, Header),
            ("--proxy-header", Apart, Header),
        ],
    ),
    program(
        &["http", "https", "xh", "xhs"],
        &[("-a", Either, AfterColon), ("--auth", Apart, AfterColon), ("-A", Apart, AfterColon)],
    ),
    program(&["ab", "grpcurl", "gh", "glab", "hey", "oha", "websocat", "wrk", "wscat"], HTTP),
    program(
        &[
            "mariadb",
            "mariadb-admin",
            "mariadb-check",
            "mariadb-dump",
            "mariadb-import",
            "mariadb-show",
            "mysql",
            "mysqladmin",
            "mysqlbinlog",
            "mysqlcheck",
            "mysqldump",
            "mysqlimport",
            "mysqlpump",
            "mysqlsh",
            "mysqlshow",
            "mysqlslap",
        ],
        &[("-p", Joined, Whole)],
    ),
    program(
        &["mongo", "mongodump", "mongoexport", "mongoimport", "mongorestore", "mongosh", "mongostat"],
        &[("-p", Either, Whole)],
    ),
    program(&["redis-cli", "valkey-cli"], &[("-a", Either, Whole), ("--pass", Apart, Whole)]),
    program(&["bcp", "isql", "sqlcmd", "tsql"], &[("-P", Either, Whole)]),
    Program { names: &["sshpass"], only_after: None, is_launcher: true, options: &[("-p", Either, Whole)] },
    Program {
        names: &["az", "buildah", "cf", "docker", "helm", "nerdctl", "oc", "podman", "skopeo"],
        only_after: Some("login"),
        is_launcher: false,
        options: &[("-p", Either, Whole)],
    },
    program(
        &[
            "ldapadd",
            "ldapcompare",
            "ldapdelete",
            "ldapexop",
            "ldapmodify",
            "ldapmodrdn",
            "ldappasswd",
            "ldapsearch",
            "ldapwhoami",
        ],
        &[("-w", Either, Whole)],
    ),
    program(
        &["rpcclient", "smbclient", "smbget"],
        &[("-U", Either, AfterPercent), ("--user", Apart, AfterPercent)],
    ),
    program(&["lftp"], &[("-u", Either, AfterComma), ("--user", Apart, AfterComma)]),
    program(&["ncftp", "ncftpget", "ncftpput"], &[("-p", Either, Whole)]),
    program(
        &["openssl"],
        &[
            ("-pass", Apart, AfterScheme),
            ("-passin", Apart, AfterScheme),
            ("-passout", Apart, AfterScheme),
            ("-k", Apart, Whole),
        ],
    ),
    program(&["7z", "7za", "7zr", "7zz", "rar", "unrar"], &[("-p", Joined, Whole), ("-hp", Joined, Whole)]),
    program(&["unzip", "zip"], &[("-P", Either, Whole)]),
    program(&["ipmitool", "mosquitto_pub", "mosquitto_sub", "mosquitto_rr"], &[("-P", Either, Whole)]),
    program(&["freerdp", "wlfreerdp", "xfreerdp", "xfreerdp3"], &[("/p:", Joined, Whole)]),
];

/// Options of any program that are followed by a header.
pub(super) const HEADER_OPTIONS: &[Credential] = &[("--header", Apart, Header), ("--headers", Apart, Header)];

/// The program that a word of a command starts, if it is one of these.
pub(super) fn program_of(word: &str) -> Option<&'static Program> {
    let name = word.rsplit('/').next().unwrap_or(word);
    PROGRAMS.iter().find(|program| program.names.contains(&name))
}

/// Programs that run a text which they are given.
const RUNNING_TEXTS: &[&str] = &[
    "ash",
    "bash",
    "cmd",
    "dash",
    "eval",
    "fish",
    "ksh",
    "mosh",
    "parallel",
    "powershell",
    "pwsh",
    "sh",
    "ssh",
    "su",
    "watch",
    "zsh",
];

/// Programs that are given patterns to look for, or what to put in the place of something.
const SEEKING_PATTERNS: &[&str] =
    &["ack", "ag", "awk", "egrep", "fgrep", "gawk", "grep", "gsed", "mawk", "perl", "rg", "sed", "zgrep"];

/// Whether a word of a command starts a program that runs the texts it is given.
pub(super) fn runs_text(word: &str) -> bool {
    RUNNING_TEXTS.contains(&word.rsplit('/').next().unwrap_or(word))
}

/// Whether a word of a command starts a program that looks for patterns.
pub(super) fn seeks_patterns(word: &str) -> bool {
    SEEKING_PATTERNS.contains(&word.rsplit('/').next().unwrap_or(word))
}
