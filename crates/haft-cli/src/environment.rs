//! What commands are run with: an environment without secrets, a shell, and how far the sandbox reaches.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use haft_store::is_secret_variable;
use haft_tools::{Confinement, Processes, ProfileName};

use crate::exit::Failure;
use crate::setting::Setting;

/// Variables that make programs load or run something, that lead out of the sandbox, or that are haft's own.
const WITHHELD: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "ENV",
    "GLOBIGNORE",
    "GPG_AGENT_INFO",
    "IFS",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONSTARTUP",
    "RUBYOPT",
    "SHELLOPTS",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
];
/// The beginnings of the names of such variables.
const WITHHELD_BEGINNINGS: &[&str] = &["BASH_FUNC_", "DYLD_", "GIT_", "HAFT_", "LD_", "OPENCODE_", "SUDO_"];

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

/// How commands are run here.
pub(crate) fn processes(setting: &Setting) -> Result<Processes, Failure> {
    let mut processes = Processes::new(environment(setting), setting.config.limits().text);
    processes.shell = shell(setting)?;
    processes.home = setting.env.home();
    processes.hidden = vec![setting.paths.data.clone(), setting.paths.state.clone()];
    processes.confinement = confinement(setting)?;
    if let Some(ms) =
        setting.env.get(TIMEOUT).and_then(|text| text.to_str()?.parse().ok()).filter(|ms| *ms > 0)
    {
        processes.timeout = Duration::from_millis(ms);
    }
    Ok(processes)
}

fn environment(setting: &Setting) -> Vec<(OsString, OsString)> {
    let is_withheld = |name: &str, value: &str| {
        WITHHELD.contains(&name)
            || WITHHELD_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || GIVEN.iter().any(|(given, _)| *given == name)
            || is_secret_variable(name, value)
    };
    let kept = setting.env.iter().filter(|(name, value)| !is_withheld(name, value));
    let kept = kept.map(|(name, value)| (name.into_owned().into(), value.into_owned().into()));
    kept.chain(GIVEN.iter().map(|(name, value)| ((*name).into(), (*value).into()))).collect()
}

fn shell(setting: &Setting) -> Result<Option<PathBuf>, Failure> {
    let Some(shell) = setting.config.shell() else { return Ok(None) };
    let path = PathBuf::from(shell);
    match path.is_absolute() {
        true => Ok(Some(path)),
        false => Err(Failure::usage(format_args!("shell must be an absolute path, not {shell:?}"))),
    }
}

fn confinement(setting: &Setting) -> Result<Confinement, Failure> {
    let (profile, writable, network) = setting.config.sandbox();
    let profile = match profile {
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
    Ok(Confinement { profile, writable: writable.into_iter().map(absolute).collect(), network })
}
