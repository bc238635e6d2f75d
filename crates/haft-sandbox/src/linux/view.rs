//! The file system as a confined command sees it, made by mounting in a namespace of its own.
//!
//! Everything is read-only first, in one call. What may be changed was cloned before that and is laid over its own
//! place; what must not be changed is laid over that. Nothing is ever unmounted, and the command cannot unmount.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};

use super::pins::pins;
use super::sys::{MountChange, mount_setattr};
use super::{caches, device, limits};
use crate::profile::{Profile, Temp};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const HARMLESS: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

const CLONED: OpenTreeFlags =
    OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::OPEN_TREE_CLOEXEC).union(OpenTreeFlags::AT_RECURSIVE);

/// Directories that every command has for itself.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// What programs look for in `/run`, where otherwise the host's services can be talked to.
const KEPT_OF_RUN: &[&str] = &[
    "/run/booted-system",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf",
];

/// What is known before the namespace is entered.
pub(super) struct Surroundings {
    /// Protected paths, all of which exist.
    pub(super) read_only: Vec<PathBuf>,
    /// Protected paths at which nothing is mounted.
    pub(super) looked_after: Vec<PathBuf>,
    /// Sockets of the host's services that have a path.
    pub(super) sockets: Vec<PathBuf>,
}

/// What was made.
pub(super) struct View {
    /// Where the command may write.
    pub(super) writable: Vec<PathBuf>,
}

/// Makes the view. The caller is alone in a new mount and process namespace, with all capabilities in it.
pub(super) fn make(profile: &Profile, around: &Surroundings) -> Result<View, ViewError> {
    let roots = clones(&profile.writable)?;
    let readable: Result<Vec<_>, _> =
        covered(profile).into_iter().map(|path| Ok((clone(&path)?, path))).collect();
    let readable = readable?.into_iter().map(|(tree, path)| (path, tree)).collect();
    let temp = match &profile.temp {
        Temp::Fresh => None,
        Temp::Directory(path) => Some(clone(path)?),
    };
    let devices = device::clones()?;
    let root = Path::new("/");
    let whole = open_tree(CWD, root, OpenTreeFlags::OPEN_TREE_CLOEXEC).map_err(at("open", root))?;
    mount_setattr(&whole, attribute(READ_ONLY | HARMLESS)).map_err(at("make read-only", root))?;

    let mut writable = temporaries(temp)?;
    let run = Path::new("/run");
    private(run, "mode=755")?;
    let mask = Mask::make()?;
    // What holds something that is granted is hidden before that is laid over it; all else after.
    let grants = || profile.writable.iter().chain(&profile.readable).chain(&profile.sockets);
    let hidden = || profile.hidden.iter().filter(|path| !grants().any(|grant| grant == *path));
    let (above, below): (Vec<_>, Vec<_>) =
        hidden().partition(|path| grants().any(|grant| grant.starts_with(path)));
    above.into_iter().try_for_each(|path| mask.cover(path))?;
    lay(readable, attribute(READ_ONLY | HARMLESS))?;
    writable.extend(cache_layers(profile, Within::Nothing));
    lay(roots, attribute(HARMLESS))?;
    let held = around.read_only.iter().chain(&around.looked_after).chain(below.iter().copied());
    let pins = pins(&profile.writable, held);
    let is_no_root = |path: &&PathBuf| !profile.writable.contains(path);
    pins.iter().filter(is_no_root).try_for_each(|path| over(path, attribute(HARMLESS)))?;
    around.read_only.iter().try_for_each(|path| over(path, attribute(READ_ONLY | HARMLESS)))?;
    // What may be changed is no cache, also where it lies in one.
    let inside = roots_in_caches(profile)?;
    writable.extend(cache_layers(profile, Within::Roots));
    inside.iter().try_for_each(|(path, tree)| put(tree, path))?;
    below.into_iter().try_for_each(|path| mask.cover(path))?;
    let is_socket =
        |path: &&PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let sockets = around.sockets.iter().filter(|path| !profile.sockets.contains(path)).filter(is_socket);
    sockets.into_iter().try_for_each(|path| mask.cover(path))?;
    writable.extend(device::directory(&devices)?);
    processes(profile)?;
    writable.extend(profile.writable.iter().cloned());
    caches::put_away();
    freeze(run)?;
    Ok(View { writable })
}

