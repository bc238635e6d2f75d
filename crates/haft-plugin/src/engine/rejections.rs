//! Promises that were rejected while nobody listened: they become lines in the log, and nothing dies of them.

use rquickjs::{Ctx, Function, Persistent, Value};

use super::failure;
use super::host::host;
use super::modules;

/// How many are told of at once; more than these are counted.
const TOLD_MAX: usize = 20;

#[derive(Default)]
pub(super) struct Rejections(Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>);

/// Hears of every rejection without a listener, and of every listener that comes later.
#[expect(clippy::needless_pass_by_value, reason = "the engine hands over values")]
pub(super) fn track<'js>(ctx: Ctx<'js>, promise: Value<'js>, reason: Value<'js>, is_handled: bool) {
    let host = host();
    let Ok(mut rejections) = host.rejections.try_borrow_mut() else { return };
    let promise = Persistent::save(&ctx, promise);
    if is_handled {
        rejections.0.retain(|(known, _)| *known != promise);
    } else {
        rejections.0.push((promise, Persistent::save(&ctx, reason)));
    }
}

/// The promise of an order is listened to by Rust, which the engine does not know.
pub(super) fn forget<'js>(ctx: &Ctx<'js>, promise: &Value<'js>) {
    let promise = Persistent::save(ctx, promise.clone());
    host().rejections.borrow_mut().0.retain(|(known, _)| *known != promise);
}

/// Tells of what is still unheard after all jobs have run.
pub(super) fn report(ctx: &Ctx<'_>) {
    let host = host();
    let unheard = std::mem::take(&mut host.rejections.borrow_mut().0);
    let count = unheard.len();
    for (promise, reason) in unheard.into_iter().take(TOLD_MAX) {
        let (Ok(promise), Ok(reason)) = (promise.restore(ctx), reason.restore(ctx)) else { continue };
        if told_to_process(ctx, &reason, &promise) {
            continue;
        }
        host.wire.log("error", &format!("unhandled rejection: {}", failure::describe(ctx, &reason)));
    }
    if count > TOLD_MAX {
        host.wire.log("error", &format!("and {} more unhandled rejections", count - TOLD_MAX));
    }
}

/// Gives the rejection to `process.on("unhandledRejection")`, if the person's code ever asked for `process`.
fn told_to_process<'js>(ctx: &Ctx<'js>, reason: &Value<'js>, promise: &Value<'js>) -> bool {
    let Some(process) = modules::internal_if_loaded(ctx, "node/process") else { return false };
    let Ok(emit) = process.get::<_, Function<'_>>("emitUnhandled") else {
        drop(ctx.catch());
        return false;
    };
    emit.call((reason.clone(), promise.clone())).unwrap_or_else(|_| {
        drop(ctx.catch());
        false
    })
}
