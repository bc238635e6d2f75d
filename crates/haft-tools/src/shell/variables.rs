//! Variables by which programs are made to run or to load something, as data.

use super::inner::Inner;
use super::options::is_input;
use super::word::Word;

/// Variables by which other programs are made to run or to load something.
#[rustfmt::skip]
const DANGEROUS: &[&str] = &[
    "PATH", "IFS", "ENV", "BASH_ENV", "BASH_XTRACEFD", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "SHELLOPTS",
    "BASHOPTS", "CDPATH", "GLOBIGNORE", "SHELL", "HOME", "TMPDIR", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER",
    "LESS", "LESSOPEN", "LESSCLOSE", "GREP_OPTIONS", "MAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD", "AR", "PIP_EDITOR", "LDLIBS", "LOADLIBES", "TARGET_ARCH", "CFLAGS",
    "LDFLAGS", "RUSTC", "RUSTC_WRAPPER", "RUSTFLAGS", "RUSTDOC", "CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
    "NODE_OPTIONS", "NODE_PATH", "GOFLAGS", "TAR_OPTIONS", "RSYNC_RSH", "CVS_RSH", "SSH_ASKPASS", "SUDO_ASKPASS",
    "EXINIT", "VIMINIT", "FCEDIT", "GCONV_PATH", "LOCPATH", "TERMCAP", "TERMINFO", "TZDIR", "OPENSSL_CONF", "AWKPATH",
    "AWKLIBPATH", "POSIXLY_CORRECT", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    "BASH_CMDS", "BASH_ALIASES", "BASH_LOADABLES_PATH", "INPUTRC", "ZDOTDIR", "CONFIG_SHELL", "MAKE", "AS", "CPP", "FC",
    "CXXFLAGS", "CPPFLAGS", "RUSTDOCFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CCACHE_PREFIX", "CCACHE_COMPILER", "CCACHE_CONFIGPATH",
    "GH_PAGER", "GH_EDITOR", "GH_BROWSER", "BAT_PAGER", "DELTA_PAGER", "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "KUBE_EDITOR",
    "KUBECONFIG", "HGEDITOR", "SVN_EDITOR", "SVN_SSH", "PSQL_EDITOR", "PSQL_PAGER", "SUDO_EDITOR", "ACK_PAGER", "ACK_OPTIONS",
    "FZF_DEFAULT_COMMAND", "FZF_DEFAULT_OPTS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS",
    "DOTNET_STARTUP_HOOKS", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "R_PROFILE", "R_PROFILE_USER", "ERL_FLAGS", "ERL_AFLAGS",
    "ERL_ZFLAGS", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "RSYNC_CONNECT_PROG", "ZIPOPT", "LESSKEYIN", "LESSKEY_CONTENT", "WGETRC",
    "VIMRUNTIME", "MANROFFOPT", "TEXEDIT", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER",
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
    "BASH_LOADABLES_PATH", "INPUTRC", "ZDOTDIR", "CXXFLAGS", "CPPFLAGS", "RUSTDOCFLAGS", "CCACHE_CONFIGPATH", "KUBECONFIG",
    "LUA_PATH", "LUA_CPATH", "R_PROFILE", "R_PROFILE_USER", "LESSKEYIN", "WGETRC", "VIMRUNTIME", "MAVEN_OPTS", "GRADLE_OPTS",
    "JAVA_OPTS", "SBT_OPTS", "JDK_JAVA_OPTIONS", "PYTEST_ADDOPTS",
];

/// Beginnings of the names of such variables.
#[rustfmt::skip]
const LOADING_BEGINNINGS: &[&str] = &[
    "LD_", "DYLD_", "PYTHON", "RIPGREP_", "HAFT_", "OPENCODE_", "GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_TRACE", "GIT_TEST_",
    "CARGO_TERM_", "CARGO_NET_", "CARGO_PROFILE_", "CARGO_HTTP_", "CARGO_PKG_",
];

/// Those among them that have Python go on with what it is fed, or call something.
const FEEDING: &[&str] = &["PYTHONINSPECT", "PYTHONBREAKPOINT"];

/// Those that hold a command or what the shell expands like one.
#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "ENV", "BASH_ENV", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "SHELL", "PAGER", "MANPAGER", "EDITOR", "VISUAL",
    "BROWSER", "CC", "CXX", "LD", "AR", "RUSTC", "RUSTC_WRAPPER", "RUSTDOC", "RSYNC_RSH", "CVS_RSH", "SSH_ASKPASS",
    "SUDO_ASKPASS", "FCEDIT", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_SSH", "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "CONFIG_SHELL", "MAKE", "AS", "CPP", "FC",
    "RUSTC_WORKSPACE_WRAPPER", "CCACHE_PREFIX", "CCACHE_COMPILER", "GH_PAGER", "GH_EDITOR", "GH_BROWSER", "BAT_PAGER",
    "DELTA_PAGER", "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "KUBE_EDITOR", "HGEDITOR", "SVN_EDITOR", "SVN_SSH", "PSQL_EDITOR",
    "PIP_EDITOR", "PSQL_PAGER", "SUDO_EDITOR", "ACK_PAGER", "FZF_DEFAULT_COMMAND", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER",
];

