//! Orders under way: a file that is loaded, calls, hooks. Each is a promise, which Rust looks at after every turn;
//! nothing that JavaScript overwrites can get between.

use std::path::Path;

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Object, Persistent, Promise, Result, Value};
use serde::Deserialize;

use super::host::host;
use super::ops::json;
use super::protocol::{Failure, Kind, Order};
use super::{failure, modules, ops, rejections, typescript};

#[derive(Default)]
pub(super) struct Orders {
    active: Vec<Active>,
    /// Whether a plugin was loaded: what happens later may settle what waits now.
    has_plugin: bool,
}

struct Active {
    id: u64,
    work: Work,
    promise: Persistent<Promise<'static>>,
}

enum Work {
    /// The file's code runs.
    Evaluate {
        load: Load,
        namespace: Persistent<Object<'static>>,
    },
    /// Its exports are looked through, and plugins are started.
    Describe {
        file: String,
    },
    Call,
    Hook {
        name: String,
    },
}

struct Load {
    file: String,
    kind: Kind,
    options: Option<serde_json::Value>,
    input: serde_json::Value,
}

impl Orders {
    pub(super) fn has(&self, id: u64) -> bool {
        self.active.iter().any(|active| active.id == id)
    }

    /// Whether there are calls, and nothing but calls of tools, which only what they themselves started can settle.
    pub(super) fn are_calls_of_tools(&self) -> bool {
        let is_call = |active: &Active| matches!(active.work, Work::Call);
        !self.has_plugin && !self.active.is_empty() && self.active.iter().all(is_call)
    }

    /// The only order there is.
    pub(super) fn only(&self) -> Option<u64> {
        match self.active.as_slice() {
            [only] => Some(only.id),
            [] | [_, _, ..] => None,
        }
    }
}

pub(super) fn begin(ctx: &Ctx<'_>, order: Order) {
    match order {
        Order::Load { id, file, kind, options, input } => {
            let load = Load { file, kind, options, input };
            host().orders.borrow_mut().has_plugin |= matches!(kind, Kind::Plugin);
            let file = load.file.clone();
            let begun = entered(id, || begin_load(ctx, id, load));
            refused(ctx, id, begun, |thrown| failure::of_load(ctx, thrown, &file));
        }
        Order::Call { id, tool, args, context } => {
            let begun = entered(id, || {
                let call = host().intrinsics().main(ctx, "call")?;
                let promise = call.call((id, tool, json::parse(ctx, &args)?, json::parse(ctx, &context)?))?;
                wait(ctx, id, Work::Call, promise);
                Ok(())
            });
            refused(ctx, id, begun, |thrown| failure::of_value(ctx, thrown));
        }
        Order::Hook { id, name, input, output } => {
            let begun = entered(id, || {
                let hook = host().intrinsics().main(ctx, "hook")?;
                let arguments = (id, name.as_str(), json::parse(ctx, &input)?, json::parse(ctx, &output)?);
                wait(ctx, id, Work::Hook { name: name.clone() }, hook.call(arguments)?);
                Ok(())
            });
            refused(ctx, id, begun, |thrown| of_hook(ctx, thrown, &name));
        }
        Order::Part { id, hook, with } => {
            let begun = entered(id, || {
                let part = host().intrinsics().main(ctx, "part")?;
                let promise = part.call((id, hook.as_str(), json::parse(ctx, &with)?))?;
                wait(ctx, id, Work::Hook { name: hook.clone() }, promise);
                Ok(())
            });
            refused(ctx, id, begun, |thrown| of_hook(ctx, thrown, &hook));
        }
        Order::Abort { id, forget } => {
            abort(ctx, id);
            // What it still holds would add up.
            if forget && remove(|active| active.id == id).is_some() {
                answer(id, Err(Failure::aborted()));
            }
        }
        Order::Strip { id, path, source } => {
            host().wire.done(id, &typescript::told(Path::new(&path), &source).to_string());
        }
        Order::Ping { id } => host().wire.done(id, "null"),
    }
}

