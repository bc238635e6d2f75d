//! Runs one command confined, from the command line: for the tests, and to try a profile by hand.

use std::env;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Instant;

use haft_sandbox::{HostGrant, Level, Limits, Network, Profile, Program, Sandbox, Temp};

const USAGE: &str = "usage: haft-sandboxed [--report] [--read-only | --workspace DIR | --full] [--network off|loopback|host] [--host HOST[:PORT]]… [--writable PATH]… \
[--home DIR] [--hide PATH] [--readable PATH] [--temp DIR] [--custody DIR] [--processes N] [--level namespaces|bubblewrap|landlock] PROGRAM [ARG]…";

fn main() -> ExitCode {
    haft_sandbox::maybe_become_helper();
    match haft_sandbox::harden_this_process().map_err(|error| error.to_string()).and_then(|()| run()) {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("haft-sandboxed: {message}");
            ExitCode::from(125)
        }
    }
}

fn run() -> Result<u8, String> {
    let mut args = env::args_os().skip(1).peekable();
    let mut profile = Profile::read_only();
    let mut level = Level::Namespaces;
    let mut is_report = false;
    let mut rounds = None;
    while let Some(option) = args.next_if(|arg| arg.to_string_lossy().starts_with("--")) {
        let mut value = || args.next().ok_or_else(|| USAGE.to_owned());
        match option.to_string_lossy().as_ref() {
            "--report" => is_report = true,
            "--time" => rounds = Some(value()?.to_string_lossy().parse().map_err(|_| USAGE.to_owned())?),
            "--read-only" => profile = Profile::read_only(),
            "--workspace" => profile = Profile::workspace_write([PathBuf::from(value()?)]),
            "--full" => profile = Profile::full_access(),
            "--home" => profile = profile.with_home(Path::new(&value()?)),
            "--hide" => profile.hidden.push(value()?.into()),
            "--readable" => profile.readable.push(value()?.into()),
            "--temp" => profile.temp = Temp::Directory(value()?.into()),
            "--masks" => profile = profile.with_masks(),
            "--custody" => profile.custody = Some(value()?.into()),
            "--unprotected" => profile.protected.clear(),
            "--processes" => {
                let processes = value()?.to_string_lossy().parse().map_err(|_| USAGE.to_owned())?;
                profile.limits = Limits { processes: Some(processes), ..profile.limits };
            }
            "--network" => {
                profile.network = match value()?.to_string_lossy().as_ref() {
                    "off" => Network::Off,
                    "loopback" => Network::Loopback,
                    "host" => Network::Host,
                    _ => return Err(USAGE.to_owned()),
                }
            }
            "--writable" => profile = profile.with_writable(value()?.into()),
            "--host" => {
                let host =
                    HostGrant::parse(&value()?.to_string_lossy()).map_err(|error| error.to_string())?;
                match &mut profile.network {
                    Network::Hosts(hosts) => hosts.push(host),
                    Network::Off | Network::Loopback | Network::Host => {
                        profile.network = Network::Hosts(vec![host])
                    }
                }
            }
            "--level" => {
                level = match value()?.to_string_lossy().as_ref() {
                    "namespaces" => Level::Namespaces,
                    "bubblewrap" => Level::Bubblewrap,
                    "landlock" => Level::LandlockOnly,
                    "none" => Level::None,
                    _ => return Err(USAGE.to_owned()),
                }
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    let sandbox = Sandbox::probe().at_most(level);
    if is_report {
        eprintln!("{}", sandbox.report());
        return Ok(0);
    }
    let program = args.next().ok_or(USAGE)?;
    match rounds {
        Some(rounds) => time(&sandbox, &profile, &program, rounds),
        None => confined(&sandbox, &profile, program, args.collect()),
    }
}

/// Prints the median cost of starting a program bare and confined, taken in turns.
fn time(sandbox: &Sandbox, profile: &Profile, program: &OsString, rounds: usize) -> Result<u8, String> {
    let (mut bare, mut held) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        Command::new(program).status().map_err(|error| error.to_string())?;
        bare.push(start.elapsed());
        let start = Instant::now();
        confined(sandbox, profile, program.clone(), Vec::new())?;
        held.push(start.elapsed());
    }
    bare.sort();
    held.sort();
    let (Some(bare), Some(held)) = (bare.get(rounds / 2), held.get(rounds / 2)) else {
        return Err(USAGE.to_owned());
    };
    eprintln!("bare {bare:?}, confined {held:?}, more by {:?}", held.saturating_sub(*bare));
    Ok(0)
}

fn confined(
    sandbox: &Sandbox,
    profile: &Profile,
    program: OsString,
    args: Vec<OsString>,
) -> Result<u8, String> {
    let cwd = env::current_dir().map_err(|error| error.to_string())?;
    let mut env: Vec<(OsString, OsString)> = env::vars_os().collect();
    let suggested = profile.suggested_env(sandbox.level());
    env.extend(suggested.into_iter().map(|(name, value)| (name.into(), value.into())));
    let program = Program { program, args, env, cwd };
    let input = std::io::stdin().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
    let confined = sandbox.command_reading(input, profile, &program).map_err(|error| error.to_string())?;
    let (mut command, watch) = confined.into_parts();
    let mut child = command.spawn().map_err(|error| format!("the helper could not be started: {error}"))?;
    drop(command);
    let status = child.wait().map_err(|error| error.to_string())?;
    let finished = watch.finish().map_err(|error| error.to_string())?;
    for removed in finished.removed {
        eprintln!("haft-sandboxed: put back {}", removed.path.display());
    }
    for host in finished.refused {
        eprintln!("haft-sandboxed: refused {host}");
    }
    u8::try_from(exit_code(status)).map_err(|error| error.to_string())
}

/// As a shell tells it.
#[cfg(unix)]
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

#[cfg(not(unix))]
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(1)
}
