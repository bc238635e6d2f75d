//! The modules of the engine: which there are, who may import which, and what was read for them.
//!
//! A file of the person is known by its real path, one of ours by `haft:` and its name. Only ours may import
//! `haft:` names, and with them the functions of Rust in `haft:ops`.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use rquickjs::loader::bundle::Bundle;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Module, Object, Persistent, Promise, Result};

mod builtin;
mod facade;
mod files;
mod package;
mod resolve;

use super::host::{Counter, host};
use super::ops::{Ops, errors};
use super::{Limits, rejections, typescript};
use crate::embedded;

pub(super) use files::{count, explained, format, javascript};
pub(super) use resolve::{Missing, Purpose, Target, resolve};

/// What the names of our own modules begin with.
const INTERNAL: &str = "haft:";

pub(super) struct Modules {
    files_max: usize,
    bytes_max: u64,
    bytes: u64,
    files: Vec<String>,
    entry: Option<String>,
    /// The text of TypeScript files, by which places in their JavaScript are found again.
    sources: HashMap<String, Rc<str>>,
    loaded: HashMap<String, Persistent<Object<'static>>>,
    /// Those of our own modules that anybody asked for.
    own: HashSet<String>,
    facades: facade::Facades,
    getters: Counter,
}

impl Modules {
    pub(super) fn new(limits: &Limits) -> Modules {
        Modules {
            files_max: limits.modules,
            bytes_max: limits.source_bytes,
            bytes: 0,
            files: Vec::new(),
            entry: None,
            sources: HashMap::new(),
            loaded: HashMap::new(),
            own: HashSet::new(),
            facades: facade::Facades::default(),
            getters: Counter::default(),
        }
    }

    /// Every file that was read, in the order it was.
    pub(super) fn files(&self) -> Vec<String> {
        self.files.clone()
    }

    pub(super) fn entry_file(&self) -> String {
        self.entry.clone().unwrap_or_default()
    }

    /// The place in a TypeScript file that a place in its JavaScript came from.
    pub(super) fn original(&self, file: &str, line: u32, column: u32) -> Option<(u32, u32)> {
        typescript::original(Path::new(file), self.sources.get(file)?, line, column)
    }

    /// Counts a file that was read; the error says which limit it broke.
    fn read(&mut self, file: &str, bytes: usize) -> std::result::Result<(), String> {
        if self.files.iter().any(|known| known == file) {
            return Ok(());
        }
        self.files.push(file.to_owned());
        self.bytes += bytes as u64;
        if self.files.len() > self.files_max {
            return Err(format!("more than {} modules: bundle the plugin into one file", self.files_max));
        }
        if self.bytes > self.bytes_max {
            let megabytes = self.bytes_max >> 20;
            return Err(format!("more than {megabytes} MiB of source text: bundle and minify the plugin"));
        }
        Ok(())
    }
}

/// Begins to evaluate the file that is served: its namespace, and a promise of its end.
pub(super) fn entry<'js>(ctx: &Ctx<'js>, file: &str) -> Result<(Object<'js>, Promise<'js>)> {
    let found = resolve::file(Path::new(file)).filter(|_| file.starts_with('/'));
    let Some(found) = found.and_then(|path| path.to_str().map(str::to_owned)) else {
        return Err(errors::missing(ctx, &no_such_file(file)));
    };
    host().modules.borrow_mut().entry = Some(found.clone());
    evaluate(ctx, &found)
}

/// One of our own modules, evaluated at its first use.
pub(super) fn internal<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let specifier = format!("{INTERNAL}{name}");
    if let Some(known) = known(ctx, &specifier) {
        return Ok(known);
    }
    let (namespace, promise) = evaluate(ctx, &specifier)?;
    if let Some(Err(error)) = promise.result::<()>() {
        rejections::forget(ctx, promise.as_value());
        return Err(error);
    }
    remember(ctx, specifier, namespace)
}

/// One of our own modules, if anybody asked for it before.
pub(super) fn internal_if_loaded<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Object<'js>> {
    let is_loaded = host().modules.borrow().own.contains(name);
    is_loaded.then(|| internal(ctx, name).ok()).flatten()
}

/// The namespace of an ES module of the person, for `require`, which cannot wait.
pub(super) fn import_now<'js>(ctx: &Ctx<'js>, file: &str) -> Result<Object<'js>> {
    if let Some(known) = known(ctx, file) {
        return Ok(known);
    }
    let (namespace, promise) = evaluate(ctx, file)?;
    match promise.result::<()>() {
        Some(Ok(())) => remember(ctx, file.to_owned(), namespace),
        Some(Err(error)) => {
            rejections::forget(ctx, promise.as_value());
            Err(error)
        }
        None => {
            let message = format!("{file} awaits at its top level and cannot be required; use import()");
            Err(errors::coded(ctx, "ERR_REQUIRE_ASYNC_MODULE", &message))
        }
    }
}

