//! Programs: how they are started, signals, and those that are waited for on the spot.

use std::io::{self, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rquickjs::{Ctx, Object, Result, Value};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::super::host::host;
use super::bytes::{Bytes, Nullable, buffer};
use super::children::{group_ended, group_started};
use super::errors;

/// What one stream of a program that is waited for may write, unless the caller says otherwise.
const MAX_BUFFER_BYTES: usize = 64 << 20;
/// How often a wait looks for an abort.
const LOOK: Duration = Duration::from_millis(20);

/// A program and how it is to be started.
pub(super) struct Program {
    pub(super) file: String,
    command: Command,
}

impl Program {
    pub(super) fn read<'js>(ctx: &Ctx<'js>, options: &Object<'js>) -> Result<Program> {
        let file: String = options.get("file")?;
        let mut command = Command::new(&file);
        if let Some(name) = options.get::<_, Option<String>>("argv0")? {
            command.arg0(name);
        }
        command.args(options.get::<_, Option<Vec<String>>>("args")?.unwrap_or_default());
        if let Some(folder) = options.get::<_, Option<String>>("cwd")? {
            command.current_dir(folder);
        }
        if let Some(env) = options.get::<_, Option<Object<'_>>>("env")? {
            command.env_clear();
            for entry in env.props::<String, Option<String>>() {
                let (name, value) = entry?;
                if let Some(value) = value.filter(|_| !name.is_empty() && !name.contains(['=', '\0'])) {
                    command.env(name, value.replace('\0', ""));
                }
            }
        }
        // A group of its own, so that it can be ended with all it started.
        command.process_group(0);
        command.stdin(stdio(ctx, options, "stdin", "ignore")?);
        command.stdout(stdio(ctx, options, "stdout", "pipe")?);
        command.stderr(stdio(ctx, options, "stderr", "pipe")?);
        Ok(Program { file, command })
    }

    pub(super) fn pipe_stdin(&mut self) {
        self.command.stdin(Stdio::piped());
    }

    pub(super) fn start(mut self) -> io::Result<Child> {
        let child = self.command.spawn()?;
        group_started(child.id());
        Ok(child)
    }
}

fn stdio<'js>(ctx: &Ctx<'js>, options: &Object<'js>, name: &str, default: &str) -> Result<Stdio> {
    let value: Value<'js> = options.get(name)?;
    if let Some(descriptor) = value.as_number() {
        let file = host().descriptors.borrow().duplicate(descriptor as u32);
        return file.map(Stdio::from).map_err(|error| errors::io(ctx, &error, "spawn", None, None));
    }
    let word = match value.as_string() {
        Some(text) => text.to_string()?,
        None => default.to_owned(),
    };
    Ok(if word == "pipe" { Stdio::piped() } else { Stdio::null() })
}

pub(super) fn kill<'js>(ctx: Ctx<'js>, pid: i32, signal: Value<'js>) -> Result<()> {
    let failed = |error: rustix::io::Errno| errors::io(&ctx, &error.into(), "kill", None, None);
    let Some(target) = Pid::from_raw(pid.abs()) else { return Err(failed(rustix::io::Errno::SRCH)) };
    let name = match signal.as_string() {
        Some(text) => text.to_string()?,
        None => "0".to_owned(),
    };
    let sent = match (name.as_str(), pid < 0) {
        ("0", false) => rustix::process::test_kill_process(target),
        ("0", true) => rustix::process::test_kill_process_group(target),
        (name, is_group) => {
            let signal = signal_named(name).ok_or_else(|| unknown_signal(&ctx, name))?;
            if is_group {
                rustix::process::kill_process_group(target, signal)
            } else {
                rustix::process::kill_process(target, signal)
            }
        }
    };
    sent.map_err(failed)
}

pub(super) fn unknown_signal(ctx: &Ctx<'_>, name: &str) -> rquickjs::Error {
    errors::type_error(ctx, "ERR_UNKNOWN_SIGNAL", &format!("Unknown signal: {name}"))
}