/// Aborts an order: its signal fires, what it asked haft is dropped, what it started ends.
pub(super) fn abort(ctx: &Ctx<'_>, id: u64) {
    let host = host();
    host.watch.stopped(id);
    let is_known = host.orders.borrow().has(id);
    if !is_known {
        return;
    }
    ops::abort_asks(ctx, id);
    ops::abort_children(id);
    let told = host.intrinsics().main(ctx, "abort").and_then(|abort| abort.call::<_, ()>((id,)));
    if let Err(error) = told {
        let thrown = failure::thrown(ctx, error);
        host.wire
            .log("error", &format!("a listener of the abort threw: {}", failure::describe(ctx, &thrown)));
    }
}

/// Answers the orders whose code was interrupted; their promises will never settle.
pub(super) fn interrupted(ctx: &Ctx<'_>) {
    let host = host();
    let Some(ids) = host.watch.take_interrupted() else { return };
    drop(ctx.catch());
    for id in ids {
        abort(ctx, id);
        if remove(|active| active.id == id).is_some() {
            host.wire.failed(Some(id), &Failure::aborted());
        }
    }
}

/// Answers every order although it has not settled: nothing is under way that could settle it.
pub(super) fn starved() {
    while let Some(active) = remove(|_| true) {
        let message = "its promise never settles: it waits for nothing that is under way".to_owned();
        answer(active.id, Err(Failure::Defect { message }));
    }
}

/// Answers every order that has settled.
pub(super) fn settle(ctx: &Ctx<'_>) {
    while let Some(active) = remove(|active| {
        active.promise.clone().restore(ctx).is_ok_and(|promise| promise.state() != PromiseState::Pending)
    }) {
        if let Ok(promise) = active.promise.restore(ctx) {
            finish(ctx, active.id, active.work, &promise);
        }
    }
}

fn begin_load(ctx: &Ctx<'_>, id: u64, load: Load) -> Result<()> {
    let (namespace, promise) = modules::entry(ctx, &load.file)?;
    let namespace = Persistent::save(ctx, namespace);
    wait(ctx, id, Work::Evaluate { load, namespace }, promise);
    Ok(())
}

fn finish<'js>(ctx: &Ctx<'js>, id: u64, work: Work, promise: &Promise<'js>) {
    rejections::forget(ctx, promise.as_value());
    let value = match promise.result::<Value<'js>>() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(failure::thrown(ctx, error)),
        None => return,
    };
    match (work, value) {
        (Work::Evaluate { load, namespace }, Ok(_)) => {
            let file = load.file.clone();
            let begun = entered(id, || describe(ctx, id, load, namespace));
            refused(ctx, id, begun, |thrown| failure::of_load(ctx, thrown, &file));
        }
        (Work::Evaluate { load: Load { file, .. }, .. } | Work::Describe { file }, Err(thrown)) => {
            answer(id, Err(failure::of_load(ctx, &thrown, &file)));
        }
        (Work::Describe { file }, Ok(value)) => answer(id, loaded(ctx, value, &file)),
        (Work::Call, Ok(value)) => answer(id, called(ctx, value)),
        (Work::Call, Err(thrown)) => answer(id, Err(failure::of_value(ctx, &thrown))),
        (Work::Hook { name }, Ok(value)) => {
            let text = json::stringify(ctx, value).map(|text| text.unwrap_or_else(|| "null".to_owned()));
            answer(id, text.map_err(|error| of_hook(ctx, &failure::thrown(ctx, error), &name)));
        }
        (Work::Hook { name }, Err(thrown)) => answer(id, Err(of_hook(ctx, &thrown, &name))),
    }
}

fn describe(ctx: &Ctx<'_>, id: u64, load: Load, namespace: Persistent<Object<'static>>) -> Result<()> {
    let main = host().intrinsics().main(ctx, "load")?;
    let options = load.options.map(|options| json::parse(ctx, &options)).transpose()?;
    let input = json::parse(ctx, &load.input)?;
    let namespace = namespace.restore(ctx)?;
    let promise = main.call((load.kind.name(), load.file.as_str(), namespace, options, input))?;
    wait(ctx, id, Work::Describe { file: load.file }, promise);
    Ok(())
}