fn known<'js>(ctx: &Ctx<'js>, specifier: &str) -> Option<Object<'js>> {
    let known = host().modules.borrow().loaded.get(specifier).cloned();
    known.and_then(|namespace| namespace.restore(ctx).ok())
}

fn remember<'js>(ctx: &Ctx<'js>, specifier: String, namespace: Object<'js>) -> Result<Object<'js>> {
    let kept = Persistent::save(ctx, namespace.clone());
    host().modules.borrow_mut().loaded.insert(specifier, kept);
    Ok(namespace)
}

/// Evaluates a module by a small one that imports it: the engine has no other way to its namespace.
fn evaluate<'js>(ctx: &Ctx<'js>, specifier: &str) -> Result<(Object<'js>, Promise<'js>)> {
    let getter = format!("{INTERNAL}get:{}", host().modules.borrow().getters.next());
    let quoted = serde_json::Value::from(specifier);
    let source = format!("import * as m from {quoted}; export {{ m }};");
    let (module, promise) = Module::declare(ctx.clone(), getter, source)?.eval()?;
    Ok((module.namespace()?.get("m")?, promise))
}

/// Decides who may import what.
pub(super) struct FileResolver;

impl Resolver for FileResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if let Some(own) = base.strip_prefix(INTERNAL) {
            return resolve_own(ctx, own, name);
        }
        let importer =
            if base.starts_with('/') { base.to_owned() } else { host().modules.borrow().entry_file() };
        match resolve(Path::new(&importer), name, Purpose::Import) {
            Ok(Target::Internal(name)) => Ok(format!("{INTERNAL}{name}")),
            Ok(Target::File(path)) => match path.into_os_string().into_string() {
                Ok(path) => Ok(path),
                Err(path) => {
                    let message = format!("the path {} is not UTF-8", path.display());
                    Err(errors::coded(ctx, "ERR_INVALID_MODULE_SPECIFIER", &message))
                }
            },
            Err(missing) => Err(errors::missing(ctx, &missing)),
        }
    }
}

/// Our own files import each other by `haft:` names or by relative ones.
fn resolve_own(ctx: &Ctx<'_>, base: &str, name: &str) -> Result<String> {
    if name.starts_with(INTERNAL) || (base.starts_with("get:") && name.starts_with('/')) {
        return Ok(name.to_owned());
    }
    if !name.starts_with('.') {
        let found =
            builtin::fixed(name).and_then(std::result::Result::ok).or_else(|| builtin::brought_along(name));
        return match found {
            Some(Target::Internal(own)) => Ok(format!("{INTERNAL}{own}")),
            Some(Target::File(_)) | None => Err(errors::missing(ctx, &no_such_file(name))),
        };
    }
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    Ok(format!("{INTERNAL}{}", path.strip_suffix(".js").unwrap_or(&path)))
}

/// Reads and compiles what was resolved.
pub(super) struct FileLoader;

impl Loader for FileLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let Some(own) = name.strip_prefix(INTERNAL) else {
            let kind = attributes.and_then(|attributes| attributes.get_type().ok().flatten());
            return files::load(ctx, name, kind.as_deref());
        };
        if own == "ops" {
            return Module::declare_def::<Ops, _>(ctx.clone(), name);
        }
        match embedded::module(name) {
            Some(row) => {
                host().modules.borrow_mut().own.insert(own.to_owned());
                Bundle(row).load(ctx, name, None)
            }
            None => Err(errors::missing(ctx, &no_such_file(name))),
        }
    }
}

fn no_such_file(name: &str) -> Missing {
    Missing {
        module: name.to_owned(),
        message: format!("there is no file {name}"),
        fix: None,
        unsupported: false,
        importer: None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Modules};

    #[test]
    fn files_and_their_text_are_limited_and_counted_once() {
        let limits = Limits { modules: 2, source_bytes: 10 << 20, ..Limits::default() };
        let mut modules = Modules::new(&limits);
        assert!(modules.read("/a", 1).and_then(|()| modules.read("/a", 1)).is_ok());
        assert!(modules.read("/b", 20 << 20).is_err_and(|why| why.contains("10 MiB")));
        assert!(modules.read("/c", 1).is_err_and(|why| why.contains("2 modules")));
        assert_eq!(modules.files(), ["/a", "/b", "/c"]);
    }
}
