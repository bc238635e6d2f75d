//! Errors as Node's look: a code, a number, the system call, the paths, and a message made of them.

use std::io;

use rquickjs::function::Constructor;
use rquickjs::{Ctx, Error, Object, Persistent, Result, Value};
use rustix::io::Errno;

use super::super::host::host;
use super::super::modules::Missing;
use super::super::protocol::Refused;
use super::super::typescript::Problem;

/// An `Error` that is not thrown yet. It has a stack, so that it can be told where in the person's code it arose.
pub(in super::super) fn plain<'js>(ctx: &Ctx<'js>, message: &str) -> Result<Value<'js>> {
    build(ctx, &host().intrinsics().error, message).map(Object::into_value)
}

/// Throws an `Error` with a code.
pub(in super::super) fn coded(ctx: &Ctx<'_>, code: &str, message: &str) -> Error {
    throw(ctx, build(ctx, &host().intrinsics().error, message), &[("code", code)])
}

pub(super) fn type_error(ctx: &Ctx<'_>, code: &str, message: &str) -> Error {
    throw(ctx, build(ctx, &host().intrinsics().type_error, message), &[("code", code)])
}

pub(super) fn range_error(ctx: &Ctx<'_>, code: &str, message: &str) -> Error {
    throw(ctx, build(ctx, &host().intrinsics().range_error, message), &[("code", code)])
}

/// Throws what says that a module is not there.
pub(in super::super) fn missing(ctx: &Ctx<'_>, missing: &Missing) -> Error {
    let code = if missing.unsupported { "ERR_UNSUPPORTED_MODULE" } else { "MODULE_NOT_FOUND" };
    let place = missing.place();
    let error = build(ctx, &host().intrinsics().error, &missing.message).and_then(|error| {
        if let Some((_, line, column)) = place {
            error.set("line", line)?;
            error.set("column", column)?;
        }
        Ok(error)
    });
    let mut fields = vec![("code", code), ("module", missing.module.as_str())];
    fields.extend(place.and_then(|(file, _, _)| Some(("file", file.to_str()?))));
    fields.extend(missing.fix.as_deref().map(|fix| ("fix", fix)));
    throw(ctx, error, &fields)
}

/// Throws what is wrong with a source text, and where.
pub(in super::super) fn syntax(ctx: &Ctx<'_>, file: &str, problem: &Problem) -> Error {
    let error = build(ctx, &host().intrinsics().syntax_error, &problem.message).and_then(|error| {
        error.set("line", problem.line)?;
        error.set("column", problem.column)?;
        Ok(error)
    });
    let mut fields = vec![("file", file)];
    fields.extend(problem.help.as_deref().map(|help| ("fix", help)));
    throw(ctx, error, &fields)
}

/// Throws what haft answered.
pub(super) fn refused<'js>(ctx: &Ctx<'js>, refused: &Refused) -> Error {
    let mut fields = vec![("name", refused.name.as_str())];
    fields.extend(refused.code.as_deref().map(|code| ("code", code)));
    throw(ctx, build(ctx, &host().intrinsics().error, &refused.message), &fields)
}

/// Throws what an abort throws.
pub(super) fn aborted(ctx: &Ctx<'_>) -> Error {
    let error = build(ctx, &host().intrinsics().error, "the call was aborted");
    throw(ctx, error, &[("name", "AbortError"), ("code", "ABORT_ERR")])
}

/// Throws what the system said of a path.
pub(in super::super) fn io(
    ctx: &Ctx<'_>,
    error: &io::Error,
    syscall: &str,
    path: Option<&str>,
    dest: Option<&str>,
) -> Error {
    let (code, words) = named(error);
    let mut message = format!("{code}: {words}, {syscall}");
    if let Some(path) = path {
        message.push_str(&format!(" '{path}'"));
    }
    if let Some(dest) = dest {
        message.push_str(&format!(" -> '{dest}'"));
    }
    system(ctx, error, code, &message, syscall, path, dest)
}

/// Throws what the system said of a program that did not start.
pub(super) fn spawning(ctx: &Ctx<'_>, error: &io::Error, file: &str) -> Error {
    let (code, _) = named(error);
    let syscall = format!("spawn {file}");
    system(ctx, error, code, &format!("{syscall} {code}"), &syscall, Some(file), None)
}

