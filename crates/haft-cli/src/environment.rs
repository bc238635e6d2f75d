//! What commands are run with: an environment without secrets, a shell, and how far the sandbox reaches.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use haft::secrets::without_secrets;
use haft_sandbox::{HostGrant, Level, NoHost};
use haft_store::is_secret_variable;
use haft_tools::web::Proxies;
use haft_tools::{Confinement, OwnPrograms, Processes, ProfileName};

use crate::exit::Failure;
use crate::setting::Setting;

/// Variables that make programs load or run something, that lead out of the sandbox, or that are haft's own. Editors are
/// among them: there is nobody to use one, and git without one says so at once.
const WITHHELD: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "EDITOR",
    "ENV",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "GLOBIGNORE",
    "GPG_AGENT_INFO",
    "IFS",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "RUBYOPT",
    "SHELLOPTS",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "VISUAL",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
];
/// The beginnings of the names of such variables.
const WITHHELD_BEGINNINGS: &[&str] = &["BASH_FUNC_", "DYLD_", "GIT_", "HAFT_", "LD_", "OPENCODE_", "SUDO_"];

/// Variables that begin so and run nothing: by them people say who they are.
const LET_THROUGH: &[&str] = &[
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
];

/// Variables that hold options, which mostly set how much memory there is; and how those begin that load code.
const LOADING: &[(&str, &[&str])] = &[
    ("JAVA_TOOL_OPTIONS", OF_JAVA),
    ("JDK_JAVA_OPTIONS", OF_JAVA),
    ("NODE_OPTIONS", &["--require", "-r", "--import", "--loader", "--experimental-loader"]),
    ("_JAVA_OPTIONS", OF_JAVA),
];
const OF_JAVA: &[&str] = &["-javaagent:", "-agentlib:", "-agentpath:"];

/// There is no terminal and nobody to answer.
const GIVEN: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("HAFT", "1"),
];

const TIMEOUT: &str = "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS";

const LEVEL: &str = "HAFT_SANDBOX_LEVEL";

/// How commands are run here.
pub(crate) fn processes(setting: &Setting) -> Result<Processes, Failure> {
    let mut processes = Processes::new(environment(setting), setting.config.limits().text);
    processes.shell = shell(setting)?;
    processes.home = setting.env.home();
    processes.hidden = setting.paths.own().to_vec();
    processes.custody = Some(setting.paths.custody());
    processes.believed = setting.trusted.directories().cloned().collect();
    processes.configuration = setting.paths.configuration();
    processes.own_programs = match setting.trusted.is_everything() {
        true => OwnPrograms::Everywhere,
        // Those that somebody else has put there meanwhile are nobody's.
        false => OwnPrograms::Of(
            processes.believed.iter().filter(|path| setting.trusted.is_agreed(path)).cloned().collect(),
        ),
    };
    processes.confinement = confinement(setting)?;
    processes.level_max = level_max(setting)?;
    processes.has_helper = !is_writable_beside_haft(setting, &processes);
    processes.trial = Some(setting.paths.data.join("sandbox.tried"));
    processes.background_after = setting.config.background_after().map(Duration::from_millis);
    if let Some(ms) =
        setting.env.get(TIMEOUT).and_then(|text| text.to_str()?.parse().ok()).filter(|ms| *ms > 0)
    {
        processes.timeout = Duration::from_millis(ms);
    }
    Ok(processes)
}

/// Whether commands may write where haft itself lies, so that they could put a helper beside it.
fn is_writable_beside_haft(setting: &Setting, processes: &Processes) -> bool {
    let Ok(own) = std::env::current_exe() else { return true };
    let roots = [setting.directory.as_path(), setting.project()].into_iter();
    let mut roots = roots.chain(processes.confinement.writable.iter().map(PathBuf::as_path));
    roots.any(|root| own.starts_with(root.canonicalize().as_deref().unwrap_or(root)))
}

fn environment(setting: &Setting) -> Vec<(OsString, OsString)> {
    let kept = setting.env.iter().filter(|(name, value)| !is_withheld(name, value));
    let kept = kept.map(|(name, value)| (name.into_owned().into(), value.into_owned().into()));
    kept.chain(GIVEN.iter().map(|(name, value)| ((*name).into(), (*value).into()))).collect()
}

fn is_withheld(name: &str, value: &str) -> bool {
    let begins = || WITHHELD_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    WITHHELD.contains(&name)
        || (begins() && !LET_THROUGH.contains(&name))
        || GIVEN.iter().any(|(given, _)| *given == name)
        || loads_code(name, value)
        || is_secret_variable(name, value)
}

