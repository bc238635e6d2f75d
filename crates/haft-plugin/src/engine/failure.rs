//! What JavaScript threw, as haft is told it. Anything can be thrown, and reading it may throw again.

use rquickjs::{Ctx, Error, Object, Value};

use super::host::host;
use super::ops::errors;
use super::protocol::{Failure, Place};

/// How many frames of a stack are told.
const FRAMES_MAX: usize = 20;
/// How much of a message is told.
const MESSAGE_CHARS_MAX: usize = 20_000;

/// The value behind an error of the engine.
#[expect(clippy::needless_pass_by_value, reason = "an error is told once")]
pub(super) fn thrown<'js>(ctx: &Ctx<'js>, error: Error) -> Value<'js> {
    if error.is_exception() {
        return ctx.catch();
    }
    errors::plain(ctx, &error.to_string()).unwrap_or_else(|_| ctx.catch())
}

/// What a call or a hook threw.
pub(super) fn of_value<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Failure {
    let found = Found::read(ctx, value);
    if found.is_out_of_memory() {
        let megabytes = host().limits.memory_bytes >> 20;
        return Failure::Defect {
            message: format!("out of memory: a plugin may use {megabytes} MiB; use less at a time"),
        };
    }
    Failure::Thrown { name: found.name, message: found.message, stack: found.stack, code: found.code }
}

/// What loading a file threw.
pub(super) fn of_load<'js>(ctx: &Ctx<'js>, value: &Value<'js>, file: &str) -> Failure {
    let found = Found::read(ctx, value);
    if found.is_out_of_memory() {
        return of_value(ctx, value);
    }
    let told = value.as_object().and_then(|object| told_place(ctx, object));
    let place = told
        .or_else(|| found.first_frame())
        .unwrap_or_else(|| Place { file: Some(file.to_owned()), ..Place::default() });
    let object = value.as_object();
    let fix = object.and_then(|object| text_of(ctx, object, "fix"));
    let module = object.and_then(|object| text_of(ctx, object, "module"));
    if let Some((export, module)) = missing_export(&found.message) {
        let message = format!("this engine's `{module}` has no export `{export}`");
        return Failure::Module {
            message,
            module,
            unsupported: true,
            place,
            fix: Some(OTHER_RUNTIMES.to_owned()),
        };
    }
    match (module, found.code.as_deref()) {
        (Some(module), Some("ERR_UNSUPPORTED_MODULE")) => {
            Failure::Module { message: found.message, module, unsupported: true, place, fix }
        }
        (Some(module), Some("MODULE_NOT_FOUND" | "ERR_MODULE_NOT_FOUND")) => {
            Failure::Module { message: found.message, module, unsupported: false, place, fix }
        }
        _ => {
            let message = match found.name.as_str() {
                "Error" | "SyntaxError" => found.message,
                name => format!("{name}: {}", found.message),
            };
            let export = object.and_then(|object| text_of(ctx, object, "export"));
            let (stack, export) = (found.stack.map(Into::into), export.map(Into::into));
            Failure::Load { message, place, fix, stack, export }
        }
    }
}

/// What to do about a part of Node that this engine does not have.
pub(super) const OTHER_RUNTIMES: &str =
    "install Bun (or Node 22.18 or newer) and haft runs the file with that";

/// One text for the log.
pub(super) fn describe<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    let found = Found::read(ctx, value);
    let mut text = format!("{}: {}", found.name, found.message);
    if let Some(stack) = found.stack {
        text.push('\n');
        text.push_str(&stack);
    }
    text
}

struct Found {
    name: String,
    message: String,
    stack: Option<String>,
    code: Option<String>,
}

impl Found {
    fn read<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Found {
        let Some(object) = value.as_object() else {
            let message = match value.as_string() {
                Some(_) => shown(ctx, value).unwrap_or_default(),
                None => {
                    format!("threw {}", shown(ctx, value).unwrap_or_else(|| value.type_name().to_owned()))
                }
            };
            if value.is_null() && memory_was_full() {
                return Found::out_of_memory();
            }
            return Found { name: "Error".to_owned(), message: cut(message), stack: None, code: None };
        };
        let name = text_of(ctx, object, "name").filter(|name| !name.is_empty());
        let mut message = text_of(ctx, object, "message").unwrap_or_default();
        if message.is_empty() && !object.is_error() {
            message = super::ops::json::stringify(ctx, value.clone())
                .ok()
                .flatten()
                .or_else(|| {
                    drop(ctx.catch());
                    shown(ctx, value)
                })
                .map(|text| format!("threw {text}"))
                .unwrap_or_else(|| "threw an object that cannot be read".to_owned());
        }
        if let Some(cause) = cause_of(ctx, object) {
            message = format!("{message} (cause: {cause})");
        }
        Found {
            name: name.unwrap_or_else(|| "Error".to_owned()),
            message: cut(message),
            stack: text_of(ctx, object, "stack").and_then(|stack| readable(&stack)),
            code: text_of(ctx, object, "code"),
        }
    }