/// What is to be seen although a private directory, or a hidden one, lies over it.
fn covered(profile: &Profile) -> Vec<PathBuf> {
    let lies_under = |path: &Path| {
        let private = TEMPORARY.iter().chain(&["/run", "/dev"]).map(Path::new);
        private.chain(profile.hidden.iter().map(PathBuf::as_path)).any(|over| path.starts_with(over))
    };
    let kept = KEPT_OF_RUN.iter().map(PathBuf::from).filter(|path| path.exists());
    let home = profile.caches.iter().map(|caches| caches.home.clone());
    let seen =
        profile.readable.iter().chain(&profile.sockets).cloned().chain(home).filter(|path| lies_under(path));
    seen.chain(kept).collect()
}

/// The paths are free of links, and no link may have come since: what was agreed to is what is opened.
fn clones(paths: &[PathBuf]) -> Result<Vec<(PathBuf, OwnedFd)>, ViewError> {
    let exactly = |path: &PathBuf| {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let found = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        let found = found.map_err(at("open", path))?;
        let flags = CLONED | OpenTreeFlags::AT_EMPTY_PATH;
        let tree = open_tree(&found, "", flags).map_err(at("clone", path))?;
        Ok((path.clone(), tree))
    };
    paths.iter().map(exactly).collect()
}

/// Where the home directory is.
#[derive(Clone, Copy)]
enum Within {
    /// Read-only, as everything: it gets one layer.
    Nothing,
    /// In a writable directory: only the caches get layers, so that the real ones are not written to.
    Roots,
}

/// The writable directories over which the layer of a cache would be laid, with all that is mounted in them by now.
fn roots_in_caches(profile: &Profile) -> Result<Vec<(PathBuf, OwnedFd)>, ViewError> {
    let caches =
        profile.caches.iter().flat_map(|caches| caches.paths.iter().map(|path| caches.home.join(path)));
    let caches: Vec<PathBuf> = caches.collect();
    let mut roots: Vec<&PathBuf> = profile.writable.iter().collect();
    roots.retain(|root| caches.iter().any(|cache| root.starts_with(cache)));
    roots.sort();
    roots.into_iter().map(|root| Ok((root.clone(), clone(root)?))).collect()
}

/// Lays private layers over the caches. One that cannot be layered is read-only, as everything is: less comfort, no
/// less confinement.
fn cache_layers(profile: &Profile, within: Within) -> Vec<PathBuf> {
    let Some(caches) = &profile.caches else { return Vec::new() };
    let is_writable = profile.writable.iter().any(|root| caches.home.starts_with(root));
    match within {
        Within::Nothing if !is_writable => caches::layer(caches).unwrap_or_default(),
        Within::Roots if is_writable => caches::layer_each(caches),
        Within::Nothing | Within::Roots => Vec::new(),
    }
}

