//! Waiting. JavaScript keeps one sleep for all its timers; the loop of the host wakes up for the next one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rquickjs::{Ctx, Object, Result, Value};

use super::super::host::{Counter, Deferred, host};

/// Longer sleeps end after this; whoever meant longer sleeps again.
const SLEEP_MAX: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Default)]
pub(in super::super) struct Timers {
    due: BTreeMap<(Instant, u32), Deferred>,
    ids: Counter,
}

impl Timers {
    /// How long until the next sleep is over.
    pub(in super::super) fn until_next(&self) -> Option<Duration> {
        let ((when, _), _) = self.due.first_key_value()?;
        Some(when.saturating_duration_since(Instant::now()))
    }
}

/// Ends the sleeps that are over.
pub(in super::super) fn fire_timers(ctx: &Ctx<'_>) {
    let now = Instant::now();
    loop {
        let host = host();
        let mut timers = host.timers.borrow_mut();
        let Some(entry) = timers.due.first_entry().filter(|entry| entry.key().0 <= now) else { return };
        let deferred = entry.remove();
        drop(timers);
        if deferred.settle(ctx, Ok(Value::new_undefined(ctx.clone()))).is_err() {
            drop(ctx.catch());
        }
    }
}

pub(super) fn sleep<'js>(ctx: Ctx<'js>, milliseconds: f64) -> Result<Object<'js>> {
    let wait =
        Duration::try_from_secs_f64(milliseconds.max(0.0) / 1000.0).unwrap_or(SLEEP_MAX).min(SLEEP_MAX);
    let (promise, deferred) = Deferred::new(&ctx)?;
    let host = host();
    let mut timers = host.timers.borrow_mut();
    let id = timers.ids.next();
    timers.due.insert((Instant::now() + wait, id), deferred);
    drop(timers);
    let sleep = Object::new(ctx)?;
    sleep.set("id", id)?;
    sleep.set("promise", promise)?;
    Ok(sleep)
}

pub(super) fn cancel_sleep(id: u32) {
    host().timers.borrow_mut().due.retain(|(_, known), _| *known != id);
}
