//! Tool caches that appear writable: a layer in memory over the real ones, thrown away with the command.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{MountFlags, OpenTreeFlags, UnmountFlags, mount, open_tree, unmount};

use super::view::{ViewError, at, clone, freeze, private, put};
use crate::profile::Caches;

/// Where the upper layers are; covered by nothing else, and private.
const LAYERS: &str = "/run/haft-layers";

/// Lays one layer over the whole home directory, which stays read-only but for the caches. So a cache that does not
/// exist yet can be made without touching the real home directory.
pub(super) fn layer(caches: &Caches) -> Result<Vec<PathBuf>, ViewError> {
    let home = &caches.home;
    // A layer does not show what is mounted below; such a home is left as it is, but for the caches that exist.
    if has_mounts_below(home) {
        return Ok(layer_each(caches));
    }
    overlay(home, "home")?;
    let mut made = Vec::new();
    for path in caches.paths.iter().map(|path| home.join(path)) {
        // Something else of that name, or a place that cannot be written: then there is no such cache.
        if fs::create_dir_all(&path).is_ok() {
            made.push((clone(&path)?, path));
        }
    }
    freeze(home)?;
    for (tree, path) in &made {
        put(tree, path)?;
    }
    Ok(made.into_iter().map(|(_, path)| path).collect())
}

/// Lays one layer over each cache that exists.
pub(super) fn layer_each(caches: &Caches) -> Vec<PathBuf> {
    let paths = caches.paths.iter().map(|path| caches.home.join(path)).filter(|path| path.is_dir());
    let layered = paths.enumerate().filter(|(index, path)| overlay(path, &index.to_string()).is_ok());
    layered.map(|(_, path)| path).collect()
}

fn overlay(path: &Path, name: &str) -> Result<(), ViewError> {
    let layers = Path::new(LAYERS);
    if !layers.exists() {
        fs::create_dir(layers).map_err(at("make", layers))?;
        private(layers, "mode=700")?;
    }
    let (upper, work) = (layers.join(name).join("upper"), layers.join(name).join("work"));
    for directory in [&upper, &work] {
        fs::create_dir_all(directory).map_err(at("make", directory))?;
    }
    // The lower layer is named by descriptor, because a path may contain what separates options.
    let lower = open_tree(CWD, path, OpenTreeFlags::OPEN_TREE_CLOEXEC).map_err(at("open", path))?;
    let options = format!(
        "lowerdir=/proc/self/fd/{},upperdir={},workdir={},userxattr",
        std::os::fd::AsRawFd::as_raw_fd(&lower),
        upper.display(),
        work.display()
    );
    let options = std::ffi::CString::new(options).expect("options have no NUL");
    mount("overlay", path, "overlay", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
        .map_err(at("lay a private layer over", path))
}

/// Takes the layers out of sight; those in use stay in use.
pub(super) fn put_away() {
    unmount(LAYERS, UnmountFlags::DETACH).ok();
}

fn has_mounts_below(home: &Path) -> bool {
    let Ok(mounts) = fs::read_to_string("/proc/self/mountinfo") else { return true };
    // A path with a space is written with an escape, and is then simply not recognised as below.
    let mut points = mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(Path::new);
    points.any(|point| point != home && point.starts_with(home))
}
