//! The loop: run what can run, answer what has settled, then wait for the next event.

use std::cell::{Cell, OnceCell, RefCell};
use std::io::Write;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::{Context, Runtime};

use super::host::{Host, host};
use super::inbox::Inbox;
use super::modules::Modules;
use super::ops::{ChildEvent, Descriptors};
use super::protocol::{Failure, Incoming, Order};
use super::watch::Watch;
use super::wire::Wire;
use super::{Limits, ops, orders, realm};

/// How long jobs may go on before aborts are looked for.
const JOBS_AT_ONCE: Duration = Duration::from_millis(20);

/// So long calls may wait for nothing that is under way.
const STARVED: Duration = Duration::from_secs(4);

pub(super) enum Event {
    Incoming(Result<Incoming, (Option<u64>, String)>),
    /// haft is gone.
    Closed,
    Child(ChildEvent),
}

impl Event {
    /// The order this event aborts, if that is what it does. One that is to be forgotten has time.
    pub(super) fn aborts(&self) -> Option<u64> {
        match self {
            Event::Incoming(Ok(Incoming::Order(Order::Abort { id, forget: false }))) => Some(*id),
            Event::Incoming(_) | Event::Closed | Event::Child(_) => None,
        }
    }
}

pub(super) fn run(input: BorrowedFd<'static>, output: impl Write + 'static, limits: Limits) {
    let watch = Rc::new(Watch::default());
    let inbox = match Inbox::new(input, Rc::clone(&watch)) {
        Ok(inbox) => inbox,
        Err(error) => super::give_up(&format!("nothing can be heard: {error}")),
    };
    let host = Host::install(Host {
        wire: Wire::new(output),
        watch,
        inbox,
        orders: RefCell::default(),
        modules: RefCell::new(Modules::new(&limits)),
        timers: RefCell::default(),
        asks: RefCell::default(),
        children: RefCell::default(),
        descriptors: RefCell::new(Descriptors::default()),
        temporary: RefCell::default(),
        rejections: RefCell::default(),
        intrinsics: OnceCell::new(),
        cause: Cell::new(None),
        started: Instant::now(),
        limits,
    });
    let (runtime, context) = match realm::build(&host.limits) {
        Ok(built) => built,
        Err(error) => super::give_up(&format!("the engine does not start: {error}")),
    };
    let mut starving: Option<Instant> = None;
    loop {
        settle_down(&runtime, &context);
        starving = is_starving(&host).then(|| starving.unwrap_or_else(Instant::now));
        if starving.is_some_and(|since| since.elapsed() >= STARVED) {
            orders::starved();
        }
        let wait = host.timers.borrow().until_next().or(starving.map(|_| STARVED));
        let event = host.inbox.next(wait);
        host.cause.set(None);
        match event {
            Some(Event::Closed) => super::end(0),
            Some(Event::Incoming(Ok(incoming))) => context.with(|ctx| take(&ctx, incoming)),
            Some(Event::Incoming(Err((id, why)))) => {
                host.wire.failed(
                    id,
                    &Failure::Protocol { message: format!("not a line of this protocol: {why}") },
                );
            }
            Some(Event::Child(event)) => context.with(|ctx| ops::child_event(&ctx, event)),
            None => {}
        }
        context.with(|ctx| ops::fire_timers(&ctx));
    }
}

fn take(ctx: &rquickjs::Ctx<'_>, incoming: Incoming) {
    match incoming {
        Incoming::Order(order) => orders::begin(ctx, order),
        Incoming::Answer(answer) => ops::answered(ctx, answer),
    }
}

/// Whether calls wait, and nothing is under way that could settle them.
fn is_starving(host: &Host) -> bool {
    let is_idle = host.timers.borrow().until_next().is_none()
        && host.asks.borrow().is_empty()
        && host.children.borrow().is_empty();
    is_idle && host.orders.borrow().are_calls_of_tools()
}

/// Runs jobs until there are none, and answers the orders that are done.
fn settle_down(runtime: &Runtime, context: &Context) {
    let host = host();
    loop {
        let mut looked = Instant::now();
        while runtime.is_job_pending() {
            // A job that throws was interrupted or found no memory; what it belonged to is settled below.
            if let Err(error) = runtime.execute_pending_job() {
                context.with(|ctx| drop(ctx.catch()));
                drop(error);
            }
            if host.watch.is_interrupted() {
                break;
            }
            if looked.elapsed() > JOBS_AT_ONCE {
                for id in host.inbox.aborts() {
                    context.with(|ctx| orders::abort(&ctx, id));
                }
                looked = Instant::now();
            }
        }
        context.with(|ctx| {
            orders::interrupted(&ctx);
            orders::settle(&ctx);
        });
        if !runtime.is_job_pending() {
            context.with(|ctx| super::rejections::report(&ctx));
        }
        if !runtime.is_job_pending() {
            return;
        }
    }
}
