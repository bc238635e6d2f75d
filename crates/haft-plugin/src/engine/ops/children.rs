//! Programs that run beside the code. Threads wait for them; what they hear comes through the queue of events.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rquickjs::prelude::Opt;
use rquickjs::{Ctx, Object, Promise, Result, Value};
use rustix::process::{Pid, Signal};

use super::super::host::{Counter, Deferred, host};
use super::super::inbox::Post;
use super::super::turn::Event;
use super::bytes::{Bytes, Nullable, buffer};
use super::errors;
use super::processes::{Program, await_end, signal_group, signal_named, signal_of, unknown_signal};

/// What a stream gives at once.
const CHUNK_BYTES: usize = 64 << 10;
/// How many may run at the same time.
const RUNNING_MAX: usize = 256;

/// Something a thread heard of a child.
pub(in super::super) struct ChildEvent {
    id: u32,
    news: News,
}

enum News {
    Heard { stream: Stream, chunk: io::Result<Vec<u8>> },
    Wrote(io::Result<()>),
    Ended,
}

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

#[derive(Default)]
pub(in super::super) struct Children {
    running: HashMap<u32, Running>,
    ids: Counter,
}

impl Children {
    pub(in super::super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}

struct Running {
    child: Child,
    order: Option<u64>,
    ended: Option<(Option<i32>, Option<&'static str>)>,
    waits: Vec<Deferred>,
    out: Reader,
    err: Reader,
    input: Option<Sender<Vec<u8>>>,
    writes: VecDeque<Deferred>,
}

/// A stream that is read a chunk at a time, when somebody wants one.
#[derive(Default)]
struct Reader {
    want: Option<Sender<()>>,
    waits: VecDeque<Deferred>,
}

/// Groups that are to end with this process; the reading thread may be the one to end it.
static LIVE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

pub(super) fn group_started(pid: u32) {
    live().push(pid);
}

pub(super) fn group_ended(pid: u32) {
    live().retain(|known| *known != pid);
}

/// Ends every program that still runs, with all it started.
pub(in super::super) fn end_children() {
    for pid in live().drain(..) {
        signal_group(pid, Signal::KILL);
    }
}

/// Ends the programs of an aborted order.
pub(in super::super) fn abort_children(id: u64) {
    for running in host().children.borrow().running.values() {
        if running.order == Some(id) && running.ended.is_none() {
            signal_group(running.child.id(), Signal::KILL);
        }
    }
}

pub(super) fn forget_order(id: u64) {
    for running in host().children.borrow_mut().running.values_mut() {
        running.order = running.order.filter(|order| *order != id);
    }
}

pub(super) fn spawn<'js>(ctx: Ctx<'js>, options: Object<'js>) -> Result<Object<'js>> {
    let program = Program::read(&ctx, &options)?;
    let host = host();
    let mut children = host.children.borrow_mut();
    let running = children.running.values().filter(|running| running.ended.is_none()).count();
    if running >= RUNNING_MAX {
        return Err(errors::coded(&ctx, "EAGAIN", &format!("more than {RUNNING_MAX} programs at once")));
    }
    let file = program.file.clone();
    let mut child = program.start().map_err(|error| errors::spawning(&ctx, &error, &file))?;
    let id = children.ids.next();
    let pid = child.id();
    let events = host.inbox.post();
    let running = Running {
        order: host.current(),
        ended: None,
        waits: Vec::new(),
        out: reader(id, Stream::Out, child.stdout.take(), &events),
        err: reader(id, Stream::Err, child.stderr.take(), &events),
        input: writer(id, child.stdin.take(), &events),
        writes: VecDeque::new(),
        child,
    };
    children.running.insert(id, running);
    thread(move || {
        await_end(pid);
        let _ = events.send(Event::Child(ChildEvent { id, news: News::Ended }));
    });
    let spawned = Object::new(ctx)?;
    spawned.set("id", id)?;
    spawned.set("pid", pid)?;
    Ok(spawned)
}

/// Promises the next chunk of a stream, or `null` at its end.
pub(super) fn child_read<'js>(ctx: Ctx<'js>, id: u32, stream: u32) -> Result<Promise<'js>> {
    let (promise, deferred) = Deferred::new(&ctx)?;
    let host = host();
    let mut children = host.children.borrow_mut();
    let reader = children.running.get_mut(&id).map(|running| match stream {
        2 => &mut running.err,
        _ => &mut running.out,
    });
    match reader {
        Some(Reader { want: Some(want), waits }) if want.send(()).is_ok() => waits.push_back(deferred),
        _ => {
            drop(children);
            deferred.settle(&ctx, Ok(Value::new_null(ctx.clone())))?;
        }
    }
    Ok(promise)
}

pub(super) fn child_write<'js>(ctx: Ctx<'js>, id: u32, bytes: Bytes) -> Result<Promise<'js>> {
    let (promise, deferred) = Deferred::new(&ctx)?;
    let host = host();
    let mut children = host.children.borrow_mut();
    let running = children.running.get_mut(&id);
    match running.and_then(|running| Some((running.input.clone()?, &mut running.writes))) {
        Some((input, writes)) if input.send(bytes.0).is_ok() => writes.push_back(deferred),
        _ => {
            drop(children);
            let broken = errors::io(&ctx, &rustix::io::Errno::PIPE.into(), "write", None, None);
            deferred.settle(&ctx, Err(broken))?;
        }
    }
    Ok(promise)
}

/// Closes the input of a child once what was written is through.
pub(super) fn child_end(id: u32) {
    if let Some(running) = host().children.borrow_mut().running.get_mut(&id) {
        running.input = None;
    }
}

