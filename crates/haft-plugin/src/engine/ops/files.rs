//! Files by their paths. The kernel confines this process, so what is done here is what it permits; what it forbids
//! is put to haft once, which may ask the person.
//!
//! The question is `file`, with `{op, path, code, dest?}` and what the op takes besides: `data` in base64, `append`,
//! `exclusive`, `mode`, `recursive`, `force`, `follow`. Paths are absolute, `code` is what the kernel said. The
//! answer is what the op gives (`{data}` in base64 for `readFile`); an error with the code `ERR_UNSUPPORTED` leaves
//! the kernel's answer standing.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom as _, SystemRandom};
use rquickjs::prelude::Opt;
use rquickjs::{ArrayBuffer, Ctx, Object, Result, Value};
use serde_json::json;

use super::super::host::host;
use super::bytes::{Bytes, buffer};
use super::{errors, metadata, requests, temporary};

/// What is tried: the name of the op, the system call Node names, and the paths.
struct Attempt<'a> {
    op: &'static str,
    syscall: &'static str,
    path: &'a str,
    dest: Option<&'a str>,
}

impl<'a> Attempt<'a> {
    fn on(op: &'static str, syscall: &'static str, path: &'a str) -> Attempt<'a> {
        Attempt { op, syscall, path, dest: None }
    }

    /// Gives what was done here, or what haft did instead.
    fn end<T>(
        &self,
        ctx: &Ctx<'_>,
        result: io::Result<T>,
        with: impl FnOnce() -> serde_json::Value,
    ) -> Result<Done<T>> {
        let error = match result {
            Ok(done) => return Ok(Done::Here(done)),
            Err(error) => error,
        };
        let original = |ctx: &Ctx<'_>| errors::io(ctx, &error, self.syscall, Some(self.path), self.dest);
        let is_forbidden =
            matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
        if !is_forbidden {
            return Err(original(ctx));
        }
        let mut asked =
            json!({ "op": self.op, "path": absolute(self.path), "code": errors::named(&error).0 });
        if let (Some(dest), Some(asked)) = (self.dest, asked.as_object_mut()) {
            asked.insert("dest".to_owned(), absolute(dest).into());
        }
        if let (serde_json::Value::Object(more), Some(asked)) = (with(), asked.as_object_mut()) {
            asked.extend(more);
        }
        match requests::ask_now(ctx, "file", &asked.to_string())? {
            Ok(answer) => Ok(Done::ByHaft(answer)),
            // Refusals have words of their own; where haft does not know how, the kernel's answer stands.
            Err(refused) if refused.code.as_deref() == Some("ERR_UNSUPPORTED") => Err(original(ctx)),
            Err(refused) => Err(errors::refused(ctx, &refused)),
        }
    }

    fn done(&self, ctx: &Ctx<'_>, result: io::Result<()>) -> Result<()> {
        self.end(ctx, result, || serde_json::Value::Null).map(drop)
    }
}

enum Done<T> {
    Here(T),
    ByHaft(serde_json::Value),
}

/// Whether the code may read what is there.
pub(super) fn may_read(path: impl AsRef<Path>) -> io::Result<()> {
    host().limits.readable.check(path.as_ref())
}

pub(super) fn read_file<'js>(ctx: Ctx<'js>, path: String) -> Result<ArrayBuffer<'js>> {
    let limit = host().limits.memory_bytes as u64 / 2;
    if fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() > limit) {
        let message = format!("{path} is larger than this engine can hold ({} MiB)", limit >> 20);
        return Err(errors::range_error(&ctx, "ERR_FS_FILE_TOO_LARGE", &message));
    }
    let read = may_read(&path).and_then(|()| fs::read(&path));
    if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::IsADirectory) {
        return Err(errors::io(
            &ctx,
            &read.err().unwrap_or_else(|| io::Error::other("")),
            "read",
            None,
            None,
        ));
    }
    match Attempt::on("readFile", "open", &path).end(&ctx, read, || serde_json::Value::Null)? {
        Done::Here(bytes) => buffer(&ctx, &bytes),
        Done::ByHaft(answer) => {
            let text = answer.get("data").and_then(|data| data.as_str()).unwrap_or_default();
            buffer(&ctx, &STANDARD.decode(text).unwrap_or_default())
        }
    }
}

