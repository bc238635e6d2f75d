//! `haft agents`: who can work, and what an agent is told before it begins.

use haft::{visible, visible_lines};
use serde_json::{Value, json};

use crate::cli::{ConsentArgs, Globals};
use crate::config::Agent;
use crate::exit::{Exit, Failure};
use crate::location::{Life, Location, Mode};
use crate::setting::Setting;
use crate::terminal::Terminal;

pub(crate) async fn run(
    globals: &Globals,
    terminal: Terminal,
    name: Option<String>,
) -> Result<Exit, Failure> {
    match name {
        None => list(&Setting::load(globals, terminal)?, terminal),
        Some(name) => {
            let globals = Globals { agent: Some(name), ..globals.clone() };
            show(&Setting::load(&globals, terminal)?, terminal).await
        }
    }
}

fn list(setting: &Setting, terminal: Terminal) -> Result<Exit, Failure> {
    let agents: Vec<Agent> = setting.config.agents().into_iter().filter(|agent| !agent.hidden).collect();
    if terminal.json {
        let agents: Vec<Value> = agents.iter().map(|agent| document(setting, agent)).collect();
        terminal.document(&json!({ "v": 1, "agents": agents }))?;
        return Ok(Exit::Ok);
    }
    let style = terminal.out();
    for agent in &agents {
        let description =
            visible(&setting.config.as_written(agent.description.as_deref().unwrap_or_default()));
        terminal.line(&format!(
            "{}  {}  {description}",
            style.bold(&visible(&agent.name)),
            agent.mode.as_str()
        ))?;
    }
    Ok(Exit::Ok)
}

/// Shows an agent with its prompt and the instructions that follow it.
async fn show(setting: &Setting, terminal: Terminal) -> Result<Exit, Failure> {
    let agent = setting
        .config
        .agent(setting.agent.as_str())
        .map_err(|error| setting.as_written(Failure::new(Exit::Usage, error)))?;
    let location = Location::open(setting, &ConsentArgs::default(), Mode::Live, Life::OneCall)?;
    let loaded = location.instructions(setting).await?;
    location.close().await;
    let paths: Vec<String> =
        loaded.instructions.iter().map(|one| one.path.to_string_lossy().into_owned()).collect();
    if terminal.json {
        let mut shown = document(setting, &agent);
        shown["v"] = 1.into();
        shown["prompt"] = json!(agent.prompt);
        shown["instructions"] = json!(paths);
        shown["warnings"] = json!(loaded.warnings);
        terminal.document(&shown)?;
        return Ok(Exit::Ok);
    }
    terminal.line(&format!("{} ({})", visible(&agent.name), agent.mode.as_str()))?;
    let facts = [
        ("description", agent.description.clone()),
        ("model", agent.model.clone()),
        ("variant", agent.variant.clone()),
        ("steps", agent.steps.map(|steps| steps.to_string())),
        ("temperature", agent.temperature.map(|number| number.to_string())),
        ("top_p", agent.top_p.map(|number| number.to_string())),
        ("options", (!agent.options.is_empty()).then(|| json!(agent.options).to_string())),
    ];
    for (name, value) in facts.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        terminal.line(&format!("{name}: {}", visible(&setting.config.as_written(value))))?;
    }
    for path in &paths {
        terminal.line(&format!("instructions: {}", visible(path)))?;
    }
    for warning in &loaded.warnings {
        terminal.say(&format!("{} {warning}", terminal.err().yellow("warning:")));
    }
    if let Some(prompt) = &agent.prompt {
        terminal.line(&format!("\n{}", visible_lines(prompt)))?;
    }
    Ok(Exit::Ok)
}

fn document(setting: &Setting, agent: &Agent) -> Value {
    setting.config.document_as_written(json!({
        "name": agent.name,
        "mode": agent.mode.as_str(),
        "description": agent.description,
        "model": agent.model,
        "variant": agent.variant,
        "steps": agent.steps,
        "temperature": agent.temperature,
        "top_p": agent.top_p,
        "options": agent.options,
    }))
}
