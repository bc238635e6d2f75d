//! Open files, by numbers of our own.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

use rquickjs::prelude::Opt;
use rquickjs::{ArrayBuffer, Ctx, Error, Object, Result};

use super::super::host::{Counter, host};
use super::bytes::{Bytes, buffer};
use super::{errors, metadata, temporary};

/// The numbers below belong to the process's own streams.
const FIRST: u32 = 3;
/// The most that is read at once.
const READ_BYTES_MAX: usize = 64 << 20;
/// The most files that may be open.
const OPEN_MAX: usize = 1_000;

#[derive(Default)]
pub(in super::super) struct Descriptors {
    open: HashMap<u32, File>,
    ids: Counter,
}

impl Descriptors {
    /// A second handle on an open file, for a child process.
    pub(super) fn duplicate(&self, descriptor: u32) -> io::Result<File> {
        self.open.get(&descriptor).ok_or(rustix::io::Errno::BADF)?.try_clone()
    }
}

pub(super) fn open(ctx: Ctx<'_>, path: String, flags: String, mode: Opt<Option<u32>>) -> Result<u32> {
    let failed = |error: &io::Error| errors::io(&ctx, error, "open", Some(&path), None);
    let Some(options) = options(&flags) else {
        let message = format!("The argument 'flags' is invalid: {flags}");
        return Err(errors::type_error(&ctx, "ERR_INVALID_ARG_VALUE", &message));
    };
    let host = host();
    if host.descriptors.borrow().open.len() >= OPEN_MAX {
        return Err(failed(&rustix::io::Errno::MFILE.into()));
    }
    super::files::may_read(&path).map_err(|error| failed(&error))?;
    let mut options = options;
    let file = options.mode(mode.0.flatten().unwrap_or(0o666)).open(&path).map_err(|error| failed(&error))?;
    if flags != "r" {
        temporary::written(&path);
    }
    let mut descriptors = host.descriptors.borrow_mut();
    let id = descriptors.ids.next() + FIRST - 1;
    descriptors.open.insert(id, file);
    Ok(id)
}

pub(super) fn read<'js>(
    ctx: Ctx<'js>,
    descriptor: u32,
    length: usize,
    position: Opt<Option<f64>>,
) -> Result<ArrayBuffer<'js>> {
    let mut bytes = vec![0; length.min(READ_BYTES_MAX)];
    let count = with(&ctx, "read", descriptor, |file| match position.0.flatten() {
        Some(position) => file.read_at(&mut bytes, position as u64),
        None => file.read(&mut bytes),
    })?;
    buffer(&ctx, &bytes[..count])
}

pub(super) fn write(
    ctx: Ctx<'_>,
    descriptor: u32,
    bytes: Bytes,
    position: Opt<Option<f64>>,
) -> Result<usize> {
    with(&ctx, "write", descriptor, |file| match position.0.flatten() {
        Some(position) => file.write_at(&bytes.0, position as u64),
        None => file.write(&bytes.0),
    })
}

pub(super) fn fstat<'js>(ctx: Ctx<'js>, descriptor: u32) -> Result<Object<'js>> {
    let found = with(&ctx, "fstat", descriptor, |file| file.metadata())?;
    metadata::object(&ctx, &found)
}

pub(super) fn ftruncate(ctx: Ctx<'_>, descriptor: u32, length: Opt<f64>) -> Result<()> {
    with(&ctx, "ftruncate", descriptor, |file| file.set_len(length.0.unwrap_or(0.0) as u64))
}

pub(super) fn fsync(ctx: Ctx<'_>, descriptor: u32) -> Result<()> {
    with(&ctx, "fsync", descriptor, |file| file.sync_all())
}

pub(super) fn close(ctx: Ctx<'_>, descriptor: u32) -> Result<()> {
    match host().descriptors.borrow_mut().open.remove(&descriptor) {
        Some(_) => Ok(()),
        None => Err(bad(&ctx, "close")),
    }
}

fn with<T>(
    ctx: &Ctx<'_>,
    syscall: &str,
    descriptor: u32,
    work: impl FnOnce(&mut File) -> io::Result<T>,
) -> Result<T> {
    let done = match host().descriptors.borrow_mut().open.get_mut(&descriptor) {
        Some(file) => work(file),
        None => return Err(bad(ctx, syscall)),
    };
    done.map_err(|error| errors::io(ctx, &error, syscall, None, None))
}

fn bad(ctx: &Ctx<'_>, syscall: &str) -> Error {
    errors::io(ctx, &rustix::io::Errno::BADF.into(), syscall, None, None)
}

fn options(flags: &str) -> Option<OpenOptions> {
    let mut options = OpenOptions::new();
    match flags {
        "r" => options.read(true),
        "r+" => options.read(true).write(true),
        "w" => options.write(true).create(true).truncate(true),
        "w+" => options.read(true).write(true).create(true).truncate(true),
        "wx" => options.write(true).create_new(true),
        "wx+" => options.read(true).write(true).create_new(true),
        "a" => options.append(true).create(true),
        "a+" => options.read(true).append(true).create(true),
        "ax" => options.append(true).create_new(true),
        "ax+" => options.read(true).append(true).create_new(true),
        _ => return None,
    };
    Some(options)
}
