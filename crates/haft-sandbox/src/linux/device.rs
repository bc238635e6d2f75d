//! The few devices that programs need.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount};

use super::view::{ViewError, at, clone, freeze, private, put};

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Clones of the devices, taken before devices are made to work nowhere.
pub(super) fn clones() -> Result<Vec<(&'static str, OwnedFd)>, ViewError> {
    let dev = Path::new("/dev");
    let present = DEVICES.iter().filter(|name| dev.join(name).exists());
    present.map(|name| Ok((*name, clone(&dev.join(name))?))).collect()
}

/// Makes `/dev` of these; returns what of it can be written to.
pub(super) fn directory(devices: &[(&str, OwnedFd)]) -> Result<Vec<PathBuf>, ViewError> {
    let dev = Path::new("/dev");
    private(dev, "mode=755")?;
    let made = || {
        for (name, _) in devices {
            File::create(dev.join(name))?;
        }
        for (name, target) in LINKS {
            symlink(target, dev.join(name))?;
        }
        fs::create_dir(dev.join("pts"))?;
        fs::create_dir(dev.join("shm"))
    };
    made().map_err(at("fill", dev))?;
    for (name, tree) in devices {
        put(tree, &dev.join(name))?;
    }
    freeze(dev)?;
    private(&dev.join("shm"), "mode=1777")?;
    // Terminals of its own, for programs that need one. Where they cannot be had, there are none.
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount("devpts", dev.join("pts"), "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options).ok();
    Ok(vec![dev.to_path_buf()])
}