    fn out_of_memory() -> Found {
        Found {
            name: "InternalError".to_owned(),
            message: "out of memory".to_owned(),
            stack: None,
            code: None,
        }
    }

    fn is_out_of_memory(&self) -> bool {
        self.name == "InternalError" && self.message.starts_with("out of memory")
    }

    fn first_frame(&self) -> Option<Place> {
        let (file, line, column) = self.stack.as_deref()?.lines().find_map(frame)?;
        Some(Place { file: Some(file.to_owned()), line: Some(line), column: Some(column) })
    }
}

/// Whether this process once held what JavaScript may use: without memory for an error, the engine throws `null`.
fn memory_was_full() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: usize =
        peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_default();
    kilobytes >= host().limits.memory_bytes / 1024 / 10 * 9
}

/// Errors of our own say where they belong.
fn told_place<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Option<Place> {
    let file = text_of(ctx, object, "file")?;
    let number = |name: &str| {
        object.get::<_, Option<u32>>(name).unwrap_or_else(|_| {
            drop(ctx.catch());
            None
        })
    };
    Some(Place { file: Some(file), line: number("line"), column: number("column") })
}

/// A property as text, whatever it is, and whatever reading it does.
fn text_of<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Option<String> {
    match object.get::<_, Value<'_>>(name) {
        Ok(value) if value.is_undefined() || value.is_null() => None,
        Ok(value) => shown(ctx, &value),
        Err(_) => {
            drop(ctx.catch());
            None
        }
    }
}

fn cause_of<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Option<String> {
    let cause: Value<'_> = object.get("cause").unwrap_or_else(|_| ctx.catch());
    match cause.as_object() {
        Some(cause) => text_of(ctx, cause, "message").filter(|text| !text.is_empty()),
        None => cause.as_string().and_then(|_| shown(ctx, &cause)),
    }
}

/// The value as `String(value)` would show it.
fn shown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Option<String> {
    match value.get::<rquickjs::Coerced<String>>() {
        Ok(text) => Some(text.0),
        Err(error) => {
            if error.is_exception() {
                drop(ctx.catch());
                return None;
            }
            // Text with half a surrogate pair in it: as JSON it can be put right.
            let json = super::ops::json::stringify(ctx, value.clone()).ok().flatten()?;
            serde_json::from_str(&json).ok()
        }
    }
}

/// The frames in the person's files, with the places of TypeScript put right.
fn readable(stack: &str) -> Option<String> {
    let mut frames = Vec::new();
    for line in stack.lines().filter(|line| line.trim_start().starts_with("at ")) {
        if line.contains("(native)") || line.contains("haft:") {
            continue;
        }
        frames.push(mapped(line));
        if frames.len() == FRAMES_MAX {
            break;
        }
    }
    (!frames.is_empty()).then(|| frames.join("\n"))
}

/// A stack with the places of TypeScript put right, and nothing left out.
pub(super) fn mapped_stack(stack: &str) -> String {
    stack.lines().map(mapped).collect::<Vec<_>>().join("\n")
}

fn mapped(line: &str) -> String {
    let original = frame(line).and_then(|(file, row, column)| {
        let (new_row, new_column) = host().modules.borrow().original(file, row, column)?;
        Some(line.replace(&format!("{file}:{row}:{column}"), &format!("{file}:{new_row}:{new_column}")))
    });
    original.unwrap_or_else(|| line.to_owned())
}

/// The file, line and column of a frame: `    at name (/a/b.ts:3:5)` or `    at /a/b.ts:3:5`.
fn frame(line: &str) -> Option<(&str, u32, u32)> {
    let line = line.trim();
    let place = match line.strip_suffix(')') {
        Some(inside) => inside.rsplit_once(" (")?.1,
        None => line.strip_prefix("at ")?,
    };
    let (rest, column) = place.rsplit_once(':')?;
    let (file, row) = rest.rsplit_once(':')?;
    Some((file, row.parse().ok()?, column.parse().ok()?))
}

/// A name that one of our own modules does not export: Bun or Node may have it.
fn missing_export(message: &str) -> Option<(String, String)> {
    let rest = message.strip_prefix("Could not find export '")?;
    let (export, rest) = rest.split_once("' in module 'haft:")?;
    let module = rest.strip_suffix('\'')?;
    Some((export.to_owned(), module.trim_start_matches("node/").to_owned()))
}

fn cut(mut message: String) -> String {
    if let Some((at, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
        message.truncate(at);
        message.push('…');
    }
    message
}