/// Adds to what JavaScript found in a file which files were read for it.
fn loaded<'js>(ctx: &Ctx<'js>, value: Value<'js>, file: &str) -> std::result::Result<String, Failure> {
    let text = json::stringify(ctx, value)
        .map_err(|error| failure::of_load(ctx, &failure::thrown(ctx, error), file))?;
    let defect =
        |why: &str| Failure::Defect { message: format!("what {file} exports was not understood: {why}") };
    let text = text.ok_or_else(|| defect("it is nothing"))?;
    let mut found: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).map_err(|error| defect(&error.to_string()))?;
    found.insert("modules".to_owned(), host().modules.borrow().files().into());
    Ok(serde_json::Value::Object(found).to_string())
}

/// What `call` of `host/main` resolves to.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Called {
    Ok(Settled),
    Input {
        issues: serde_json::Value,
        message: Option<String>,
    },
    /// What the tool returned is no result.
    Bad(String),
}

/// The shape haft expects of a result.
#[derive(Deserialize, serde::Serialize)]
struct Settled {
    output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attachments: Option<Vec<serde_json::Value>>,
}

fn called<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> std::result::Result<String, Failure> {
    let text = json::stringify(ctx, value)
        .map_err(|error| failure::of_value(ctx, &failure::thrown(ctx, error)))?
        .unwrap_or_default();
    let bad = |message: String| Failure::Thrown {
        name: "TypeError".to_owned(),
        message,
        stack: None,
        code: Some("ERR_TOOL_RESULT".to_owned()),
    };
    match serde_json::from_str(&text) {
        Ok(Called::Ok(settled)) => serde_json::to_string(&settled).map_err(|error| bad(error.to_string())),
        Ok(Called::Input { issues, message }) => Err(Failure::Input { issues, message }),
        Ok(Called::Bad(message)) => Err(bad(message)),
        Err(error) => Err(bad(format!("the result is not one that a tool may return: {error}"))),
    }
}

/// A hook's error says which hook it was; haft adds nothing.
fn of_hook<'js>(ctx: &Ctx<'js>, thrown: &Value<'js>, name: &str) -> Failure {
    let file = host().modules.borrow().entry_file();
    match failure::of_value(ctx, thrown) {
        Failure::Thrown { name: error, message, stack, code } => Failure::Thrown {
            name: error,
            message: format!("{message} (the hook `{name}` of {file})"),
            stack,
            code,
        },
        other => other,
    }
}

/// Runs code for an order, so that it can be told whose code it is.
fn entered<T>(id: u64, run: impl FnOnce() -> T) -> T {
    let host = host();
    host.cause.set(Some(id));
    let watch = &host.watch;
    watch.enter(id);
    let result = run();
    watch.leave();
    result
}

/// Answers an order that did not even begin.
fn refused<'js>(ctx: &Ctx<'js>, id: u64, begun: Result<()>, failed: impl FnOnce(&Value<'js>) -> Failure) {
    let Err(error) = begun else { return };
    let thrown = failure::thrown(ctx, error);
    // Interrupted code is answered for where that is noticed.
    if host().watch.is_interrupted() {
        wait_for_nothing(ctx, id);
        return;
    }
    answer(id, Err(failed(&thrown)));
}

fn wait<'js>(ctx: &Ctx<'js>, id: u64, work: Work, promise: Promise<'js>) {
    let host = host();
    let mut orders = host.orders.borrow_mut();
    orders.active.push(Active { id, work, promise: Persistent::save(ctx, promise) });
    host.watch.active(orders.active.len());
}

/// Keeps an order that never settles by itself, so that its interruption is answered.
fn wait_for_nothing(ctx: &Ctx<'_>, id: u64) {
    if let Ok((promise, _, _)) = ctx.promise() {
        wait(ctx, id, Work::Call, promise);
    }
}

fn remove(wanted: impl Fn(&Active) -> bool) -> Option<Active> {
    let host = host();
    let mut orders = host.orders.borrow_mut();
    let at = orders.active.iter().position(wanted)?;
    let found = orders.active.remove(at);
    host.watch.active(orders.active.len());
    Some(found)
}

fn answer(id: u64, result: std::result::Result<String, Failure>) {
    let host = host();
    host.watch.stopped(id);
    ops::forget_order(id);
    match result {
        Ok(json) => host.wire.done(id, &json),
        Err(failure) => host.wire.failed(Some(id), &failure),
    }
}