/// The name of an error of the system, and its words.
pub(super) fn named(error: &io::Error) -> (&'static str, String) {
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    let known = TABLE.iter().find(|(errno, _, _)| Some(*errno) == number);
    match (known, error.kind()) {
        (Some((_, code, words)), _) => (code, (*words).to_owned()),
        (None, io::ErrorKind::NotFound) => ("ENOENT", "no such file or directory".to_owned()),
        (None, io::ErrorKind::InvalidInput) => ("EINVAL", "invalid argument".to_owned()),
        (None, _) => ("EIO", error.to_string()),
    }
}

fn system(
    ctx: &Ctx<'_>,
    error: &io::Error,
    code: &str,
    message: &str,
    syscall: &str,
    path: Option<&str>,
    dest: Option<&str>,
) -> Error {
    let built = build(ctx, &host().intrinsics().error, message).and_then(|object| {
        object.set("errno", -error.raw_os_error().unwrap_or(5))?;
        Ok(object)
    });
    let mut fields = vec![("code", code), ("syscall", syscall)];
    fields.extend(path.map(|path| ("path", path)));
    fields.extend(dest.map(|dest| ("dest", dest)));
    throw(ctx, built, &fields)
}

fn build<'js>(
    ctx: &Ctx<'js>,
    constructor: &Persistent<Constructor<'static>>,
    message: &str,
) -> Result<Object<'js>> {
    constructor.clone().restore(ctx)?.construct((message,))
}

fn throw<'js>(ctx: &Ctx<'js>, error: Result<Object<'js>>, fields: &[(&str, &str)]) -> Error {
    let filled = error.and_then(|error| {
        for (name, value) in fields {
            error.set(*name, *value)?;
        }
        Ok(error)
    });
    match filled {
        Ok(error) => ctx.throw(error.into_value()),
        Err(error) => error,
    }
}

const TABLE: &[(Errno, &str, &str)] = &[
    (Errno::NOENT, "ENOENT", "no such file or directory"),
    (Errno::ACCESS, "EACCES", "permission denied"),
    (Errno::PERM, "EPERM", "operation not permitted"),
    (Errno::EXIST, "EEXIST", "file already exists"),
    (Errno::ISDIR, "EISDIR", "illegal operation on a directory"),
    (Errno::NOTDIR, "ENOTDIR", "not a directory"),
    (Errno::NOTEMPTY, "ENOTEMPTY", "directory not empty"),
    (Errno::INVAL, "EINVAL", "invalid argument"),
    (Errno::MFILE, "EMFILE", "too many open files"),
    (Errno::NFILE, "ENFILE", "file table overflow"),
    (Errno::NOSPC, "ENOSPC", "no space left on device"),
    (Errno::ROFS, "EROFS", "read-only file system"),
    (Errno::XDEV, "EXDEV", "cross-device link not permitted"),
    (Errno::LOOP, "ELOOP", "too many symbolic links encountered"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG", "name too long"),
    (Errno::BUSY, "EBUSY", "resource busy or locked"),
    (Errno::BADF, "EBADF", "bad file descriptor"),
    (Errno::PIPE, "EPIPE", "broken pipe"),
    (Errno::SRCH, "ESRCH", "no such process"),
    (Errno::FBIG, "EFBIG", "file too large"),
    (Errno::TXTBSY, "ETXTBSY", "text file is busy"),
    (Errno::NXIO, "ENXIO", "no such device or address"),
    (Errno::AGAIN, "EAGAIN", "resource temporarily unavailable"),
    (Errno::TIMEDOUT, "ETIMEDOUT", "connection timed out"),
    (Errno::NOTSUP, "ENOTSUP", "operation not supported on socket"),
    (Errno::INTR, "EINTR", "interrupted system call"),
    (Errno::IO, "EIO", "i/o error"),
    (Errno::NOEXEC, "ENOEXEC", "exec format error"),
    (Errno::NOMEM, "ENOMEM", "not enough memory"),
    (Errno::DQUOT, "EDQUOT", "disk quota exceeded"),
    (Errno::SPIPE, "ESPIPE", "invalid seek"),
    (Errno::TOOBIG, "E2BIG", "argument list too long"),
    (Errno::NOSYS, "ENOSYS", "function not implemented"),
];