pub(super) fn child_wait<'js>(ctx: Ctx<'js>, id: u32) -> Result<Promise<'js>> {
    let (promise, deferred) = Deferred::new(&ctx)?;
    let host = host();
    let mut children = host.children.borrow_mut();
    let ended = match children.running.get_mut(&id) {
        Some(running) => match running.ended {
            Some(ended) => ended,
            None => {
                running.waits.push(deferred);
                return Ok(promise);
            }
        },
        None => (None, None),
    };
    drop(children);
    deferred.settle(&ctx, status(&ctx, ended))?;
    Ok(promise)
}

pub(super) fn child_kill<'js>(ctx: Ctx<'js>, id: u32, signal: Opt<Option<String>>) -> Result<bool> {
    let name = signal.0.flatten().unwrap_or_else(|| "SIGTERM".to_owned());
    let signal = signal_named(&name).ok_or_else(|| unknown_signal(&ctx, &name))?;
    let host = host();
    let children = host.children.borrow();
    let Some(running) = children.running.get(&id).filter(|running| running.ended.is_none()) else {
        return Ok(false);
    };
    let pid = i32::try_from(running.child.id()).ok().and_then(Pid::from_raw);
    Ok(pid.is_some_and(|pid| rustix::process::kill_process(pid, signal).is_ok()))
}

/// Settles what waited for something that a thread has heard.
pub(in super::super) fn child_event(ctx: &Ctx<'_>, event: ChildEvent) {
    let host = host();
    let mut children = host.children.borrow_mut();
    let Some(running) = children.running.get_mut(&event.id) else { return };
    host.cause.set(running.order);
    let settled = match event.news {
        News::Heard { stream, chunk } => {
            let reader = match stream {
                Stream::Out => &mut running.out,
                Stream::Err => &mut running.err,
            };
            let Some(deferred) = reader.waits.pop_front() else { return };
            let rest = match &chunk {
                Ok(bytes) if !bytes.is_empty() => VecDeque::new(),
                _ => {
                    reader.want = None;
                    std::mem::take(&mut reader.waits)
                }
            };
            drop(children);
            for deferred in rest {
                give(ctx, deferred, Ok(Value::new_null(ctx.clone())));
            }
            let value = match chunk {
                Ok(bytes) if bytes.is_empty() => Ok(Value::new_null(ctx.clone())),
                Ok(bytes) => buffer(ctx, &bytes).map(rquickjs::ArrayBuffer::into_value),
                Err(error) => Err(errors::io(ctx, &error, "read", None, None)),
            };
            Some((deferred, value))
        }
        News::Wrote(result) => {
            let deferred = running.writes.pop_front();
            drop(children);
            deferred.map(|deferred| {
                let value = match result {
                    Ok(()) => Ok(Value::new_undefined(ctx.clone())),
                    Err(error) => Err(errors::io(ctx, &error, "write", None, None)),
                };
                (deferred, value)
            })
        }
        News::Ended => {
            let waited = running.child.wait().ok();
            group_ended(running.child.id());
            let ended = (waited.and_then(|status| status.code()), waited.and_then(signal_of));
            running.ended = Some(ended);
            let waits = std::mem::take(&mut running.waits);
            drop(children);
            for deferred in waits {
                let value = status(ctx, ended);
                give(ctx, deferred, value);
            }
            None
        }
    };
    if let Some((deferred, value)) = settled {
        give(ctx, deferred, value);
    }
}

fn give<'js>(ctx: &Ctx<'js>, deferred: Deferred, value: Result<Value<'js>>) {
    if deferred.settle(ctx, value).is_err() {
        drop(ctx.catch());
    }
}

fn status<'js>(ctx: &Ctx<'js>, (code, signal): (Option<i32>, Option<&'static str>)) -> Result<Value<'js>> {
    let status = Object::new(ctx.clone())?;
    status.set("code", Nullable(code))?;
    status.set("signal", Nullable(signal))?;
    Ok(status.into_value())
}

fn reader(id: u32, stream: Stream, source: Option<impl Read + Send + 'static>, events: &Post) -> Reader {
    let Some(mut source) = source else { return Reader::default() };
    let (want, wants): (Sender<()>, Receiver<()>) = channel();
    let events = events.clone();
    thread(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        for () in wants {
            let read = loop {
                match source.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            let chunk = read.map(|count| chunk[..count].to_vec());
            let is_end = !chunk.as_ref().is_ok_and(|bytes| !bytes.is_empty());
            let news = News::Heard { stream, chunk };
            if events.send(Event::Child(ChildEvent { id, news })).is_err() || is_end {
                return;
            }
        }
    });
    Reader { want: Some(want), waits: VecDeque::new() }
}

fn writer(id: u32, target: Option<impl Write + Send + 'static>, events: &Post) -> Option<Sender<Vec<u8>>> {
    let mut target = target?;
    let (give, given): (Sender<Vec<u8>>, Receiver<Vec<u8>>) = channel();
    let events = events.clone();
    thread(move || {
        for bytes in given {
            let wrote = target.write_all(&bytes).and_then(|()| target.flush());
            if events.send(Event::Child(ChildEvent { id, news: News::Wrote(wrote) })).is_err() {
                return;
            }
        }
    });
    Some(give)
}

fn thread(work: impl FnOnce() + Send + 'static) {
    let named = std::thread::Builder::new().name("child".into()).stack_size(128 << 10);
    if let Err(error) = named.spawn(work) {
        host().wire.log("error", &format!("no thread to wait for a child process with: {error}"));
    }
}

fn live() -> MutexGuard<'static, Vec<u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}
