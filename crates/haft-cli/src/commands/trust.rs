//! `haft trust`: trusts a project's own configuration, lists what is trusted, withdraws trust.

use std::path::PathBuf;

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
            let project = project(globals, directory)?;
            let known = trust.remove(&project).map_err(|error| Failure::new(Exit::Defect, error))?;
            if !known {
                return Err(Failure::usage(format_args!("{} is not trusted", project.display())));
            }
            report(terminal, "forgotten", &project)
        }
        None => {
            let project = project(globals, directory)?;
            let added = if force { trust.add_by_force(&project) } else { trust.add(&project) };
            added.map_err(|error| Failure::new(Exit::Usage, error))?;
            report(terminal, "trusted", &project)
        }
    }
}

/// The project around a directory, with every symbolic link resolved.
fn project(globals: &Globals, directory: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let given = directory.or_else(|| globals.cwd.clone()).unwrap_or_else(|| PathBuf::from("."));
    let real = given.canonicalize();
    let real =
        real.map_err(|error| Failure::usage(format_args!("cannot find {}: {error}", given.display())))?;
    Ok(project_root(&real).unwrap_or(real))
}

fn list(trust: &Trust, terminal: Terminal) -> Result<Exit, Failure> {
    if terminal.json {
        let projects: Vec<Value> = trust
            .list()
            .iter()
            .map(|project| json!({ "path": project.path.to_string_lossy(), "at": project.at }))
            .collect();
        terminal.document(&json!({ "v": 1, "projects": projects }))?;
        return Ok(Exit::Ok);
    }
    for project in trust.list() {
        terminal.line(&haft::visible(&project.path.to_string_lossy()))?;
    }
    if trust.list().is_empty() {
        terminal.note("no project is trusted");
    }
    Ok(Exit::Ok)
}

fn report(terminal: Terminal, what: &str, project: &std::path::Path) -> Result<Exit, Failure> {
    match terminal.json {
        true => terminal.document(&json!({ "v": 1, what: project.to_string_lossy() }))?,
        false => terminal.line(&format!("{what}: {}", haft::visible(&project.to_string_lossy())))?,
    }
    Ok(Exit::Ok)
}
