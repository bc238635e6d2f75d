//! Modules whose exports are values that exist already: what a CommonJS file exported, a JSON document, a text.

use std::collections::HashMap;

use rquickjs::module::{Declarations, Declared, Exports, ModuleDef};
use rquickjs::{Ctx, Error, Module, Object, Persistent, Result, Value};

use super::super::host::host;

#[derive(Default)]
pub(super) struct Facades(HashMap<String, Facade>);

struct Facade {
    value: Persistent<Value<'static>>,
    keys: Vec<String>,
}

/// Declares a module of which `value` is the default export and each of its keys another.
pub(super) fn declare<'js>(ctx: &Ctx<'js>, name: &str, value: Value<'js>) -> Result<Module<'js, Declared>> {
    let keys = value.as_object().map(|object| named(ctx, object)).unwrap_or_default();
    let facade = Facade { value: Persistent::save(ctx, value), keys };
    host().modules.borrow_mut().facades.0.insert(name.to_owned(), facade);
    Module::declare_def::<FacadeModule, _>(ctx.clone(), name)
}

/// The keys that can be names of exports.
fn named<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Vec<String> {
    if object.is_array() {
        return Vec::new();
    }
    let keys = object.keys::<String>().filter_map(|key| match key {
        Ok(key) => Some(key),
        Err(_) => {
            drop(ctx.catch());
            None
        }
    });
    keys.filter(|key| key != "default" && !key.contains('\0')).collect()
}

struct FacadeModule;

impl ModuleDef for FacadeModule {
    fn declare<'js>(declarations: &Declarations<'js>) -> Result<()> {
        let (_, keys) = of(declarations.module())?;
        declarations.declare("default")?;
        for key in keys {
            declarations.declare(key)?;
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let (value, keys) = of(exports.module())?;
        let value = value.restore(ctx)?;
        let object = value.as_object().cloned();
        // Compiled ES modules carry their own default export.
        let default = object.as_ref().and_then(|object| {
            let compiled = object.get::<_, bool>("__esModule").unwrap_or(false);
            let default = compiled && object.contains_key("default").unwrap_or(false);
            default.then(|| object.get::<_, Value<'_>>("default"))
        });
        exports.export("default", default.transpose()?.unwrap_or_else(|| value.clone()))?;
        for (key, object) in keys.into_iter().zip(std::iter::repeat(object).flatten()) {
            let value: Value<'_> = object.get(key.as_str())?;
            exports.export(key, value)?;
        }
        Ok(())
    }
}

fn of(module: &Module<'_, Declared>) -> Result<(Persistent<Value<'static>>, Vec<String>)> {
    let name: String = module.name()?;
    let host = host();
    let modules = host.modules.borrow();
    let facade = modules.facades.0.get(&name).ok_or(Error::Unknown)?;
    Ok((facade.value.clone(), facade.keys.clone()))
}
