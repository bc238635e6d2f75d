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
