//! What is known of a file besides what is in it.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::time::UNIX_EPOCH;

use rquickjs::prelude::Opt;
use rquickjs::{Ctx, Object, Result};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};

use super::errors;

pub(super) fn object<'js>(ctx: &Ctx<'js>, found: &Metadata) -> Result<Object<'js>> {
    let stat = Object::new(ctx.clone())?;
    stat.set("kind", kind(found.file_type()))?;
    stat.set("size", found.size() as f64)?;
    stat.set("mode", found.mode())?;
    stat.set("ino", found.ino() as f64)?;
    stat.set("dev", found.dev() as f64)?;
    stat.set("rdev", found.rdev() as f64)?;
    stat.set("nlink", found.nlink() as f64)?;
    stat.set("uid", found.uid())?;
    stat.set("gid", found.gid())?;
    stat.set("blksize", found.blksize() as f64)?;
    stat.set("blocks", found.blocks() as f64)?;
    stat.set("atimeMs", milliseconds(found.atime(), found.atime_nsec()))?;
    stat.set("mtimeMs", milliseconds(found.mtime(), found.mtime_nsec()))?;
    let changed = milliseconds(found.ctime(), found.ctime_nsec());
    stat.set("ctimeMs", changed)?;
    let born = found.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    stat.set("birthtimeMs", born.map_or(changed, |since| since.as_secs_f64() * 1000.0))?;
    Ok(stat)
}

pub(super) fn kind(file_type: std::fs::FileType) -> &'static str {
    match () {
        () if file_type.is_file() => "file",
        () if file_type.is_dir() => "dir",
        () if file_type.is_symlink() => "symlink",
        () if file_type.is_fifo() => "fifo",
        () if file_type.is_socket() => "socket",
        () if file_type.is_char_device() => "char",
        () => "block",
    }
}

pub(super) fn chmod(ctx: Ctx<'_>, path: String, mode: u32) -> Result<()> {
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
        .map_err(|error| errors::io(&ctx, &error, "chmod", Some(&path), None))
}

pub(super) fn chown(ctx: Ctx<'_>, path: String, uid: u32, gid: u32, follow: Opt<bool>) -> Result<()> {
    let changed = if follow.0.unwrap_or(true) {
        std::os::unix::fs::chown(&path, Some(uid), Some(gid))
    } else {
        std::os::unix::fs::lchown(&path, Some(uid), Some(gid))
    };
    changed.map_err(|error| errors::io(&ctx, &error, "chown", Some(&path), None))
}

pub(super) fn utimes(
    ctx: Ctx<'_>,
    path: String,
    accessed: f64,
    modified: f64,
    follow: Opt<bool>,
) -> Result<()> {
    let times = Timestamps { last_access: timespec(accessed), last_modification: timespec(modified) };
    let flags = if follow.0.unwrap_or(true) { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
    rustix::fs::utimensat(CWD, &path, &times, flags)
        .map_err(|error| errors::io(&ctx, &error.into(), "utime", Some(&path), None))
}

pub(super) fn access(ctx: Ctx<'_>, path: String, mode: Opt<u32>) -> Result<()> {
    let mode = rustix::fs::Access::from_bits_truncate(mode.0.unwrap_or(0) as _);
    rustix::fs::access(&path, mode)
        .map_err(|error| errors::io(&ctx, &error.into(), "access", Some(&path), None))
}

fn timespec(seconds: f64) -> Timespec {
    let whole = seconds.floor();
    Timespec { tv_sec: whole as i64, tv_nsec: ((seconds - whole) * 1e9) as _ }
}

fn milliseconds(seconds: i64, nanoseconds: i64) -> f64 {
    seconds as f64 * 1000.0 + nanoseconds as f64 / 1e6
}