/// Variables of the shell that hold numbers: what they are set to is evaluated.
const NUMBERS: &[&str] = &["RANDOM", "SRANDOM", "HISTCMD", "OPTIND", "SECONDS", "LINENO", "EPOCHSECONDS"];

/// Options that are harmless in a variable, but for these that name a program to run.
const TELLING: &[(&str, &[&str])] = &[
    ("RUSTFLAGS RUSTDOCFLAGS", &["linker", "runtool"]),
    (
        "CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS LOADLIBES TARGET_ARCH",
        &["-wrapper", "-fplugin", "-load", ";", "|", "&", "`", "$(", ">", "<", "\n"],
    ),
    ("LESS", &["+"]),
    ("PYTEST_ADDOPTS", &["-p", "-c"]),
    ("MAVEN_OPTS GRADLE_OPTS JAVA_OPTS SBT_OPTS JDK_JAVA_OPTIONS", &["-XX", "-agent", "-javaagent"]),
];

/// Options that are harmless in a variable whose others may load something.
#[rustfmt::skip]
const HARMLESS: &[(&str, &[&str])] = &[(
    "NODE_OPTIONS",
    &[
        "--max-old-space-size", "--max_old_space_size", "--max-semi-space-size", "--max-http-header-size", "--stack-trace-limit",
        "--stack-size", "--no-warnings", "--trace-warnings", "--disable-warning", "--no-deprecation", "--trace-deprecation",
        "--throw-deprecation", "--pending-deprecation", "--trace-uncaught", "--unhandled-rejections", "--enable-source-maps",
        "--openssl-legacy-provider", "--experimental-vm-modules", "--experimental-strip-types", "--experimental-transform-types",
        "--experimental-fetch", "--no-experimental-fetch", "--experimental-global-webcrypto", "--experimental-json-modules",
        "--dns-result-order", "--preserve-symlinks", "--expose-gc", "--use-openssl-ca", "--use-system-ca", "--tls-min-v1.2",
    ],
)];

/// Variables that name files or directories to the shell or to git, which reads them without being told again.
#[rustfmt::skip]
const NAMING_FILES: &[&str] = &[
    "HISTFILE", "BASH_ENV", "ENV", "INPUTRC", "MAIL", "MAILPATH", "TMPDIR", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "ZDOTDIR",
];

/// Whether setting a variable can make other programs run something.
pub(super) fn is_dangerous(name: &str) -> bool {
    DANGEROUS.contains(&name) || DANGEROUS_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether what is in a variable is itself run by other programs.
pub(super) fn is_run(name: &str) -> bool {
    let loads =
        LOADING.contains(&name) || LOADING_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    is_dangerous(name) && (!loads || FEEDING.contains(&name))
}

/// Whether to set a variable, or an element of it, to something that is not known may run anything.
pub(super) fn is_evaluated(name: &str) -> bool {
    run_by(name, &Word::unknown()).is_some()
}

/// Whether what a variable is set to names a file to what reads the variable by itself.
pub(super) fn names_file(name: &str) -> bool {
    NAMING_FILES.contains(&name)
}

/// What may run because a variable is set to this. An element of an array is set like the array.
pub(super) fn run_by(name: &str, value: &Word) -> Option<Inner> {
    let name = name.split('[').next().unwrap_or(name);
    if NUMBERS.contains(&name) {
        let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        return (!value.known().is_some_and(is_number)).then_some(Inner::Opaque);
    }
    if !is_run(name) {
        // What it loads is a file that somebody can look at, unless it is what is fed.
        let is_fed = || is_input(value.text(), &[]);
        return (tells(name, value) || is_dangerous(name) && is_fed()).then_some(Inner::Opaque);
    }
    Some(match value.known() {
        Some(text) if is_harmless(name, text) => return None,
        Some(text) if is_input(text, &[]) => Inner::Opaque,
        Some(text) if COMMANDS.contains(&name) => Inner::Script(text.to_owned()),
        // Empty is off.
        Some("") => return None,
        Some(_) | None => Inner::Opaque,
    })
}

/// Whether all the options in a variable are known to load nothing.
fn is_harmless(name: &str, text: &str) -> bool {
    let Some((_, options)) = HARMLESS.iter().find(|(variable, _)| *variable == name) else { return false };
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    text.split_whitespace()
        .all(|word| is_number(word) || options.contains(&word.split('=').next().unwrap_or(word)))
}

/// Whether options in a variable tell a program to run another.
fn tells(name: &str, value: &Word) -> bool {
    let row = TELLING.iter().find(|(names, _)| names.split(' ').any(|one| one == name));
    row.is_some_and(|(_, options)| {
        value.known().is_none() || options.iter().any(|option| value.text().contains(option))
    })
}

/// What may run because of a word that sets a variable; nothing, if it sets none.
pub(super) fn run_by_setting(word: &Word) -> Option<Inner> {
    let (name, value) = word.text().split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let value = if word.known().is_some() { Word::exact(value) } else { Word::unknown() };
    run_by(name, &value)
}