/// Runs a program to its end. An abort of the order it belongs to ends it.
pub(super) fn spawn_sync<'js>(ctx: Ctx<'js>, options: Object<'js>) -> Result<Object<'js>> {
    let mut program = Program::read(&ctx, &options)?;
    let input = options.get::<_, Option<Bytes>>("input")?;
    if input.is_some() {
        program.pipe_stdin();
    }
    let limit = options.get::<_, Option<f64>>("maxBuffer")?.map_or(MAX_BUFFER_BYTES, |limit| limit as usize);
    let timeout = options.get::<_, Option<f64>>("timeoutMs")?.filter(|timeout| *timeout > 0.0);
    let deadline = timeout.and_then(|timeout| Duration::try_from_secs_f64(timeout / 1000.0).ok());
    let deadline = deadline.and_then(|timeout| Instant::now().checked_add(timeout));
    let signal = options.get::<_, Option<String>>("killSignal")?;
    let signal = signal.as_deref().and_then(signal_named).unwrap_or(Signal::TERM);

    let file = program.file.clone();
    let result = Object::new(ctx.clone())?;
    let mut child = match program.start() {
        Ok(child) => child,
        Err(error) => {
            let code = errors::named(&error).0;
            fill(&ctx, &result, None, None, Streams::default())?;
            return failed(&ctx, &result, code, &format!("spawnSync {file} {code}")).map(|()| result);
        }
    };
    let pid = child.id();
    let running = Running::watch(&mut child, input, limit);
    let end = running.wait(&mut child, deadline, signal);
    let status = child.wait();
    group_ended(pid);
    if matches!(end.why, Why::Aborted) {
        return Err(errors::aborted(&ctx));
    }
    fill(&ctx, &result, Some(pid), status.ok(), end.streams)?;
    match end.why {
        Why::Ended | Why::Aborted => {}
        Why::Late => failed(&ctx, &result, "ETIMEDOUT", &format!("spawnSync {file} ETIMEDOUT"))?,
        Why::TooMuch => failed(&ctx, &result, "ENOBUFS", &format!("spawnSync {file} ENOBUFS"))?,
    }
    Ok(result)
}

/// The name of the signal that ended a program.
pub(super) fn signal_of(status: ExitStatus) -> Option<&'static str> {
    let number = status.signal()?;
    Some(SIGNALS.iter().find(|(_, signal)| signal.as_raw() == number).map_or("SIGKILL", |(name, _)| name))
}

pub(super) fn signal_named(name: &str) -> Option<Signal> {
    SIGNALS.iter().find(|(known, _)| *known == name).map(|(_, signal)| *signal)
}

#[derive(Default)]
struct Streams {
    out: Vec<u8>,
    err: Vec<u8>,
}

enum Why {
    Ended,
    Late,
    TooMuch,
    Aborted,
}

struct End {
    streams: Streams,
    why: Why,
}

/// The threads that hear a program out.
struct Running {
    heard: Receiver<(bool, Vec<u8>)>,
}

impl Running {
    fn watch(child: &mut Child, input: Option<Bytes>, limit: usize) -> Running {
        let (sender, heard) = channel();
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            // A program that does not read its input is no error of ours.
            std::thread::spawn(move || drop(stdin.write_all(&input.0)));
        }
        hear(child.stdout.take(), false, limit, &sender);
        hear(child.stderr.take(), true, limit, &sender);
        Running { heard }
    }

    /// Waits until nothing more is heard of a program and it has ended.
    fn wait(mut self, child: &mut Child, deadline: Option<Instant>, signal: Signal) -> End {
        let pid = child.id();
        let mut is_silent = false;
        let mut streams = Streams::default();
        let mut why = Why::Ended;
        let mut ending: Option<Instant> = None;
        loop {
            match self.heard.recv_timeout(LOOK) {
                Ok((is_error, chunk)) if chunk.is_empty() => {
                    // A reader that gives nothing stopped at its limit.
                    let _ = is_error;
                    if ending.is_none() {
                        why = Why::TooMuch;
                        ending = Some(Instant::now());
                        signal_group(pid, signal);
                    }
                }
                Ok((false, chunk)) => streams.out.extend(chunk),
                Ok((true, chunk)) => streams.err.extend(chunk),
                Err(RecvTimeoutError::Disconnected) if is_silent || has_ended(child) => {
                    return End { streams, why };
                }
                // It writes where nobody reads, or has closed what it could write to.
                Err(RecvTimeoutError::Disconnected) => {
                    is_silent = true;
                    self.heard = until_end(pid);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if ending.is_none() && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                why = Why::Late;
                ending = Some(Instant::now());
                signal_group(pid, signal);
            }
            if ending.is_none() && host().should_stop_waiting() {
                why = Why::Aborted;
                ending = Some(Instant::now());
                signal_group(pid, Signal::KILL);
            }
            if ending.is_some_and(|since| since.elapsed() > super::super::CHILD_GRACE) {
                signal_group(pid, Signal::KILL);
            }
        }
    }
}

