//! `haft tools check`: each file with custom tools or plugins by itself, what it offers, and what is wrong with it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use haft::{Audience, Model, Viewer};
use haft_plugin::{AuthOffer, Fault, Outcome, Report, Role, Unused};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::location::Location;
use crate::setting::Setting;
use crate::terminal::Terminal;

/// The hooks that haft calls. Others are reported, because nothing comes of them.
const CALLED: &[&str] = &[
    "auth",
    "chat.headers",
    "chat.message",
    "chat.params",
    "command.execute.before",
    "config",
    "dispose",
    "event",
    "experimental.chat.messages.transform",
    "experimental.chat.system.transform",
    "experimental.compaction.autocontinue",
    "experimental.session.compacting",
    "experimental.text.complete",
    "permission.ask",
    "provider",
    "shell.env",
    "tool",
    "tool.definition",
    "tool.execute.after",
    "tool.execute.before",
];

/// Checks everything that can be offered, and says of each file what became of it.
pub(super) async fn run(setting: &Setting, location: &Location<'_>) -> Result<Exit, Failure> {
    let (terminal, directory) = (setting.terminal, &setting.directory);
    // A model of no particular provider: what is checked for every one is checked.
    let model = Model { provider: "any".to_owned(), id: "any".to_owned() };
    let everything = BTreeSet::from(["batch", "exa", "lsp", "parallel", "plan"].map(str::to_owned));
    let viewer = Viewer { model: Some(model), flags: everything, ..location.viewer() };
    // Whoever asks what is wrong wants to know how it is now.
    location.plugins().try_again();
    let unprepared = location.turn_for(Audience::Model(viewer)).await.err();
    let turn = location.turn_for(Audience::Operator).await?;
    let mut reports = location.plugins().reports();
    reports.iter_mut().for_each(|report| as_written(setting, report));
    let errors = reports.iter().map(errors).sum::<usize>() + usize::from(unprepared.is_some());
    let tools = turn.definitions().len();
    let unprepared = unprepared.map(|failure| format!("{:#}", failure.error));
    if terminal.json {
        let files: Vec<Value> = reports.iter().map(document).collect();
        terminal.document(
            &json!({ "v": 1, "tools": tools, "errors": errors, "unprepared": unprepared, "files": files }),
        )?;
    } else {
        for report in &reports {
            print(report, directory, terminal)?;
        }
        if let Some(why) = &unprepared {
            let style = terminal.out();
            terminal.line(&format!("{}  no model can be told of the tools", style.red("FAIL")))?;
            terminal.line(&format!("      {}", haft::visible(why)))?;
        }
        let tail = match errors {
            0 => String::new(),
            1 => ", 1 error; the other tools are not affected".to_owned(),
            several => format!(", {several} errors; the other tools are not affected"),
        };
        terminal.line(&format!("{tools} tools{tail}"))?;
    }
    Ok(if errors == 0 { Exit::Ok } else { Exit::Usage })
}

/// Takes out of a report what the configuration took from elsewhere, and passwords in addresses.
fn as_written(setting: &Setting, report: &mut Report) {
    let path = |path: &mut PathBuf| {
        if let Some(text) = path.to_str() {
            *path = setting.config.without_secrets(text).into();
        }
    };
    path(&mut report.source);
    if let Outcome::Faulty(fault) = &mut report.outcome {
        fault.message = setting.config.without_secrets(&fault.message);
        fault.fix = fault.fix.as_deref().map(|fix| setting.config.without_secrets(fix));
        fault.file.iter_mut().for_each(path);
    }
}

fn errors(report: &Report) -> usize {
    match &report.outcome {
        Outcome::Served { faults, .. } => faults.len(),
        Outcome::Faulty(_) => 1,
        Outcome::Untrusted => 0,
    }
}

