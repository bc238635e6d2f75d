//! What Rust functions that JavaScript calls have in common. A process holds one engine on one thread, so this
//! hangs on that thread: functions of the engine cannot be given anything else.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use rquickjs::{Ctx, Function, Persistent, Promise, Result, Value};

use super::Limits;
use super::inbox::Inbox;
use super::modules::Modules;
use super::ops::{Asks, Children, Descriptors, Temporary, Timers};
use super::orders::Orders;
use super::realm::Intrinsics;
use super::rejections::Rejections;
use super::watch::Watch;
use super::wire::Wire;

pub(super) struct Host {
    pub(super) wire: Wire,
    pub(super) watch: Rc<Watch>,
    pub(super) limits: Limits,
    pub(super) inbox: Inbox,
    pub(super) orders: RefCell<Orders>,
    pub(super) modules: RefCell<Modules>,
    pub(super) timers: RefCell<Timers>,
    pub(super) asks: RefCell<Asks>,
    pub(super) children: RefCell<Children>,
    pub(super) descriptors: RefCell<Descriptors>,
    pub(super) temporary: RefCell<Temporary>,
    pub(super) rejections: RefCell<Rejections>,
    pub(super) intrinsics: OnceCell<Intrinsics>,
    /// The order whose event is being worked off: what runs because of it most likely belongs to it.
    pub(super) cause: Cell<Option<u64>>,
    pub(super) started: Instant,
}

thread_local! {
    static HOST: OnceCell<Rc<Host>> = const { OnceCell::new() };
}

/// The host of this thread.
pub(super) fn host() -> Rc<Host> {
    HOST.with(|host| host.get().cloned()).expect("functions of the engine run on its thread")
}

impl Host {
    pub(super) fn install(host: Host) -> Rc<Host> {
        let host = Rc::new(host);
        HOST.with(|slot| {
            // A second engine on the same thread would be a mistake of this crate.
            assert!(slot.set(Rc::clone(&host)).is_ok(), "one engine for each thread");
        });
        host
    }

    /// Whether the code that runs is to let go. Asked by the engine while it runs code.
    pub(super) fn should_interrupt(&self) -> bool {
        self.inbox.listen();
        self.watch.should_interrupt()
    }

    /// The same for code that waits for a program on the spot: it is not busy, and haft is told so when it asks.
    pub(super) fn should_stop_waiting(&self) -> bool {
        let is_over = self.should_interrupt();
        self.inbox.pings().into_iter().for_each(|id| self.wire.done(id, "null"));
        is_over
    }

    pub(super) fn intrinsics(&self) -> &Intrinsics {
        self.intrinsics.get().expect("the realm is set up before any code runs")
    }

    /// The order that runs now: the one whose code was entered or whose event is worked off, or the only one.
    pub(super) fn current(&self) -> Option<u64> {
        let orders = self.orders.borrow();
        let running = self.watch.running().or_else(|| self.cause.get().filter(|id| orders.has(*id)));
        running.or_else(|| orders.only())
    }
}

/// A promise that Rust settles.
pub(super) struct Deferred {
    resolve: Persistent<Function<'static>>,
    reject: Persistent<Function<'static>>,
}

impl Deferred {
    pub(super) fn new<'js>(ctx: &Ctx<'js>) -> Result<(Promise<'js>, Deferred)> {
        let (promise, resolve, reject) = ctx.promise()?;
        let deferred =
            Deferred { resolve: Persistent::save(ctx, resolve), reject: Persistent::save(ctx, reject) };
        Ok((promise, deferred))
    }

    /// Settles the promise with what `value` makes; what it throws is what the promise is rejected with.
    pub(super) fn settle<'js>(self, ctx: &Ctx<'js>, value: Result<Value<'js>>) -> Result<()> {
        match value {
            Ok(value) => self.resolve.restore(ctx)?.call((value,)),
            Err(error) => {
                let thrown = super::failure::thrown(ctx, error);
                self.reject.restore(ctx)?.call((thrown,))
            }
        }
    }
}

/// Numbers that are never given twice.
#[derive(Default)]
pub(super) struct Counter(Cell<u32>);

impl Counter {
    pub(super) fn next(&self) -> u32 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}
