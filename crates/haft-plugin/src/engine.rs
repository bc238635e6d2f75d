//! The inside of a plugin's process: one QuickJS engine that loads one file and serves it over lines of JSON.
//!
//! Everything that matters is decided here in Rust, and not in JavaScript that the file could tamper with: the
//! protocol, which module may import which, which order a promise belongs to. One thread runs the engine and reads
//! lines, and each child process has a few that wait for it; all that happens meets in one queue of events ([`turn`]).

use std::io::Write;
use std::os::fd::BorrowedFd;
use std::process::ExitCode;
use std::time::Duration;

mod failure;
mod host;
mod inbox;
mod modules;
mod ops;
mod orders;
mod protocol;
mod reach;
mod realm;
mod rejections;
mod turn;
mod typescript;
mod watch;
mod wire;

pub use reach::Readable;

/// What an engine may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The memory of the JavaScript heap, buffers included.
    pub memory_bytes: usize,
    /// The stack of JavaScript; past it a `RangeError` is thrown.
    pub stack_bytes: usize,
    /// How many modules one file may pull in.
    pub modules: usize,
    /// How much source text they may have together.
    pub source_bytes: u64,
    /// What it may read.
    pub readable: Readable,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory_bytes: 256 << 20,
            stack_bytes: 5 << 20,
            modules: 5_000,
            source_bytes: 64 << 20,
            readable: Readable::default(),
        }
    }
}

/// Serves one file until `input` ends. It takes the process for itself: child processes that JavaScript started
/// are ended with it, and when the engine cannot go on the process exits. Best called from the first thread.
pub fn serve(input: BorrowedFd<'static>, output: impl Write + Send + 'static, limits: Limits) -> ExitCode {
    let stack = limits.stack_bytes + ENGINE_STACK_BYTES;
    // The memory of the first thread grows in larger steps, which saves a fifth of the start.
    if std::thread::current().name() == Some("main") && has_stack(stack) {
        turn::run(input, output, limits);
        return ExitCode::SUCCESS;
    }
    let engine = std::thread::Builder::new().name("engine".into()).stack_size(stack);
    match engine.spawn(move || turn::run(input, output, limits)).map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

/// For Rust code that JavaScript calls, and for the parser.
const ENGINE_STACK_BYTES: usize = 3 << 20;

fn has_stack(bytes: usize) -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack);
    limit.current.is_none_or(|limit| limit >= bytes as u64)
}

/// How long a child process may take to end after it was asked to.
const CHILD_GRACE: Duration = Duration::from_millis(50);

/// Ends the process and with it what it started.
fn end(code: i32) -> ! {
    ops::end_children();
    std::process::exit(code)
}

/// Ends the process because the engine cannot go on; the reason goes to stderr, which haft keeps.
fn give_up(why: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "plugin host: {why}");
    end(1)
}
