//! `haft trust`: trusts the configuration and the code of a directory, lists what is trusted, withdraws trust.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::{Globals, TrustCommand};
use crate::exit::{Exit, Failure};
use crate::paths::{Env, Paths, project_root};
use crate::terminal::Terminal;
use crate::trust::Trust;

pub(crate) fn run(
    globals: &Globals,
    terminal: Terminal,
    command: Option<TrustCommand>,
    directory: Option<PathBuf>,
    force: bool,
) -> Result<Exit, Failure> {
    let env = Env::real();
    let paths = Paths::from_env(&env).map_err(|error| Failure::new(Exit::Usage, error))?;
    let mut trust = Trust::load(&paths, &env).map_err(|error| Failure::new(Exit::Usage, error))?;
    match command {
        Some(TrustCommand::List) => list(&trust, terminal),
        Some(TrustCommand::Forget { directory }) => {
            let project = forgotten(globals, &trust, directory)?;
            let known = trust.remove(&project).map_err(|error| Failure::new(Exit::Defect, error))?;
            if !known {
                return Err(Failure::usage(format_args!("{} is not trusted", project.display())));
            }
            for left in trust.list().iter().filter(|left| left.agreed.path.starts_with(&project)) {
                let left = haft::visible(&left.agreed.path.to_string_lossy());
                terminal
                    .note(&format!("note: {left} is still trusted for itself (haft trust forget {left})"));
            }
            report(terminal, "forgotten", &project)
        }
        None => {
            let project = meant(globals, &trust, directory)?;
            let added = if force { trust.add_by_force(&project) } else { trust.add(&project) };
            added.map_err(|error| Failure::new(Exit::Usage, error))?;
            report(terminal, "trusted", &project)
        }
    }
}

/// What is to be trusted, with every symbolic link resolved: the directory that is named, or else the project around the
/// working directory. Where that is trusted already it is the working directory itself.
fn meant(globals: &Globals, trust: &Trust, directory: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let is_named = directory.is_some();
    let real = found(globals, directory)?;
    let is_trusted = |root: &Path| trust.is_recorded(root) && trust.stranger(root).is_none();
    match project_root(&real) {
        Some(root) if !is_named && !is_trusted(&root) => Ok(root),
        Some(_) | None => Ok(real),
    }
}

/// What is to be trusted no longer. It need not be there any more.
fn forgotten(globals: &Globals, trust: &Trust, directory: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let is_named = directory.is_some();
    let given = given(globals, directory.clone());
    if is_named
        && !given.exists()
        && let Ok(gone) = std::path::absolute(&given)
    {
        return Ok(gone);
    }
    let real = found(globals, directory)?;
    match project_root(&real) {
        Some(root) if !is_named && !trust.is_recorded(&real) => Ok(root),
        Some(_) | None => Ok(real),
    }
}

fn given(globals: &Globals, directory: Option<PathBuf>) -> PathBuf {
    let base = globals.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    match directory {
        Some(directory) => base.join(directory),
        None => base,
    }
}

fn found(globals: &Globals, directory: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let given = given(globals, directory);
    let real = given.canonicalize();
    let real =
        real.map_err(|error| Failure::usage(format_args!("cannot find {}: {error}", given.display())))?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(Failure::usage(format_args!("{} is not a directory", given.display()))),
    }
}

fn list(trust: &Trust, terminal: Terminal) -> Result<Exit, Failure> {
    if terminal.json {
        let projects: Vec<Value> = trust
            .list()
            .iter()
            .map(|project| json!({ "path": project.agreed.path.to_string_lossy(), "at": project.at }))
            .collect();
        terminal.document(&json!({ "v": 1, "projects": projects }))?;
        return Ok(Exit::Ok);
    }
    for project in trust.list() {
        let shown = haft::visible(&project.agreed.path.to_string_lossy());
        terminal.line(&shown)?;
        if let Some(stranger) = project.agreed.stranger() {
            terminal.note(&format!(
                "note: {shown} belongs to {stranger} now and is not believed (haft trust {shown}, if it should be)"
            ));
        }
    }
    if trust.list().is_empty() {
        terminal.note("no project is trusted");
    }
    Ok(Exit::Ok)
}

fn report(terminal: Terminal, what: &str, project: &Path) -> Result<Exit, Failure> {
    match terminal.json {
        true => terminal.document(&json!({ "v": 1, what: project.to_string_lossy() }))?,
        false => terminal.line(&format!("{what}: {}", haft::visible(&project.to_string_lossy())))?,
    }
    Ok(Exit::Ok)
}