fn has_ended(child: &mut Child) -> bool {
    // One that cannot be asked about is not waited for either.
    !matches!(child.try_wait(), Ok(None))
}

/// Gives nothing, and is over when a program has ended.
fn until_end(pid: u32) -> Receiver<(bool, Vec<u8>)> {
    let (sender, ended) = channel();
    std::thread::spawn(move || {
        await_end(pid);
        drop(sender);
    });
    ended
}

/// Waits for the end of a program. It stays until somebody takes note of that, so that its number is nobody else's
/// meanwhile.
pub(super) fn await_end(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(pid), options) {}
    }
}

fn hear(
    stream: Option<impl Read + Send + 'static>,
    is_error: bool,
    limit: usize,
    sender: &Sender<(bool, Vec<u8>)>,
) {
    let Some(mut stream) = stream else { return };
    let sender = sender.clone();
    let heard = AtomicUsize::new(0);
    std::thread::spawn(move || {
        let mut chunk = vec![0; 64 << 10];
        while let Ok(count @ 1..) = stream.read(&mut chunk) {
            let before = heard.fetch_add(count, Ordering::Relaxed);
            let kept = count.min(limit.saturating_sub(before));
            if kept > 0 && sender.send((is_error, chunk[..kept].to_vec())).is_err() {
                return;
            }
            if kept < count {
                let _ = sender.send((is_error, Vec::new()));
                return;
            }
        }
    });
}

/// Sends a signal to a program and all it started.
pub(super) fn signal_group(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // One that has ended already needs no signal.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}

fn fill<'js>(
    ctx: &Ctx<'js>,
    result: &Object<'js>,
    pid: Option<u32>,
    status: Option<ExitStatus>,
    streams: Streams,
) -> Result<()> {
    result.set("pid", pid.unwrap_or(0))?;
    result.set("status", Nullable(status.and_then(|status| status.code())))?;
    result.set("signal", Nullable(status.and_then(signal_of)))?;
    result.set("stdout", buffer(ctx, &streams.out)?)?;
    result.set("stderr", buffer(ctx, &streams.err)?)
}

fn failed<'js>(ctx: &Ctx<'js>, result: &Object<'js>, code: &str, message: &str) -> Result<()> {
    let error = Object::new(ctx.clone())?;
    error.set("code", code)?;
    error.set("message", message)?;
    result.set("error", error)
}

const SIGNALS: &[(&str, Signal)] = &[
    ("SIGHUP", Signal::HUP),
    ("SIGINT", Signal::INT),
    ("SIGQUIT", Signal::QUIT),
    ("SIGILL", Signal::ILL),
    ("SIGTRAP", Signal::TRAP),
    ("SIGABRT", Signal::ABORT),
    ("SIGBUS", Signal::BUS),
    ("SIGFPE", Signal::FPE),
    ("SIGKILL", Signal::KILL),
    ("SIGUSR1", Signal::USR1),
    ("SIGSEGV", Signal::SEGV),
    ("SIGUSR2", Signal::USR2),
    ("SIGPIPE", Signal::PIPE),
    ("SIGALRM", Signal::ALARM),
    ("SIGTERM", Signal::TERM),
    ("SIGCHLD", Signal::CHILD),
    ("SIGCONT", Signal::CONT),
    ("SIGSTOP", Signal::STOP),
    ("SIGTSTP", Signal::TSTP),
    ("SIGTTIN", Signal::TTIN),
    ("SIGTTOU", Signal::TTOU),
    ("SIGWINCH", Signal::WINCH),
    ("SIGIO", Signal::IO),
    ("SIGSYS", Signal::SYS),
];
