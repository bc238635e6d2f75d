//! Variables by which programs are made to run or to load something, as data.

use super::inner::Inner;
use super::word::Word;

/// Variables by which other programs are made to run or to load something.
#[rustfmt::skip]
const DANGEROUS: &[&str] = &[
    "PATH", "IFS", "ENV", "BASH_ENV", "BASH_XTRACEFD", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "SHELLOPTS",
    "BASHOPTS", "CDPATH", "GLOBIGNORE", "SHELL", "HOME", "TMPDIR", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER",
    "LESS", "LESSOPEN", "LESSCLOSE", "GREP_OPTIONS", "MAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD", "AR", "CFLAGS",
    "LDFLAGS", "RUSTC", "RUSTC_WRAPPER", "RUSTFLAGS", "RUSTDOC", "CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
    "NODE_OPTIONS", "NODE_PATH", "GOFLAGS", "TAR_OPTIONS", "RSYNC_RSH", "CVS_RSH", "SSH_ASKPASS", "SUDO_ASKPASS",
    "EXINIT", "VIMINIT", "FCEDIT", "GCONV_PATH", "LOCPATH", "TERMCAP", "TERMINFO", "TZDIR", "OPENSSL_CONF", "AWKPATH",
    "AWKLIBPATH", "POSIXLY_CORRECT", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
];

/// Beginnings of the names of such variables.
#[rustfmt::skip]
const DANGEROUS_BEGINNINGS: &[&str] = &[
    "LD_", "DYLD_", "GIT_", "PYTHON", "PERL", "RUBY", "BASH_FUNC", "CARGO_", "npm_", "NPM_", "GCC_", "RIPGREP_", "HAFT_",
    "OPENCODE_",
];

/// Those among them that only say where files are, or what others print: what is loaded by them can be looked at.
#[rustfmt::skip]
const LOADING: &[&str] = &[
    "PATH", "IFS", "BASH_XTRACEFD", "CDPATH", "GLOBIGNORE", "HOME", "TMPDIR", "LESS", "GREP_OPTIONS", "MAKEFILES",
    "CFLAGS", "LDFLAGS", "RUSTFLAGS", "CLASSPATH", "NODE_PATH", "GCONV_PATH", "LOCPATH", "TERMCAP", "TERMINFO", "TZDIR",
    "OPENSSL_CONF", "AWKPATH", "AWKLIBPATH", "POSIXLY_CORRECT", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY",
    "ALL_PROXY", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
    "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM", "GIT_PAGER_IN_USE", "GIT_MERGE_AUTOEDIT", "GIT_LFS_SKIP_SMUDGE", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "CARGO_TARGET_DIR", "CARGO_HOME", "CARGO_INCREMENTAL", "CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET", "GCC_COLORS",
];

/// Beginnings of the names of such variables.
#[rustfmt::skip]
const LOADING_BEGINNINGS: &[&str] = &[
    "LD_", "DYLD_", "PYTHON", "RIPGREP_", "HAFT_", "OPENCODE_", "GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TRACE", "GIT_TEST_",
    "CARGO_TERM_", "CARGO_NET_", "CARGO_PROFILE_", "CARGO_HTTP_", "CARGO_PKG_",
];

/// Those that hold a command or what the shell expands like one.
#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "ENV", "BASH_ENV", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "SHELL", "PAGER", "MANPAGER", "EDITOR", "VISUAL",
    "BROWSER", "CC", "CXX", "LD", "AR", "RUSTC", "RUSTC_WRAPPER", "RUSTDOC", "RSYNC_RSH", "CVS_RSH", "SSH_ASKPASS",
    "SUDO_ASKPASS", "FCEDIT", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_SSH", "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND",
];

/// Whether setting a variable can make other programs run something.
pub(super) fn is_dangerous(name: &str) -> bool {
    DANGEROUS.contains(&name) || DANGEROUS_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether what is in a variable is itself run by other programs.
pub(super) fn is_run(name: &str) -> bool {
    let loads =
        LOADING.contains(&name) || LOADING_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    is_dangerous(name) && !loads
}

/// What may run because a variable is set to this.
pub(super) fn run_by(name: &str, value: &Word) -> Option<Inner> {
    if !is_run(name) {
        return None;
    }
    Some(match value.known() {
        Some(text) if COMMANDS.contains(&name) => Inner::Script(text.to_owned()),
        // Empty is off.
        Some("") => return None,
        Some(_) | None => Inner::Opaque,
    })
}

/// What may run because of a word that sets a variable; nothing, if it sets none.
pub(super) fn run_by_setting(word: &Word) -> Option<Inner> {
    let (name, value) = word.text().split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let value = if word.known().is_some() { Word::exact(value) } else { Word::unknown() };
    run_by(name, &value)
}