/// Whether one of the options in a variable makes a program load code.
fn loads_code(name: &str, value: &str) -> bool {
    let Some((_, loading)) = LOADING.iter().find(|(variable, _)| *variable == name) else { return false };
    let mut options = value.split(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\''));
    options.any(|option| loading.iter().any(|beginning| option.starts_with(beginning)))
}

fn shell(setting: &Setting) -> Result<Option<PathBuf>, Failure> {
    let Some(shell) = setting.config.shell() else { return Ok(None) };
    let path = PathBuf::from(shell);
    match path.is_absolute() {
        true => Ok(Some(path)),
        false => Err(Failure::usage(format_args!("shell must be an absolute path, not {shell:?}"))),
    }
}

/// How strongly commands are confined at most: to try on one machine what happens on another.
pub(crate) fn level_max(setting: &Setting) -> Result<Level, Failure> {
    let Some(name) = setting.env.get(LEVEL) else { return Ok(Level::Namespaces) };
    match name.to_str() {
        Some("namespaces") => Ok(Level::Namespaces),
        Some("bubblewrap") => Ok(Level::Bubblewrap),
        Some("landlock") => Ok(Level::LandlockOnly),
        Some("none") => Ok(Level::None),
        Some(_) | None => Err(Failure::usage(format_args!(
            "{LEVEL} is {name:?}; expected namespaces, bubblewrap, landlock or none"
        ))),
    }
}

fn confinement(setting: &Setting) -> Result<Confinement, Failure> {
    let words = setting.config.sandbox();
    let profile = match words.profile {
        None | Some("workspace-write") => ProfileName::WorkspaceWrite,
        Some("read-only") => ProfileName::ReadOnly,
        Some("full-access" | "off") => ProfileName::FullAccess,
        Some(other) => {
            return Err(Failure::usage(format_args!(
                "sandbox is {other:?}; expected workspace-write, read-only, full-access or off"
            )));
        }
    };
    let home = setting.env.home();
    let absolute = |path: &str| match (path.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => setting.directory.join(path),
    };
    let hosts: Result<Vec<_>, _> = words.hosts.iter().map(|host| HostGrant::parse(host)).collect();
    Ok(Confinement {
        profile,
        writable: words.writable.into_iter().map(absolute).collect(),
        network: words.network,
        hosts: hosts.map_err(|NoHost(text)| {
            let error = NoHost(without_secrets(&text));
            Failure::usage(format_args!("sandbox.hosts: {error}"))
        })?,
        memory_bytes: words.memory_bytes,
    })
}

/// The proxies that the environment names.
pub(crate) fn proxies(setting: &Setting) -> Proxies {
    Proxies::from_env(|name| Some(setting.env.get(name)?.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::is_withheld;

    #[test]
    fn what_loads_code_is_withheld_and_what_only_sets_something_is_not() {
        let withheld = [
            ("EDITOR", "vi"),
            ("VISUAL", "code --wait"),
            ("GIT_EDITOR", "vi"),
            ("GIT_AUTHOR_X", "x"),
            ("GCONV_PATH", "/x"),
            ("GLIBC_TUNABLES", "x=1"),
            ("PYTHONHOME", "/x"),
            ("NODE_OPTIONS", "--require ./x.js"),
            ("NODE_OPTIONS", "--no-warnings -r ./x.js"),
            ("NODE_OPTIONS", "\"--import=./x.js\""),
            ("NODE_OPTIONS", "--experimental-loader=./x.js"),
            ("JAVA_TOOL_OPTIONS", "-Xmx1g -javaagent:x.jar"),
            ("_JAVA_OPTIONS", "-agentpath:/x.so"),
            ("JDK_JAVA_OPTIONS", "'-agentlib:jdwp'"),
        ];
        let kept = [
            ("GIT_AUTHOR_NAME", "A B"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_AUTHOR_DATE", "2020-01-01"),
            ("GIT_COMMITTER_NAME", "A B"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_DATE", "2020-01-01"),
            ("NODE_OPTIONS", "--max-old-space-size=4096 --report-on-fatalerror"),
            ("JAVA_TOOL_OPTIONS", "-Xmx1g -Dfile.encoding=UTF-8"),
            ("PYTHONPATH", "src"),
        ];
        for (rows, expected) in [(&withheld[..], true), (&kept[..], false)] {
            for (name, value) in rows {
                assert_eq!(is_withheld(name, value), expected, "{name}={value}");
            }
        }
    }
}
