//! Questions to haft: what the kernel does not let this process do, and what a person may have to agree to.

use std::collections::HashMap;

use rquickjs::prelude::Opt;
use rquickjs::{Ctx, Promise, Result, Value};

use super::super::host::{Counter, Deferred, host};
use super::super::protocol::{Answer, Incoming, Refused};
use super::super::turn::Event;
use super::{errors, json};

#[derive(Default)]
pub(in super::super) struct Asks {
    pending: HashMap<u64, (Option<u64>, Deferred)>,
    ids: Counter,
}

impl Asks {
    pub(in super::super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

/// Asks haft, and promises the answer.
pub(super) fn request<'js>(
    ctx: Ctx<'js>,
    op: String,
    with: Opt<Value<'js>>,
    for_call: Opt<Option<u64>>,
) -> Result<Promise<'js>> {
    let with = text_of(&ctx, with)?;
    let (promise, deferred) = Deferred::new(&ctx)?;
    let host = host();
    let call = for_call.0.flatten().or_else(|| host.current());
    let ask = u64::from(host.asks.borrow().ids.next());
    host.asks.borrow_mut().pending.insert(ask, (call, deferred));
    host.wire.ask(ask, &op, call, &with);
    Ok(promise)
}

/// Asks haft and waits: nothing else runs meanwhile.
pub(super) fn request_sync<'js>(
    ctx: Ctx<'js>,
    op: String,
    with: Opt<Value<'js>>,
    for_call: Opt<Option<u64>>,
) -> Result<Value<'js>> {
    let with = text_of(&ctx, with)?;
    let call = for_call.0.flatten().or_else(|| host().current());
    match ask_for(&ctx, &op, &with, call)? {
        Ok(answer) => json::parse(&ctx, &answer),
        Err(refused) => Err(errors::refused(&ctx, &refused)),
    }
}

/// The same from Rust, for whatever runs now.
pub(super) fn ask_now(
    ctx: &Ctx<'_>,
    op: &str,
    with: &str,
) -> Result<std::result::Result<serde_json::Value, Refused>> {
    ask_for(ctx, op, with, host().current())
}

/// An abort of the order that waits ends the wait.
fn ask_for(
    ctx: &Ctx<'_>,
    op: &str,
    with: &str,
    call: Option<u64>,
) -> Result<std::result::Result<serde_json::Value, Refused>> {
    let host = host();
    let ask = u64::from(host.asks.borrow().ids.next());
    host.wire.ask(ask, op, call, with);
    let mut aborts = Vec::new();
    let answer = host.inbox.wait_for(|event| match event {
        Event::Incoming(Ok(Incoming::Answer(answer))) if answer.ask == ask => Ok(Some(answer.result)),
        Event::Closed => super::super::end(0),
        event => match event.aborts() {
            // The abort itself is delivered later, in its turn.
            Some(id) if call.is_none_or(|call| call == id) => {
                aborts.push(event);
                Ok(None)
            }
            _ => Err(Box::new(event)),
        },
    });
    for abort in aborts {
        host.inbox.keep(abort);
    }
    answer.ok_or_else(|| errors::aborted(ctx))
}

/// Tells the title and metadata of a call while it runs.
pub(super) fn metadata<'js>(ctx: Ctx<'js>, call: u64, update: Value<'js>) -> Result<()> {
    let update = json::stringify(&ctx, update)?.filter(|text| text.starts_with('{'));
    let update = update.ok_or_else(|| {
        errors::type_error(&ctx, "ERR_INVALID_ARG_TYPE", "metadata() takes an object: { title?, metadata? }")
    })?;
    host().wire.metadata(call, &update);
    Ok(())
}

/// Settles the promise that waits for an answer; late answers are dropped.
pub(in super::super) fn answered(ctx: &Ctx<'_>, answer: Answer) {
    let pending = host().asks.borrow_mut().pending.remove(&answer.ask);
    let Some((call, deferred)) = pending else { return };
    host().cause.set(call);
    let value = match answer.result {
        Ok(value) => json::parse(ctx, &value),
        Err(refused) => Err(errors::refused(ctx, &refused)),
    };
    if deferred.settle(ctx, value).is_err() {
        drop(ctx.catch());
    }
}

/// Rejects what an aborted order still waits for.
pub(in super::super) fn abort_asks(ctx: &Ctx<'_>, id: u64) {
    let host = host();
    let waiting: Vec<Deferred> = {
        let mut asks = host.asks.borrow_mut();
        asks.pending.extract_if(|_, (call, _)| *call == Some(id)).map(|(_, (_, deferred))| deferred).collect()
    };
    for deferred in waiting {
        let aborted = Err(errors::aborted(ctx));
        if deferred.settle(ctx, aborted).is_err() {
            drop(ctx.catch());
        }
    }
}

fn text_of<'js>(ctx: &Ctx<'js>, with: Opt<Value<'js>>) -> Result<String> {
    match with.0 {
        Some(value) => Ok(json::stringify(ctx, value)?.unwrap_or_else(|| "null".to_owned())),
        None => Ok("null".to_owned()),
    }
}
