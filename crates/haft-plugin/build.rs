//! Builds the JavaScript of this crate in: every file under `js/` is compiled to the engine's bytecode, so that a
//! plugin's process does not parse it at each start. What other runtimes need as text is kept as text.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{CatchResultExt as _, Context, Ctx, Module, Runtime, WriteOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("js");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    let mut named = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        named.push((name.strip_suffix(".js").unwrap_or(&name).to_owned(), file));
    }
    // The tables are searched by name.
    named.sort();
    let mut texts = String::from("static TEXTS: &[(&str, &str)] = &[\n");
    let mut modules = String::from("static MODULES: &[(&str, &[u8])] = &[\n");
    for (at, (name, file)) in named.iter().enumerate() {
        let is_script = file.extension().is_some_and(|extension| extension == "js");
        if !is_script || ["bun/", "host/", "plugin/", "zod/"].iter().any(|folder| name.starts_with(folder)) {
            writeln!(texts, "    ({name:?}, include_str!({:?})),", file.display().to_string())?;
        }
        if is_script {
            let bytecode = out.join(format!("{at}.bin"));
            fs::write(&bytecode, compile(name, &fs::read_to_string(file)?)?)?;
            writeln!(
                modules,
                "    (\"haft:{name}\", include_bytes!({:?})),",
                bytecode.display().to_string()
            )?;
        }
    }
    fs::write(out.join("embedded.rs"), format!("{texts}];\n{modules}];\n"))?;
    Ok(())
}

fn compile(name: &str, source: &str) -> Result<Vec<u8>, String> {
    let failed = |error: rquickjs::Error| error.to_string();
    let runtime = Runtime::new().map_err(failed)?;
    runtime.set_loader(Anything, Anything);
    let context = Context::full(&runtime).map_err(failed)?;
    context.with(|ctx| {
        let options = WriteOptions { strip_source: true, ..WriteOptions::default() };
        Module::declare(ctx.clone(), format!("haft:{name}"), source)
            .and_then(|module| module.write(options))
            .catch(&ctx)
            .map_err(|error| format!("js/{name}.js: {error}"))
    })
}

/// What a file imports is found when the engine runs; here every name will do.
struct Anything;

impl Resolver for Anything {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        _: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        Ok(format!("imported:{name}"))
    }
}

impl Loader for Anything {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        Module::declare(ctx.clone(), name, "")
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "js" || extension == "mjs") {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    Ok(())
}
