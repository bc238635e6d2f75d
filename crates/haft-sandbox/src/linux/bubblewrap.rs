//! The same view by bubblewrap, on hosts where only that program may make namespaces.

use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::guard::Guard;
use super::pins::pins;
use super::told::Told;
use super::{helper, launch, supervise, sys};
use crate::profile::{Network, Temp};
use crate::spec::Spec;

/// Where it is installed. It is not looked up in `PATH`, which a workspace may have a say in.
const PLACES: &[&str] =
    &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

pub(crate) fn installed() -> Option<PathBuf> {
    PLACES.iter().map(PathBuf::from).find(|path| path.exists())
}

/// What bubblewrap has to know besides what is to be run.
#[derive(Clone, Copy)]
pub(super) struct Wrapping<'a> {
    /// What is protected.
    pub(super) guard: &'a Guard,
    /// Where it says what it cannot do.
    pub(super) complaints: &'a OwnedFd,
}

/// Becomes bubblewrap, which starts the inner helper, which becomes the command. Returns only what went wrong.
pub(super) fn become_it(spec: &Spec, wrapping: Wrapping<'_>, results: &OwnedFd) -> Told {
    match try_become_it(spec, wrapping, results) {
        Ok(error) => Told::Setup(format!("could not start bubblewrap: {error}")),
        Err(error) => Told::Setup(format!("could not prepare bubblewrap: {error}")),
    }
}

fn try_become_it(spec: &Spec, wrapping: Wrapping<'_>, results: &OwnedFd) -> std::io::Result<std::io::Error> {
    let Wrapping { guard, complaints } = wrapping;
    let program = spec.bubblewrap.as_deref().ok_or_else(|| std::io::Error::other("it is not installed"))?;
    let me = std::env::current_exe()?;
    let instruction = launch::instruction(spec)?;
    let results = results.try_clone()?;
    // What bubblewrap itself complains of does not belong to what the command prints.
    let stderr = std::io::stderr().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stderr(complaints)?;
    let mut command = Command::new(program);
    command.args(arguments(spec, guard, &me)).arg("--").arg(&me).args([helper::INNER, helper::BUILD]);
    let kept = vec![instruction, results, stderr];
    command.args(kept.iter().map(|fd| fd.as_raw_fd().to_string()));
    sys::inherit(&mut command, kept);
    sys::unblock_signals()?;
    Ok(command.env_clear().exec())
}

fn arguments(spec: &Spec, guard: &Guard, me: &Path) -> Vec<OsString> {
    let profile = &spec.profile;
    let mut args: Vec<OsString> = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        .iter()
        .chain(&["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/", "/"])
        .chain(&[
            "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--tmpfs", "/var/tmp", "--tmpfs", "/tmp",
        ])
        .map(OsString::from)
        .collect();
    if profile.network != Network::Host {
        args.push("--unshare-net".into());
    }
    let mut mount = |option: &str, from: &Path, to: &Path| {
        args.extend([option.into(), from.as_os_str().to_os_string(), to.as_os_str().to_os_string()]);
    };
    match &profile.temp {
        Temp::Fresh => {}
        Temp::Directory(path) => mount("--bind", path, Path::new("/tmp")),
    }
    // Nothing that can be read, to lay over what is hidden.
    let no_file = Path::new("/dev/null");
    let granted = |path: &Path| {
        let mut grants = profile.writable.iter().chain(&profile.readable).chain(&profile.sockets);
        grants.any(|grant| grant.starts_with(path))
    };
    for path in profile.readable.iter().chain(&profile.sockets) {
        mount("--ro-bind", path, path);
    }
    for root in &profile.writable {
        mount("--bind", root, root);
    }
    let hidden: Vec<&PathBuf> = profile.hidden.iter().filter(|path| !granted(path)).collect();
    // Directories that hold something protected or hidden could be renamed with it, unless they are mounts themselves.
    let held = guard.read_only.iter().chain(guard.looked_after()).chain(hidden.iter().copied());
    pins(&profile.writable, held).iter().for_each(|part| mount("--bind", part, part));
    guard.read_only.iter().for_each(|path| mount("--ro-bind", path, path));
    mount("--ro-bind", me, me);
    let (hidden, hidden_files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        hidden.into_iter().partition(|path| path.is_dir());
    hidden_files.into_iter().for_each(|path| mount("--ro-bind", no_file, path));
    for path in supervise::sockets().iter().filter(|path| !profile.sockets.contains(path) && is_visible(path))
    {
        mount("--ro-bind", no_file, path);
    }
    // There is no empty directory on every host that could be laid over others. What lies in one that is hidden is gone.
    let is_gone = |path: &PathBuf| hidden.iter().any(|over| path != *over && path.starts_with(over));
    for path in hidden.iter().filter(|path| !is_gone(path)) {
        args.extend(["--tmpfs".into(), path.into(), "--remount-ro".into(), path.into()]);
    }
    args
}

/// Whether a socket of the host would be seen at all.
fn is_visible(path: &Path) -> bool {
    let is_covered = ["/tmp", "/var/tmp", "/run", "/dev", "/proc"].iter().any(|over| path.starts_with(over));
    !is_covered && fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}
