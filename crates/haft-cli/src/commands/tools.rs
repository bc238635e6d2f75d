//! `haft tools`: what a model would be shown, and what each tool is.

mod check;

use haft::{Audience, Definition, Model, Viewer};
use serde_json::{Value, json};

use crate::cli::{ConsentArgs, Globals, ToolsCommand};
use crate::exit::{Exit, Failure};
use crate::location::{Life, Location, Mode};
use crate::plugins::{warn_of_faulty, why_missing};
use crate::setting::Setting;
use crate::terminal::Terminal;

pub(crate) async fn run(
    globals: &Globals,
    terminal: Terminal,
    command: Option<ToolsCommand>,
) -> Result<Exit, Failure> {
    let setting = Setting::load(globals, terminal)?;
    // Nothing is called, so nothing needs to be recorded.
    let location = Location::open(&setting, &ConsentArgs::default(), Mode::Rehearsal, Life::Conversation)?;
    match command.unwrap_or(ToolsCommand::List { all: false, model: None }) {
        ToolsCommand::List { all, model } => {
            let listed = list(&location, terminal, all, model.as_deref()).await;
            warn_of_faulty(&setting, location.plugins());
            listed
        }
        ToolsCommand::Show { tool } => show(&setting, &location, terminal, &tool).await,
        ToolsCommand::Check => check::run(&setting, &location).await,
    }
}

async fn list(
    location: &Location<'_>,
    terminal: Terminal,
    all: bool,
    model: Option<&str>,
) -> Result<Exit, Failure> {
    let audience = match (all, model) {
        (true, None) => Audience::Operator,
        (false, model) => {
            Audience::Model(Viewer { model: model.map(parse_model).transpose()?, ..location.viewer() })
        }
        (true, Some(_)) => return Err(Failure::usage("--all shows every tool and takes no --model")),
    };
    let turn = location.turn_for(audience).await?;
    if terminal.json {
        let tools: Vec<Value> = turn.definitions().iter().map(document).collect();
        terminal.document(&json!({ "v": 1, "tools": tools }))?;
        return Ok(Exit::Ok);
    }
    let width = turn.definitions().iter().map(|tool| tool.name.as_str().len()).max().unwrap_or(0);
    for tool in turn.definitions() {
        let summary = tool.description.lines().next().unwrap_or_default();
        terminal.line(&format!("{:width$}  {}", tool.name.as_str(), haft::visible(summary)))?;
    }
    Ok(Exit::Ok)
}

async fn show(
    setting: &Setting,
    location: &Location<'_>,
    terminal: Terminal,
    name: &str,
) -> Result<Exit, Failure> {
    let turn = location.turn_for(Audience::Operator).await?;
    let Some(tool) = turn.definitions().iter().find(|tool| tool.name.as_str() == name) else {
        let nearest = haft::nearest(name, turn.definitions().iter().map(|tool| tool.name.as_str()));
        let failure = Failure::new(Exit::Unknown, anyhow::anyhow!("there is no tool {name:?}"));
        if let Some(why) = why_missing(setting, location.plugins(), name) {
            return Err(failure.hint(why));
        }
        return Err(match nearest {
            Some(nearest) => failure.hint(format!("did you mean {nearest}?")),
            None => failure.hint("`haft tools list --all` names them all"),
        });
    };
    if terminal.json {
        let mut shown = document(tool);
        shown["v"] = 1.into();
        terminal.document(&shown)?;
        return Ok(Exit::Ok);
    }
    let style = terminal.out();
    terminal.line(&style.bold(tool.name.as_str()))?;
    terminal.foreign(&tool.description)?;
    terminal.line(&format!("\n{} {}", style.dim("permission"), tool.action))?;
    terminal.line(&format!("{}\n{:#}", style.dim("input"), tool.input.json()))?;
    terminal.line(&format!("{}\n{:#}", style.dim("output"), tool.output.json()))?;
    Ok(Exit::Ok)
}

fn document(tool: &Definition) -> Value {
    json!({
        "name": tool.name.as_str(),
        "description": tool.description,
        "permission": tool.action.as_str(),
        "input": **tool.input.json(),
        "output": **tool.output.json(),
    })
}

fn parse_model(raw: &str) -> Result<Model, Failure> {
    match raw.split_once('/') {
        Some((provider, id)) if !provider.is_empty() && !id.is_empty() => {
            Ok(Model { provider: provider.to_owned(), id: id.to_owned() })
        }
        _ => Err(Failure::usage(format_args!("{raw:?} is not a model"))
            .hint("write provider/model, such as openai/gpt-5")),
    }
}
