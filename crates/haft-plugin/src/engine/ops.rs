//! What Rust does for JavaScript: the module `haft:ops`, which only our own modules can import. `js/OPS.md` is its
//! contract.
#![expect(clippy::needless_pass_by_value, reason = "the engine hands values over")]

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::prelude::Func;
use rquickjs::{Ctx, Object, Result};

mod bytes;
mod children;
mod crypto;
mod descriptors;
pub(super) mod errors;
mod files;
pub(super) mod json;
mod loading;
mod metadata;
mod processes;
mod requests;
mod system;
mod temporary;
mod text;
mod timers;
mod urls;

pub(super) use children::{ChildEvent, Children, abort_children, child_event, end_children};
pub(super) use descriptors::Descriptors;
pub(super) use loading::resolve_url;
pub(super) use requests::{Asks, abort_asks, answered};
pub(super) use temporary::Temporary;
pub(super) use timers::{Timers, fire_timers};

/// Forgets whose the things are that an order began and that outlive it.
pub(super) fn forget_order(id: u64) {
    children::forget_order(id);
}

macro_rules! ops {
    ($($function:path as $name:literal,)*) => {
        const NAMES: &[&str] = &[$($name),*];

        fn fill<'js>(ops: &Object<'js>) -> Result<()> {
            $(ops.set($name, Func::from($function))?;)*
            Ok(())
        }
    };
}

ops! {
    loading::internal as "internal",
    loading::resolve as "resolve",
    loading::compile_function as "compileFunction",
    loading::import_file as "importFile",
    system::cwd as "cwd",
    system::chdir as "chdir",
    system::env as "env",
    system::argv as "argv",
    system::version as "version",
    system::platform as "platform",
    system::arch as "arch",
    system::pid as "pid",
    system::ppid as "ppid",
    system::hostname as "hostname",
    system::homedir as "homedir",
    system::tmpdir as "tmpdir",
    system::user as "user",
    system::system as "system",
    system::memory as "memory",
    system::now as "now",
    system::hrtime as "hrtime",
    system::log as "log",
    system::map_stack as "mapStack",
    crypto::random_bytes as "randomBytes",
    crypto::uuid as "uuid",
    crypto::hash as "hash",
    crypto::hmac as "hmac",
    text::encode_utf8 as "encodeUtf8",
    text::decode as "decode",
    text::encoding_name as "encodingName",
    text::base64_encode as "base64Encode",
    text::base64_decode as "base64Decode",
    urls::parse_url as "parseUrl",
    urls::set_url as "setUrl",
    requests::request as "request",
    requests::request_sync as "requestSync",
    requests::metadata as "metadata",
    timers::sleep as "sleep",
    timers::cancel_sleep as "cancelSleep",
    files::read_file as "readFile",
    files::write_file as "writeFile",
    files::stat as "stat",
    files::readdir as "readdir",
    files::mkdir as "mkdir",
    files::rm as "rm",
    files::rmdir as "rmdir",
    files::unlink as "unlink",
    files::rename as "rename",
    files::copy_file as "copyFile",
    files::symlink as "symlink",
    files::link as "link",
    files::readlink as "readlink",
    files::realpath as "realpath",
    metadata::chmod as "chmod",
    metadata::chown as "chown",
    metadata::utimes as "utimes",
    metadata::access as "access",
    files::mkdtemp as "mkdtemp",
    files::truncate as "truncate",
    descriptors::open as "open",
    descriptors::read as "read",
    descriptors::write as "write",
    descriptors::fstat as "fstat",
    descriptors::ftruncate as "ftruncate",
    descriptors::fsync as "fsync",
    descriptors::close as "close",
    processes::kill as "kill",
    processes::spawn_sync as "spawnSync",
    children::spawn as "spawn",
    children::child_read as "childRead",
    children::child_write as "childWrite",
    children::child_end as "childEnd",
    children::child_wait as "childWait",
    children::child_kill as "childKill",
}

/// The module `haft:ops`: each function by its name, and all of them as the default export.
pub(super) struct Ops;

impl ModuleDef for Ops {
    fn declare<'js>(declarations: &Declarations<'js>) -> Result<()> {
        declarations.declare("default")?;
        for name in NAMES {
            declarations.declare(*name)?;
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let ops = Object::new(ctx.clone())?;
        fill(&ops)?;
        for name in NAMES {
            let function: rquickjs::Value<'js> = ops.get(*name)?;
            exports.export(*name, function)?;
        }
        exports.export("default", ops)?;
        Ok(())
    }
}