pub(super) fn write_file<'js>(
    ctx: Ctx<'js>,
    path: String,
    bytes: Bytes,
    options: Opt<Option<Object<'js>>>,
) -> Result<()> {
    let options = Options::new(options);
    let (append, exclusive) = (options.flag("append")?, options.flag("exclusive")?);
    let mode = options.number("mode")?.unwrap_or(0o666);
    let mut open = fs::OpenOptions::new();
    open.mode(mode).append(append).write(!append).truncate(!append && !exclusive);
    if exclusive {
        open.create_new(true);
    } else {
        open.create(true);
    }
    let written = open.open(&path).and_then(|mut file| file.write_all(&bytes.0));
    let more = || json!({ "data": STANDARD.encode(&bytes.0), "append": append, "exclusive": exclusive, "mode": mode });
    if let Done::Here(()) = Attempt::on("writeFile", "open", &path).end(&ctx, written, more)? {
        temporary::written(&path);
    }
    Ok(())
}

pub(super) fn stat<'js>(ctx: Ctx<'js>, path: String, follow: Opt<bool>) -> Result<Value<'js>> {
    let follow = follow.0.unwrap_or(true);
    let found = if follow { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
    let syscall = if follow { "stat" } else { "lstat" };
    match Attempt::on("stat", syscall, &path).end(&ctx, found, || json!({ "follow": follow }))? {
        Done::Here(found) => metadata::object(&ctx, &found).map(Object::into_value),
        Done::ByHaft(answer) => super::json::parse(&ctx, &answer),
    }
}

pub(super) fn readdir<'js>(ctx: Ctx<'js>, path: String) -> Result<Value<'js>> {
    let read = || -> io::Result<Vec<(String, &'static str)>> {
        may_read(&path)?;
        fs::read_dir(&path)?
            .map(|entry| {
                let entry = entry?;
                Ok((entry.file_name().to_string_lossy().into_owned(), metadata::kind(entry.file_type()?)))
            })
            .collect()
    };
    match Attempt::on("readdir", "scandir", &path).end(&ctx, read(), || serde_json::Value::Null)? {
        Done::Here(entries) => {
            let list = rquickjs::Array::new(ctx.clone())?;
            for (at, (name, kind)) in entries.into_iter().enumerate() {
                let entry = Object::new(ctx.clone())?;
                entry.set("name", name)?;
                entry.set("kind", kind)?;
                list.set(at, entry)?;
            }
            Ok(list.into_value())
        }
        Done::ByHaft(answer) => super::json::parse(&ctx, &answer),
    }
}

pub(super) fn mkdir<'js>(
    ctx: Ctx<'js>,
    path: String,
    options: Opt<Option<Object<'js>>>,
) -> Result<Option<String>> {
    let options = Options::new(options);
    let recursive = options.flag("recursive")?;
    let mode = options.number("mode")?.unwrap_or(0o777);
    let first = recursive.then(|| first_missing(Path::new(&path))).flatten();
    let made = fs::DirBuilder::new().recursive(recursive).mode(mode).create(&path);
    let attempt = Attempt::on("mkdir", "mkdir", &path);
    attempt.end(&ctx, made, || json!({ "recursive": recursive, "mode": mode }))?;
    Ok(first.map(|first| first.to_string_lossy().into_owned()))
}

pub(super) fn rm<'js>(ctx: Ctx<'js>, path: String, options: Opt<Option<Object<'js>>>) -> Result<()> {
    let options = Options::new(options);
    let (recursive, force) = (options.flag("recursive")?, options.flag("force")?);
    let removed = match fs::symlink_metadata(&path) {
        Ok(found) if found.is_dir() && !recursive => {
            let message = format!("Path is a directory: rm returned EISDIR (is a directory) {path}");
            return Err(errors::coded(&ctx, "ERR_FS_EISDIR", &message));
        }
        Ok(found) if found.is_dir() => fs::remove_dir_all(&path),
        Ok(_) => fs::remove_file(&path),
        Err(error) => Err(error),
    };
    if force && removed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    let attempt = Attempt::on("rm", "rm", &path);
    attempt.end(&ctx, removed, || json!({ "recursive": recursive, "force": force })).map(drop)
}

