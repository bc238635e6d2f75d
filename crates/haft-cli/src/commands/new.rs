//! `haft new`: a first tool or plugin, in a file that works at once and that an editor understands without an install.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use haft_sandbox::{Content, Vouching};
use serde_json::json;

use crate::cli::{Globals, NewKind};
use crate::exit::{Exit, Failure};
use crate::setting::Setting;
use crate::terminal::Terminal;

const TOOL: &str = include_str!("new/tool.ts.txt");
const PLUGIN: &str = include_str!("new/plugin.ts.txt");
/// What an editor is told about the modules that haft brings.
const TYPES: &str = include_str!("new/types.d.ts.txt");

/// Where the types are, below the directory of configuration.
const TYPES_AT: &str = "types/haft.d.ts";

pub(crate) fn run(
    globals: &Globals,
    terminal: Terminal,
    kind: NewKind,
    name: &str,
    is_global: bool,
) -> Result<Exit, Failure> {
    let setting = Setting::load_anyway(globals, terminal)?;
    let (folder, text) = match kind {
        NewKind::Tool => ("tools", TOOL),
        NewKind::Plugin => ("plugins", PLUGIN),
    };
    haft::ToolName::parse(name).map_err(|error| {
        Failure::usage(error).hint("a name begins with a letter and has letters, digits, - and _")
    })?;
    let home = match is_global {
        true => setting.paths.config.clone(),
        false => setting.project().join(".opencode"),
    };
    if !is_global {
        refuse_links(&[&home, &home.join(folder), &home.join("types")])?;
    }
    let path = home.join(folder).join(format!("{name}.ts"));
    let custody = setting.paths.custody();
    create(&path, &text.replace("NAME", name), &custody)?;
    let types = home.join(TYPES_AT);
    if !types.exists() {
        create(&types, TYPES, &custody)?;
    }
    report(terminal, kind, name, &path, is_global || setting.is_trusted())
}

/// Refuses to write where a project's links lead: what is there is not this project's.
fn refuse_links(directories: &[&Path]) -> Result<(), Failure> {
    for directory in directories {
        if let Ok(to) = fs::read_link(directory) {
            let (from, to) = (directory.to_string_lossy(), to.to_string_lossy());
            let (from, to) = (haft::visible(&from), haft::visible(&to));
            return Err(Failure::usage(format_args!(
                "{from} is a link to {to}, and nothing is written through links"
            ))
            .hint("put a directory in its place, or make the file for all projects with --global"));
        }
    }
    Ok(())
}

/// Writes a file that must not be there yet. No command that runs meanwhile may make it, so it is said who does.
fn create(path: &Path, text: &str, custody: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let failure = Failure::usage(format_args!("could not create {}: {error}", path.display()));
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                failure.hint("choose another name, or remove the file first")
            }
            _ => failure,
        }
    };
    let real = really(path);
    let vouching = Vouching::begin(custody, vec![real.clone()]).map_err(failed)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(failed)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    vouching.finish(&[(real, Content::of(text.as_bytes()))]).map_err(failed)
}

/// Where a path leads that need not exist.
fn really(path: &Path) -> PathBuf {
    let known =
        path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    known.map_or_else(|| path.to_owned(), |(real, rest)| real.join(rest))
}

fn report(
    terminal: Terminal,
    kind: NewKind,
    name: &str,
    path: &PathBuf,
    runs: bool,
) -> Result<Exit, Failure> {
    if terminal.json {
        terminal.document(&json!({ "v": 1, "created": path }))?;
        return Ok(Exit::Ok);
    }
    terminal.line(&haft::visible(&path.to_string_lossy()))?;
    if matches!(kind, NewKind::Tool) && haft_tools::is_builtin(name) {
        terminal.note(&format!("it takes the place of the built-in {name}, here and for every agent"));
    }
    if !runs {
        terminal.note("this project is not trusted yet, so its code is not run: haft trust");
    }
    terminal.note(&match kind {
        NewKind::Tool => format!("try it: haft call {name} who=world"),
        NewKind::Plugin => "look at it: haft tools check".to_owned(),
    });
    Ok(Exit::Ok)
}
