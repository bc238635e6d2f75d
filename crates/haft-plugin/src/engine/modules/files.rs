//! Reads a file of the person and turns it into a module: TypeScript is stripped, CommonJS is run and wrapped,
//! JSON and texts become values. JavaScript is given to the engine as it is.

use std::path::Path;

use oxc_span::SourceType;
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Function, IntoJs, Module, Object, Result, Value};

use super::super::failure::OTHER_RUNTIMES;
use super::super::host::host;
use super::super::ops::{errors, json};
use super::super::typescript::{self, Problem};
use super::package::Package;
use super::{Missing, facade, internal};

/// What a file is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Format {
    Module,
    CommonJs,
    Json,
    Text,
}

impl Format {
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Format::Module => "module",
            Format::CommonJs => "commonjs",
            Format::Json => "json",
            Format::Text => "text",
        }
    }
}

pub(super) fn load<'js>(
    ctx: &Ctx<'js>,
    file: &str,
    attribute: Option<&str>,
) -> Result<Module<'js, Declared>> {
    let source = read(ctx, file)?;
    let format = match attribute {
        Some("text") => Format::Text,
        Some("json") => Format::Json,
        _ => format(ctx, file, &source)?,
    };
    match format {
        Format::Json => {
            let value: serde_json::Value = serde_json::from_str(&source).map_err(|error| {
                let problem = Problem {
                    message: format!("not JSON: {error}"),
                    line: u32::try_from(error.line()).unwrap_or(1),
                    column: u32::try_from(error.column()).unwrap_or(1),
                    help: None,
                };
                errors::syntax(ctx, file, &problem)
            })?;
            facade::declare(ctx, file, json::parse(ctx, &value)?)
        }
        Format::Text => facade::declare(ctx, file, source.into_js(ctx)?),
        Format::CommonJs => {
            let require: Function<'_> = internal(ctx, "node/module")?.get("requireFile")?;
            facade::declare(ctx, file, require.call((file,))?)
        }
        Format::Module => declare(ctx, file, source),
    }
}

/// The JavaScript of a file that holds code.
pub(in super::super) fn javascript(ctx: &Ctx<'_>, file: &str, source: String) -> Result<String> {
    if !is_typescript(file) {
        return Ok(source);
    }
    match typescript::strip(Path::new(file), &source) {
        Ok(stripped) => {
            host().modules.borrow_mut().sources.insert(file.to_owned(), source.into());
            Ok(stripped.code)
        }
        Err(problem) => Err(errors::syntax(ctx, file, &problem)),
    }
}

/// Decides what a file is: by its extension, by the package around it, by what is in it.
pub(in super::super) fn format(ctx: &Ctx<'_>, file: &str, source: &str) -> Result<Format> {
    let path = Path::new(file);
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "mjs" | "mts" => Ok(Format::Module),
        "cjs" | "cts" => Ok(Format::CommonJs),
        "json" => Ok(Format::Json),
        "txt" | "md" | "html" | "css" | "sql" => Ok(Format::Text),
        extension @ ("node" | "wasm" | "tsx" | "jsx" | "toml" | "yaml" | "yml") => {
            let missing = Missing {
                module: file.to_owned(),
                message: format!("this engine does not load .{extension} files: {file}"),
                fix: Some(OTHER_RUNTIMES.to_owned()),
                unsupported: true,
                importer: None,
            };
            Err(errors::missing(ctx, &missing))
        }
        // Only what looks like CommonJS is doubted: parsing everything twice would cost every start.
        _ if !looks_like_commonjs(source) => Ok(Format::Module),
        extension => {
            let declared = Package::around(path).and_then(|package| package.is_module());
            let is_module = match declared.filter(|_| extension == "js") {
                Some(declared) => declared,
                None if is_typescript(file) => {
                    typescript::strip(path, source).is_ok_and(|stripped| stripped.is_module)
                }
                None => typescript::has_module_syntax(source),
            };
            Ok(if is_module { Format::Module } else { Format::CommonJs })
        }
    }
}

fn looks_like_commonjs(source: &str) -> bool {
    source.contains("module.exports")
        || source.contains("exports.")
        || source.contains("require(")
        || source.contains("exports[")
}

fn declare<'js>(ctx: &Ctx<'js>, file: &str, source: String) -> Result<Module<'js, Declared>> {
    let code = javascript(ctx, file, source)?;
    let given = given(&code);
    let declared = if given.is_empty() {
        Module::declare(ctx.clone(), file, code)
    } else {
        let tried = Module::declare(ctx.clone(), file, format!("{given}{code}"));
        match tried {
            // It may have those names of its own after all.
            Err(error) if error.is_exception() => {
                let thrown = ctx.catch();
                match thrown.as_object().and_then(|object| syntax_error_at(ctx, object, file)) {
                    Some(_) => Module::declare(ctx.clone(), file, code),
                    None => Err(ctx.throw(thrown)),
                }
            }
            tried => tried,
        }
    };
    let module = declared.map_err(|error| explained(ctx, file, error))?;
    describe(ctx, &module, file)?;
    if given.contains("require") {
        let create: Function<'_> = internal(ctx, "node/module")?.get("createRequire")?;
        module.meta()?.set("require", create.call::<_, Value<'_>>((file,))?)?;
    }
    Ok(module)
}