pub(super) fn rmdir(ctx: Ctx<'_>, path: String) -> Result<()> {
    Attempt::on("rmdir", "rmdir", &path).done(&ctx, fs::remove_dir(&path))
}

pub(super) fn unlink(ctx: Ctx<'_>, path: String) -> Result<()> {
    Attempt::on("unlink", "unlink", &path).done(&ctx, fs::remove_file(&path))
}

pub(super) fn rename(ctx: Ctx<'_>, from: String, to: String) -> Result<()> {
    let attempt = Attempt { op: "rename", syscall: "rename", path: &from, dest: Some(&to) };
    attempt.done(&ctx, fs::rename(&from, &to))
}

pub(super) fn copy_file(ctx: Ctx<'_>, from: String, to: String, exclusive: Opt<bool>) -> Result<()> {
    let exclusive = exclusive.0.unwrap_or(false);
    let copied = if exclusive && fs::symlink_metadata(&to).is_ok() {
        Err(rustix::io::Errno::EXIST.into())
    } else {
        may_read(&from).and_then(|()| fs::copy(&from, &to)).map(drop)
    };
    let attempt = Attempt { op: "copyFile", syscall: "copyfile", path: &from, dest: Some(&to) };
    attempt.end(&ctx, copied, || json!({ "exclusive": exclusive })).map(drop)
}

pub(super) fn symlink(ctx: Ctx<'_>, target: String, path: String) -> Result<()> {
    std::os::unix::fs::symlink(&target, &path)
        .map_err(|error| errors::io(&ctx, &error, "symlink", Some(&target), Some(&path)))
}

pub(super) fn link(ctx: Ctx<'_>, from: String, to: String) -> Result<()> {
    fs::hard_link(&from, &to).map_err(|error| errors::io(&ctx, &error, "link", Some(&from), Some(&to)))
}

pub(super) fn readlink(ctx: Ctx<'_>, path: String) -> Result<String> {
    text(fs::read_link(&path)).map_err(|error| errors::io(&ctx, &error, "readlink", Some(&path), None))
}

pub(super) fn realpath(ctx: Ctx<'_>, path: String) -> Result<String> {
    text(fs::canonicalize(&path)).map_err(|error| errors::io(&ctx, &error, "realpath", Some(&path), None))
}

pub(super) fn truncate(ctx: Ctx<'_>, path: String, length: Opt<f64>) -> Result<()> {
    let truncated = fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_len(length.0.unwrap_or(0.0) as u64));
    truncated.map_err(|error| errors::io(&ctx, &error, "open", Some(&path), None))
}

pub(super) fn mkdtemp(ctx: Ctx<'_>, prefix: String) -> Result<String> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..16 {
        let mut random = [0; 6];
        if SystemRandom::new().fill(&mut random).is_err() {
            break;
        }
        let name: String =
            random.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect();
        let path = format!("{prefix}{name}");
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {
                temporary::made(&path);
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => {
                last = error;
                break;
            }
        }
    }
    Err(errors::io(&ctx, &last, "mkdtemp", Some(&format!("{prefix}XXXXXX")), None))
}

/// Options that may be missing as a whole.
struct Options<'js>(Option<Object<'js>>);

impl<'js> Options<'js> {
    fn new(options: Opt<Option<Object<'js>>>) -> Options<'js> {
        Options(options.0.flatten())
    }

    fn flag(&self, name: &str) -> Result<bool> {
        match &self.0 {
            Some(options) => Ok(options.get::<_, Option<bool>>(name)?.unwrap_or(false)),
            None => Ok(false),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u32>> {
        self.0.as_ref().map_or(Ok(None), |options| options.get(name))
    }
}

/// The topmost folder that making this one would make.
fn first_missing(path: &Path) -> Option<PathBuf> {
    let missing =
        path.ancestors().take_while(|part| !part.as_os_str().is_empty() && !part.exists()).last()?;
    std::path::absolute(missing).ok()
}

pub(super) fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned())
}

fn text(path: io::Result<PathBuf>) -> io::Result<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}
