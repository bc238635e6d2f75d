//! What `require` and `import.meta.resolve` need: resolution, compiling a function with a file's name, and ES
//! modules that are evaluated at once.

use std::path::Path;

use rquickjs::context::EvalOptions;
use rquickjs::prelude::Opt;
use rquickjs::{Ctx, Function, Object, Result};

use super::super::modules::{self, Purpose, Target};
use super::errors;

pub(super) fn internal<'js>(ctx: Ctx<'js>, name: String) -> Result<Object<'js>> {
    modules::internal(&ctx, &name)
}

/// Resolves as `require` does, or as `import` does if the third argument says so.
pub(super) fn resolve<'js>(
    ctx: Ctx<'js>,
    specifier: String,
    from: String,
    purpose: Opt<Option<String>>,
) -> Result<Object<'js>> {
    let purpose = match purpose.0.flatten().as_deref() {
        Some("import") => Purpose::Import,
        _ => Purpose::Require,
    };
    let found = Object::new(ctx.clone())?;
    match modules::resolve(Path::new(&from), &specifier, purpose) {
        Ok(Target::Internal(name)) => {
            found.set("kind", "internal")?;
            found.set("name", name)?;
        }
        Ok(Target::File(path)) => {
            let path = path.to_string_lossy().into_owned();
            let source = std::fs::read(&path).unwrap_or_default();
            // What is required is read next, and not by this crate's loader.
            modules::count(&ctx, &path, source.len())?;
            let format = modules::format(&ctx, &path, &String::from_utf8_lossy(&source))?;
            found.set("kind", "file")?;
            found.set("format", format.name())?;
            found.set("path", path)?;
        }
        Err(missing) => return Err(errors::missing(&ctx, &missing)),
    }
    Ok(found)
}

/// Makes a function of a file's text, so that stacks name the file. The text begins in the first line.
pub(super) fn compile_function<'js>(
    ctx: Ctx<'js>,
    source: String,
    file: String,
    parameters: Vec<String>,
) -> Result<Function<'js>> {
    modules::count(&ctx, &file, source.len())?;
    let code = modules::javascript(&ctx, &file, source)?;
    // A `#!` line is only one at the very beginning.
    let code = if code.starts_with("#!") { format!("//{code}") } else { code };
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(file.clone());
    let wrapped = format!("(function ({}) {{{code}\n}})", parameters.join(", "));
    ctx.eval_with_options(wrapped, options).map_err(|error| modules::explained(&ctx, &file, error))
}

pub(super) fn import_file<'js>(ctx: Ctx<'js>, path: String) -> Result<Object<'js>> {
    if !path.starts_with('/') {
        return Err(errors::coded(&ctx, "ERR_INVALID_ARG_VALUE", "importFile takes an absolute path"));
    }
    modules::import_now(&ctx, &path)
}

/// `import.meta.resolve`.
pub(in super::super) fn resolve_url(ctx: &Ctx<'_>, importer: &str, specifier: &str) -> Result<String> {
    match modules::resolve(Path::new(importer), specifier, Purpose::Import) {
        Ok(Target::Internal(name)) => {
            Ok(name.strip_prefix("node/").map_or(specifier.to_owned(), |name| format!("node:{name}")))
        }
        Ok(Target::File(path)) => Ok(url::Url::from_file_path(path).map(String::from).unwrap_or_default()),
        Err(missing) => Err(errors::missing(ctx, &missing)),
    }
}