/// Names of CommonJS that Bun gives to ES modules too, for files that use them. They stand in the first line, so
/// that lines keep their numbers.
fn given(code: &str) -> String {
    let mut given = String::new();
    for (name, value, own) in [
        ("require", "require", "createRequire"),
        ("__dirname", "dirname", "__dirname ="),
        ("__filename", "filename", "__filename ="),
    ] {
        let is_used = code.contains(name) && (name != "require" || code.contains("require("));
        if is_used && !code.contains(own) {
            given.push_str(&format!("const {name} = import.meta.{value}; "));
        }
    }
    given
}

/// Fills `import.meta`.
fn describe<'js>(ctx: &Ctx<'js>, module: &Module<'js, Declared>, file: &str) -> Result<()> {
    let meta = module.meta()?;
    let path = Path::new(file);
    let folder = path.parent().and_then(Path::to_str).unwrap_or("/");
    let url = url::Url::from_file_path(path).map(String::from).unwrap_or_default();
    let is_main = host().modules.borrow().entry.as_deref() == Some(file);
    meta.set("url", url)?;
    meta.set("filename", file)?;
    meta.set("dirname", folder)?;
    meta.set("main", is_main)?;
    // Bun's names for the same.
    meta.set("path", file)?;
    meta.set("dir", folder)?;
    meta.set("file", path.file_name().and_then(|name| name.to_str()).unwrap_or_default())?;
    let importer = file.to_owned();
    let resolve = move |ctx: Ctx<'js>, specifier: String| -> Result<String> {
        super::super::ops::resolve_url(&ctx, &importer, &specifier)
    };
    meta.set("resolve", Function::new(ctx.clone(), resolve)?)
}

/// Counts a file towards the limits, and names it among those that were read.
pub(in super::super) fn count(ctx: &Ctx<'_>, file: &str, bytes: usize) -> Result<()> {
    let counted = host().modules.borrow_mut().read(file, bytes);
    counted.map_err(|message| errors::coded(ctx, "ERR_TOO_MANY_MODULES", &message))
}

fn read(ctx: &Ctx<'_>, file: &str) -> Result<String> {
    let may_read = host().limits.readable.check_import(Path::new(file));
    let bytes = match may_read.and_then(|()| std::fs::read(file)) {
        Ok(bytes) => bytes,
        Err(error) => return Err(errors::io(ctx, &error, "open", Some(file), None)),
    };
    count(ctx, file, bytes.len())?;
    let text = String::from_utf8(bytes).map_err(|_| {
        errors::coded(ctx, "ERR_INVALID_SOURCE", &format!("{file} is not UTF-8; save it as UTF-8"))
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Makes more of an error of the engine's parser, if it is one and is about this file.
pub(in super::super) fn explained(ctx: &Ctx<'_>, file: &str, error: Error) -> Error {
    if !error.is_exception() {
        return error;
    }
    let thrown = ctx.catch();
    let found = thrown.as_object().and_then(|object| syntax_error_at(ctx, object, file));
    let Some((message, line, column)) = found else { return ctx.throw(thrown) };
    if !is_typescript(file) {
        // The file is read once more only for this.
        let source = std::fs::read_to_string(file).unwrap_or_default();
        let is_module = typescript::has_module_syntax(&source);
        let kind = if is_module { SourceType::mjs() } else { SourceType::cjs() };
        let problem = typescript::diagnose(&source, kind);
        return errors::syntax(ctx, file, &problem.unwrap_or(Problem { message, line, column, help: None }));
    }
    let place = host().modules.borrow().original(file, line, column);
    let (line, column) = place.unwrap_or((line, column));
    let message = if message.contains("'@'") { "decorators are not supported".to_owned() } else { message };
    errors::syntax(ctx, file, &Problem { message, line, column, help: None })
}

fn syntax_error_at<'js>(ctx: &Ctx<'js>, object: &Object<'js>, file: &str) -> Option<(String, u32, u32)> {
    let read = |name: &str| object.get::<_, Option<String>>(name).ok().flatten();
    let found = (read("name").as_deref() == Some("SyntaxError") && read("file").is_none())
        .then(|| Some((read("message")?, read("stack")?)))
        .flatten();
    // Whatever a getter threw here is nobody's concern.
    if ctx.has_exception() {
        drop(ctx.catch());
    }
    let (message, stack) = found?;
    let place = stack.trim().strip_prefix("at ")?.strip_prefix(file)?.strip_prefix(':')?;
    let place = place.lines().next()?;
    let (line, column) = place.split_once(':')?;
    Some((message, line.parse().ok()?, column.parse().ok()?))
}

fn is_typescript(file: &str) -> bool {
    [".ts", ".mts", ".cts"].iter().any(|extension| file.ends_with(extension))
}