/// A step of making the view that the kernel refused.
#[derive(Debug, thiserror::Error)]
#[error("could not {what} {path}: {source}")]
pub(super) struct ViewError {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

pub(super) fn at<E: Into<io::Error>>(what: &'static str, path: &Path) -> impl FnOnce(E) -> ViewError {
    let path = path.to_path_buf();
    move |source| ViewError { what, path, source: source.into() }
}

pub(super) fn attribute(set: u64) -> MountChange {
    MountChange { set, clear: 0 }
}

/// A copy of what is at a path, with all that is mounted below, not yet anywhere.
pub(super) fn clone(path: &Path) -> Result<OwnedFd, ViewError> {
    open_tree(CWD, path, CLONED).map_err(at("clone", path))
}

pub(super) fn put(tree: &OwnedFd, path: &Path) -> Result<(), ViewError> {
    move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(at("mount", path))
}

/// An empty file system in memory.
pub(super) fn private(path: &Path, options: &str) -> Result<(), ViewError> {
    let options = std::ffi::CString::new(options).expect("options have no NUL");
    mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
        .map_err(at("mount a private file system on", path))
}

fn temporaries(shared: Option<OwnedFd>) -> Result<Vec<PathBuf>, ViewError> {
    let mut made = Vec::new();
    for path in TEMPORARY.iter().map(Path::new) {
        // A link to the other one, or missing.
        let Ok(path) = path.canonicalize() else { continue };
        if made.contains(&path) {
            continue;
        }
        private(&path, "mode=1777")?;
        made.push(path);
    }
    if let (Some(tree), Some(first)) = (shared, made.first()) {
        mount_setattr(&tree, attribute(HARMLESS)).map_err(at("change", first))?;
        put(&tree, first)?;
    }
    Ok(made)
}

/// Puts clones back over their own places, the outer before the inner.
fn lay(mut trees: Vec<(PathBuf, OwnedFd)>, change: MountChange) -> Result<(), ViewError> {
    trees.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, tree) in trees {
        mount_setattr(&tree, change).map_err(at("change", &path))?;
        mount_point(&path, &tree)?;
        put(&tree, &path)?;
    }
    Ok(())
}

/// Makes sure that there is something to mount on: private directories start empty.
fn mount_point(path: &Path, tree: &OwnedFd) -> Result<(), ViewError> {
    if path.exists() {
        return Ok(());
    }
    let above = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(above).map_err(at("make", above))?;
    let found = rustix::fs::fstat(tree).map_err(at("look at", path))?;
    if rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() {
        fs::create_dir(path).map_err(at("make", path))
    } else {
        fs::write(path, "").map_err(at("make", path))
    }
}

/// Lays a path over itself with other attributes.
fn over(path: &Path, change: MountChange) -> Result<(), ViewError> {
    let tree = clone(path)?;
    mount_setattr(&tree, change).map_err(at("change", path))?;
    put(&tree, path)
}

/// An empty directory and an empty file that nobody can open, to lay over what is hidden.
struct Mask(PathBuf);

impl Mask {
    fn make() -> Result<Mask, ViewError> {
        let at_path = PathBuf::from("/run/haft-mask");
        let unreadable = fs::Permissions::from_mode(0o000);
        let make = || {
            fs::create_dir_all(at_path.join("directory"))?;
            fs::write(at_path.join("file"), "")?;
            fs::set_permissions(at_path.join("directory"), unreadable.clone())?;
            fs::set_permissions(at_path.join("file"), unreadable.clone())
        };
        make().map_err(at("make", &at_path))?;
        Ok(Mask(at_path))
    }

    fn cover(&self, path: &Path) -> Result<(), ViewError> {
        let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
        let with = self.0.join(if found.is_dir() { "directory" } else { "file" });
        let tree = clone(&with)?;
        mount_setattr(&tree, attribute(READ_ONLY | HARMLESS)).map_err(at("change", path))?;
        match put(&tree, path) {
            // Sockets come and go.
            Err(_) if fs::symlink_metadata(path).is_err() => Ok(()),
            result => result,
        }
    }
}

/// A `/proc` that shows only the command's own processes, and that nobody can write to.
fn processes(profile: &Profile) -> Result<(), ViewError> {
    let path = Path::new("/proc");
    mount("proc", path, "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)
        .map_err(at("mount the processes on", path))?;
    limits::limit_ids(&profile.limits).map_err(at("limit the processes in", path))?;
    freeze(path)
}

/// Makes what is mounted at a path read-only, with all below.
pub(super) fn freeze(path: &Path) -> Result<(), ViewError> {
    let tree = open_tree(CWD, path, OpenTreeFlags::OPEN_TREE_CLOEXEC).map_err(at("open", path))?;
    mount_setattr(&tree, attribute(READ_ONLY | libc::MOUNT_ATTR_NOSUID)).map_err(at("make read-only", path))
}
