//! What is known of programs: which of their words are a credential though no name says so, which run a text, and which
//! look for patterns.

mod table;

use Given::{Header, Setting, Whole};
use Spelled::{Apart, Switch};
use table::PROGRAMS;

/// A program, or a command of one, and which of its words are followed by a credential or are one.
#[derive(Clone, Copy)]
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    /// Only after these words, in this order; other commands of the program mean something else.
    pub(super) after: &'static [&'static str],
    /// Whether the first word that is no option begins another command.
    pub(super) is_launcher: bool,
    pub(super) options: &'static [Credential],
    pub(super) operands: Operands,
    /// What is secret of what it reads, if it reads anything.
    pub(super) input: Option<Given>,
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
    /// Either, and the option may be the last of several letters, as in `zip -rP x`.
    Clustered,
    /// It has none: the value is read from the standard input.
    Switch,
}

/// What of a value is secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Whole,
    /// A person, and the password after a colon.
    AfterColon,
    AfterComma,
    AfterPercent,
    /// `name=x`, whatever the name is.
    AfterEquals,
    /// `pass:x`; anything else says where the password is.
    AfterScheme,
    /// `me/x@host`, or the same as `userid=me/x`.
    Logon,
    /// All of it, unless it is `name=x`, of which the name decides.
    Unnamed,
    /// All of it, unless it is a share, a drive or a switch as Windows writes them.
    BesideShare,
    /// `name=x y`, if the name says so: to its end, as no shell reads it again.
    Setting,
    /// A header, if its name says so.
    Header,
    /// Cookies, or a file with them.
    Cookie,
    /// Nothing: it is listed so that its value is not taken for another word.
    Nothing,
}

/// Which of the words are secret that are no options, counted from behind those that a command is known by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    None,
    Each(Given),
    /// From one on.
    Nth(usize, Given),
    /// What follows a word that names a secret, as in `set api_token x`.
    Named,
    /// The last one, if this option is there.
    LastWith(&'static str),
}

/// Options of any program that are followed by a header or a variable, or that say what is read.
pub(super) const ANY_OPTIONS: &[Credential] = &[
    ("--header", Apart, Header),
    ("--headers", Apart, Header),
    ("--build-arg", Apart, Setting),
    ("--data", Apart, Setting),
    ("--data-raw", Apart, Setting),
    ("--data-urlencode", Apart, Setting),
    ("--env", Apart, Setting),
    ("--extra-vars", Apart, Setting),
    ("--form", Apart, Setting),
    ("--form-string", Apart, Setting),
    ("--from-literal", Apart, Setting),
    ("--set", Apart, Setting),
    ("--set-env-vars", Apart, Setting),
    ("--set-string", Apart, Setting),
    ("--update-env-vars", Apart, Setting),
    ("-var", Apart, Setting),
    ("--passphrase-fd", Switch, Whole),
    ("--password-stdin", Switch, Whole),
    ("--with-token", Switch, Whole),
    ("-stdinpass", Switch, Whole),
];

/// What is known of the program that a word of a command starts.
pub(super) fn programs_of(word: &str) -> impl Iterator<Item = &'static Program> {
    let name = name_of(word);
    PROGRAMS.iter().filter(move |program| program.names.contains(&name))
}

/// Whether a text that begins with this word is a command rather than prose.
pub(super) fn begins_command(word: &str) -> bool {
    !ALSO_PROSE.contains(&word) && (runs_text(word) || programs_of(word).next().is_some())
}

/// Whether a word of a command starts a program that runs the texts it is given.
pub(super) fn runs_text(word: &str) -> bool {
    RUNNING_TEXTS.contains(&name_of(word))
}

/// Whether a word of a command starts a program that runs another one, somewhere among its words.
pub(super) fn launches(word: &str) -> bool {
    LAUNCHING.contains(&name_of(word))
}

/// Whether a word of a command starts a program that looks for patterns.
pub(super) fn seeks_patterns(word: &str) -> bool {
    SEEKING_PATTERNS.contains(&name_of(word))
}

/// Whether a word of a command starts a program that says what it is given.
pub(super) fn says(word: &str) -> bool {
    ["echo", "printf"].contains(&name_of(word))
}

/// Whether a word of a command starts a program that says what it reads.
pub(super) fn passes_on(word: &str) -> bool {
    name_of(word) == "cat"
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

/// Programs that run another one.
const LAUNCHING: &[&str] = &[
    "bundle", "docker", "doppler", "heroku", "kubectl", "nerdctl", "oc", "op", "pipx", "podman", "poetry",
    "uv",
];

/// Programs that are given patterns to look for, or what to put in the place of something.
const SEEKING_PATTERNS: &[&str] =
    &["ack", "ag", "awk", "egrep", "fgrep", "gawk", "grep", "gsed", "mawk", "perl", "rg", "sed", "zgrep"];

/// Names of programs that sentences begin with as well.
const ALSO_PROSE: &[&str] =
    &["echo", "export", "fly", "hatch", "local", "net", "pass", "poetry", "security", "tea", "vault"];

fn name_of(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_a_secret_and_options_that_can_be_told() {
        for program in PROGRAMS {
            let has_words = !program.options.is_empty() || program.operands != Operands::None;
            assert!(has_words || program.input.is_some(), "{:?}", program.names);
            assert!(program.names.iter().all(|name| name_of(name) == *name), "{:?}", program.names);
        }
        let own = PROGRAMS.iter().flat_map(|program| program.options);
        for (option, ..) in own.chain(ANY_OPTIONS) {
            assert!(option.len() > 1 && option.is_ascii() && option.starts_with(['-', '/']), "{option}");
        }
    }
}
