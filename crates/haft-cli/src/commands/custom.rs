//! `haft commands`: the custom commands that there are, and what one says.

use haft::{visible, visible_lines};
use serde_json::{Value, json};

use crate::cli::Globals;
use crate::config::{CustomCommand, FaultyCommand, StrangeCommand};
use crate::exit::{Exit, Failure};
use crate::setting::Setting;
use crate::terminal::Terminal;

/// What is said of commands that need the person's trust.
const NEEDS_TRUST: &str = "not trusted: haft trust";

/// What is said of commands that something is wrong with.
const LEFT_OUT: &str = "left out:";

pub(crate) fn run(globals: &Globals, terminal: Terminal, name: Option<&str>) -> Result<Exit, Failure> {
    let setting = Setting::load(globals, terminal)?;
    match name {
        None => list(&setting, terminal),
        Some(name) => show(&setting, terminal, name),
    }
}

fn list(setting: &Setting, terminal: Terminal) -> Result<Exit, Failure> {
    let (known, strange) = (setting.config.commands(), setting.config.strange_commands());
    if terminal.json {
        let known = known.iter().map(|command| document(setting, command));
        let left_out = setting.config.faulty_commands().iter().map(faulty);
        let commands: Vec<Value> = known.chain(strange.iter().map(untrusted)).chain(left_out).collect();
        terminal.document(&json!({ "v": 1, "commands": commands }))?;
        return Ok(Exit::Ok);
    }
    let style = terminal.out();
    let line = |name: &str, about: &str, place: &str| {
        let about = if about.is_empty() { String::new() } else { format!("{}  ", visible(about)) };
        terminal.line(&format!("{}  {about}{}", style.bold(&format!("/{}", visible(name))), style.dim(place)))
    };
    for command in &known {
        let about = setting.config.as_written(command.description.as_deref().unwrap_or_default());
        line(&command.name, &about, &command.place)?;
    }
    for StrangeCommand { name, place } in strange {
        line(name, NEEDS_TRUST, place)?;
    }
    for FaultyCommand { name, fault, .. } in setting.config.faulty_commands() {
        line(name, LEFT_OUT, &visible(fault.lines().next().unwrap_or_default()))?;
    }
    Ok(Exit::Ok)
}

fn show(setting: &Setting, terminal: Terminal, name: &str) -> Result<Exit, Failure> {
    let command = setting.config.command(name.strip_prefix('/').unwrap_or(name)).map_err(Failure::usage)?;
    let template = setting.config.as_written(&command.template);
    if terminal.json {
        let mut shown = document(setting, &command);
        shown["v"] = 1.into();
        shown["template"] = template.into();
        terminal.document(&shown)?;
        return Ok(Exit::Ok);
    }
    terminal.line(&format!("/{} ({})", visible(&command.name), command.place))?;
    let facts = [
        ("description", command.description.clone()),
        ("agent", command.agent.clone()),
        ("model", command.model.clone()),
        ("subtask", command.subtask.map(|subtask| subtask.to_string())),
    ];
    for (name, value) in facts.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        terminal.line(&format!("{name}: {}", visible(&setting.config.as_written(value))))?;
    }
    terminal.line(&format!("\n{}", visible_lines(&template)))?;
    Ok(Exit::Ok)
}

fn document(setting: &Setting, command: &CustomCommand) -> Value {
    setting.config.document_as_written(json!({
        "name": command.name,
        "description": command.description,
        "agent": command.agent,
        "model": command.model,
        "subtask": command.subtask,
        "place": command.place,
        "trusted": true,
    }))
}

fn untrusted(StrangeCommand { name, place }: &StrangeCommand) -> Value {
    json!({ "name": name, "place": place, "trusted": false })
}

fn faulty(FaultyCommand { name, fault, is_trusted }: &FaultyCommand) -> Value {
    json!({ "name": name, "trusted": is_trusted, "fault": fault })
}
