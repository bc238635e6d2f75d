//! `haft skill`: lists skills and installs them.

use haft::visible;
use haft_tools::skills::{Installing, Owner, RemoteFetch, Skill, TIME_MAX, install};
use haft_tools::web::Web;
use serde_json::{Value, json};

use crate::cli::{Globals, SkillCommand};
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::setting::Setting;
use crate::skills;
use crate::terminal::Terminal;

pub(crate) async fn run(
    globals: &Globals,
    terminal: Terminal,
    command: SkillCommand,
) -> Result<Exit, Failure> {
    let setting = Setting::load(globals, terminal)?;
    match command {
        SkillCommand::List => list(&setting, terminal),
        SkillCommand::Install { source, replace } => add(&setting, terminal, source, replace).await,
    }
}

fn list(setting: &Setting, terminal: Terminal) -> Result<Exit, Failure> {
    let found = skills::of(setting).find();
    if terminal.json {
        let skills: Vec<Value> = found.skills.values().map(document).collect();
        terminal.document(&json!({ "v": 1, "skills": skills, "warnings": found.warnings }))?;
        return Ok(Exit::Ok);
    }
    let style = terminal.out();
    for skill in found.skills.values() {
        let description =
            skill.description.as_deref().unwrap_or("(without a description: not listed to models)");
        let file = skill.file.to_string_lossy();
        terminal.line(&format!("{}  {}", style.bold(&visible(&skill.name)), visible(description)))?;
        terminal.line(&format!("  {}", style.dim(&visible(&file))))?;
    }
    for warning in &found.warnings {
        terminal.say(&format!("{} {warning}", terminal.err().yellow("warning:")));
    }
    if found.skills.is_empty() {
        terminal.note("no skill was found");
    }
    Ok(Exit::Ok)
}

fn document(skill: &Skill) -> Value {
    let owner = match &skill.owner {
        Owner::Person => "person",
        Owner::Project { is_trusted: true, .. } => "project",
        Owner::Project { is_trusted: false, .. } => "untrusted project",
    };
    json!({
        "name": skill.name,
        "description": skill.description,
        "file": skill.file.to_string_lossy(),
        "owner": owner,
    })
}

async fn add(
    setting: &Setting,
    terminal: Terminal,
    source: Option<String>,
    replaces: bool,
) -> Result<Exit, Failure> {
    let sources = match source {
        Some(source) if source.contains("://") => vec![source],
        Some(source) => vec![setting.directory.join(source).to_string_lossy().into_owned()],
        None => setting.config.skill_urls(),
    };
    if sources.is_empty() {
        return Err(Failure::usage("there is nothing to install")
            .hint("name a directory or an address, or configure skills.urls"));
    }
    let into = skills::installed(setting);
    std::fs::create_dir_all(&into)?;
    let fetch = RemoteFetch::new(Web::new(environment::proxies(setting)));
    let progress = |text: &str| terminal.note(text);
    let how = Installing { fetch: &fetch, into: &into, replaces, time_max: TIME_MAX, progress: &progress };
    let mut installed = Vec::new();
    for source in &sources {
        let done = install(&how, source).await;
        installed.extend(done.map_err(|error| Failure::new(Exit::Failed, error))?);
    }
    if terminal.json {
        let skills: Vec<Value> = installed
            .iter()
            .map(|one| json!({ "name": one.name, "version": one.version, "changed": one.is_new }))
            .collect();
        terminal.document(&json!({ "v": 1, "installed": skills }))?;
        return Ok(Exit::Ok);
    }
    for skill in &installed {
        let what = if skill.is_new { "installed" } else { "up to date" };
        terminal.line(&format!("{} {what}", visible(&skill.name)))?;
    }
    Ok(Exit::Ok)
}