fn print(report: &Report, directory: &Path, terminal: Terminal) -> Result<(), Failure> {
    let style = terminal.out();
    let source = shown(&report.source, directory);
    match &report.outcome {
        Outcome::Served { engine, tools, hooks, auth, models, skipped, faults } => {
            let offers = offers(tools, &told_hooks(hooks, auth, models), report.role);
            let mark = if faults.is_empty() { style.green("ok  ") } else { style.red("FAIL") };
            terminal.line(&format!("{mark}  {source}  {offers}  {}", style.dim(engine.as_str())))?;
            for Unused { export, why, place } in skipped {
                let line = format!(
                    "{}  {}  {} {}",
                    style.dim("skip"),
                    placed(&source, *place),
                    haft::visible(export),
                    haft::visible(why)
                );
                terminal.line(&line)?;
            }
            for hook in hooks.iter().filter(|hook| !CALLED.contains(&hook.as_str())) {
                let line =
                    format!("the hook {} is never called: haft has no such feature", haft::visible(hook));
                terminal.line(&format!("{}  {source}  {line}", style.yellow("note")))?;
            }
            faults.iter().try_for_each(|fault| {
                if fault.place.is_some() {
                    terminal.line(&format!("      {}", placed(&source, fault.place)))?;
                }
                explain(fault, terminal)
            })
        }
        Outcome::Faulty(fault) => {
            let file = fault.file.as_ref().map_or(source, |file| shown(file, directory));
            terminal.line(&format!("{}  {}", style.red("FAIL"), placed(&file, fault.place)))?;
            explain(fault, terminal)
        }
        Outcome::Untrusted => terminal.line(&format!(
            "{}  {source}  its directory is not trusted, so its code is not run (haft trust)",
            style.dim("skip")
        )),
    }
}

fn explain(fault: &Fault, terminal: Terminal) -> Result<(), Failure> {
    for line in fault.message.lines() {
        terminal.line(&format!("      {}", haft::visible(line)))?;
    }
    fault.fix.as_ref().map_or(Ok(()), |fix| terminal.line(&format!("      fix: {}", haft::visible(fix))))
}

/// What hooks there are. Those that are no functions are told by what they offer.
fn told_hooks(hooks: &[String], auth: &[AuthOffer], models: &[String]) -> Vec<String> {
    let are_objects = ["auth", "provider"];
    let functions = hooks.iter().filter(|hook| !are_objects.contains(&hook.as_str()));
    let functions = functions.map(|hook| format!("({hook})"));
    let auth = auth.iter().map(|offer| {
        let methods = offer.methods.len();
        format!("auth for {} ({methods} method{})", offer.provider, if methods == 1 { "" } else { "s" })
    });
    let models = models.iter().map(|provider| format!("models for {provider}"));
    functions.chain(auth).chain(models).collect()
}

fn offers(tools: &[String], hooks: &[String], role: Role) -> String {
    let nothing = match role {
        Role::Tools | Role::Table => "no tools",
        Role::Plugin => "no tools and no hooks",
    };
    let all: Vec<String> = tools.iter().chain(hooks).map(|name| haft::visible(name)).collect();
    if all.is_empty() { nothing.to_owned() } else { all.join(", ") }
}

/// A file with the place in it, as editors take it.
fn placed(file: &str, place: Option<(u32, u32)>) -> String {
    place.map_or_else(|| file.to_owned(), |(line, column)| format!("{file}:{line}:{column}"))
}

fn shown(path: &Path, directory: &Path) -> String {
    haft::visible(&path.strip_prefix(directory).unwrap_or(path).to_string_lossy())
}

fn skip(Unused { export, why, place }: &Unused) -> Value {
    let (line, column) = place.unzip();
    json!({ "export": export, "why": why, "line": line, "column": column })
}

fn document(report: &Report) -> Value {
    let fault = |fault: &Fault| {
        let (line, column) = fault.place.unzip();
        json!({ "message": fault.message, "file": fault.file, "line": line, "column": column, "fix": fault.fix })
    };
    let role = match report.role {
        Role::Tools | Role::Table => "tool",
        Role::Plugin => "plugin",
    };
    let mut told = json!({ "source": report.source, "as": role });
    match &report.outcome {
        Outcome::Served { engine, tools, hooks, auth, models, skipped, faults } => {
            let uncalled: Vec<&String> =
                hooks.iter().filter(|hook| !CALLED.contains(&hook.as_str())).collect();
            let skipped: Vec<Value> = skipped.iter().map(skip).collect();
            told["status"] = if faults.is_empty() { "ok".into() } else { "error".into() };
            told["engine"] = engine.as_str().into();
            told["tools"] = json!(tools);
            told["hooks"] = json!(hooks);
            told["auth"] = auth
                .iter()
                .map(|offer| {
                    let labels: Vec<&str> =
                        offer.methods.iter().map(|method| method.label.as_str()).collect();
                    json!({ "provider": offer.provider, "methods": labels })
                })
                .collect();
            told["models"] = json!(models);
            told["uncalled"] = json!(uncalled);
            told["skipped"] = json!(skipped);
            told["errors"] = faults.iter().map(fault).collect();
        }
        Outcome::Faulty(found) => {
            told["status"] = "error".into();
            told["errors"] = json!([fault(found)]);
        }
        Outcome::Untrusted => told["status"] = "untrusted".into(),
    }
    told
}
