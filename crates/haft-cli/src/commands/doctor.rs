//! `haft doctor`: looks at everything haft depends on here, and says what is wrong.

mod journal;

use std::path::Path;

use haft::visible;
use haft_sandbox::Sandbox;
use haft_tools::{KnownServer, Languages};
use serde_json::{Value, json};

use crate::cli::{ConsentArgs, Globals};
use crate::commands::when::size;
use crate::config::{LanguageWords, Standing};
use crate::exit::{Exit, Failure};
use crate::location::{Life, Location, Mode, open_store, ruleset};
use crate::setting::Setting;
use crate::terminal::Terminal;

/// One thing that was looked at.
struct Finding {
    about: &'static str,
    ok: bool,
    text: String,
    /// What the text says, for programs.
    facts: Option<Value>,
}

impl Finding {
    fn new(about: &'static str, result: Result<String, Failure>) -> Finding {
        match result {
            Ok(text) => Finding::said(about, true, text),
            Err(failure) => Finding::said(about, false, failure.message()),
        }
    }

    fn said(about: &'static str, ok: bool, text: String) -> Finding {
        Finding { about, ok, text, facts: None }
    }
}

pub(crate) async fn run(globals: &Globals, terminal: Terminal) -> Result<Exit, Failure> {
    let (setting, fault) = match Setting::load_or_persons(globals, terminal) {
        Ok(loaded) => loaded,
        Err(failure) => {
            let exit = failure.exit;
            show(terminal, &[Finding::new("setting", Err(failure))])?;
            return Ok(exit);
        }
    };
    let exit = fault.as_ref().map_or(Exit::Defect, |fault| fault.exit);
    // What follows is then said of the person's own configuration alone.
    let fault = fault.map(|fault| Finding::new("setting", Err(fault)));
    let mut findings = vec![
        Finding::new("version", Ok(env!("CARGO_PKG_VERSION").to_owned())),
        Finding::new("project", Ok(project(&setting))),
        Finding::new("config", Ok(config(&setting))),
        Finding::new("rules", rules(&setting)),
        Finding::new("tools", tools(&setting).await),
        Finding::new("store", store(&setting)),
        journal(&setting),
        sandbox(&setting),
        Finding::new("plugins", plugins(&setting)),
    ];
    findings.splice(0..0, fault);
    findings.extend(skills(&setting));
    findings.extend(servers(&setting));
    let warnings = setting.config.warnings().iter();
    findings.extend(warnings.map(|warning| Finding::said("warning", true, warning.to_string())));
    for finding in &mut findings {
        finding.text = setting.config.as_written(&finding.text);
    }
    show(terminal, &findings)?;
    Ok(if findings.iter().all(|finding| finding.ok) { Exit::Ok } else { exit })
}

fn show(terminal: Terminal, findings: &[Finding]) -> Result<(), Failure> {
    let sound = findings.iter().all(|finding| finding.ok);
    if terminal.json {
        let findings: Vec<Value> = findings
            .iter()
            .map(|Finding { about, ok, text, facts }| match facts {
                None => json!({ "about": about, "ok": ok, "text": text }),
                Some(facts) => json!({ "about": about, "ok": ok, "text": text, "facts": facts }),
            })
            .collect();
        return terminal.document(&json!({ "v": 1, "ok": sound, "findings": findings }));
    }
    let style = terminal.out();
    findings.iter().try_for_each(|finding| {
        let mark = if finding.ok { style.green("ok  ") } else { style.red("FAIL") };
        terminal.line(&format!("{mark} {:8} {}", finding.about, haft::visible_lines(&finding.text)))
    })
}

/// What confines commands here. That less than everything does is no fault of haft's, but it must be known.
fn sandbox(setting: &Setting) -> Finding {
    let sandbox = match crate::environment::level_max(setting) {
        Ok(level) => Sandbox::probe().at_most(level),
        Err(failure) => return Finding::new("sandbox", Err(failure)),
    };
    let configured = match setting.config.sandbox().profile {
        Some("full-access" | "off") => "switched off by the configuration; this machine could: ",
        _ => "",
    };
    Finding::said("sandbox", true, format!("{configured}{}", sandbox.report()))
}

/// What would run the code of plugins in the embedded engine.
fn plugins(setting: &Setting) -> Result<String, Failure> {
    let is_writable = !crate::environment::processes(setting)?.has_helper;
    Ok(match crate::plugins::host_beside(is_writable) {
        Ok(path) => format!("run by {}", path.display()),
        Err(why) => format!("run by haft itself (haft-host would start sooner: {why})"),
    })
}

/// The skills that are found. One that cannot be read is a mistake of its author, but must be known.
fn skills(setting: &Setting) -> Vec<Finding> {
    let found = crate::skills::of(setting).find();
    let names: Vec<&str> = found.skills.keys().map(String::as_str).collect();
    let names = if names.is_empty() { "none".to_owned() } else { visible(&names.join(", ")) };
    let warnings = found.warnings.into_iter().map(|text| Finding::said("warning", true, text));
    std::iter::once(Finding::said("skills", true, names)).chain(warnings).collect()
}

/// The language servers that are found, and how to get those that are not but are for a file in the project's root.
fn servers(setting: &Setting) -> Vec<Finding> {
    let finding = |ok: bool, text: String| vec![Finding::said("lsp", ok, text)];
    let location = Location::open(setting, &ConsentArgs::default(), Mode::Rehearsal, Life::OneCall);
    let location = match location {
        Ok(location) => location,
        Err(failure) => return vec![Finding::new("lsp", Err(failure))],
    };
    let servers = match location.languages() {
        Languages::On(servers) => servers.list(),
        Languages::Off => return finding(true, "switched off by the configuration".to_owned()),
        Languages::Untrusted => {
            return finding(true, "no language server is started before the project is trusted".to_owned());
        }
    };
    let told = match setting.config.languages() {
        LanguageWords::On(_) => "asked after every change",
        LanguageWords::Silence | LanguageWords::Off => {
            "asked by the tool; \"lsp\": true asks after every change"
        }
    };
    let is_there = |server: &&KnownServer| server.program.is_some();
    let found: Vec<String> = servers
        .iter()
        .filter(is_there)
        .map(|server| format!("{} ({})", server.name, server.extensions.join(" ")))
        .collect();
    let found = if found.is_empty() { "none found".to_owned() } else { found.join(", ") };
    let mut findings = finding(true, format!("{}; {told}", visible(&found)));
    let names = file_names(&setting.directory);
    for server in servers.iter().filter(|server| !is_there(server)) {
        let is_for = |name: &String| server.extensions.iter().any(|ending| name.ends_with(ending.as_str()));
        let is_configured = server.install.is_empty();
        if is_configured || names.iter().any(is_for) {
            let program = server.command.split(' ').next().unwrap_or_default();
            let how = if is_configured { "check lsp in the configuration" } else { server.install.as_str() };
            let text = format!("{} is missing ({program} was not found): {how}", server.name);
            findings.push(Finding::said("lsp", !is_configured, visible(&text)));
        }
    }
    findings
}

/// The names of files that are likely to be worked on: in a directory and those right below it.
fn file_names(directory: &Path) -> Vec<String> {
    const NAMES_MAX: usize = 2000;
    let listed = |directory: &Path| std::fs::read_dir(directory).into_iter().flatten().flatten();
    let below = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|found| found.is_dir());
    let directories = listed(directory).filter(below).map(|entry| entry.path());
    let all = listed(directory).chain(directories.flat_map(|directory| listed(&directory)));
    all.take(NAMES_MAX).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn project(setting: &Setting) -> String {
    let trust =
        if setting.is_trusted() { "trusted" } else { "not trusted: its configuration can only narrow" };
    format!("{} ({trust})", visible(&setting.project().to_string_lossy()))
}

fn config(setting: &Setting) -> String {
    let sources = setting.config.sources();
    if sources.is_empty() {
        return "no configuration; the defaults hold".to_owned();
    }
    let one = |source: &crate::config::ReadSource| {
        let note = match source.standing {
            Standing::Full => "",
            Standing::Narrowing => " (only narrows)",
            Standing::Around => " (only narrows: it lies around the project)",
        };
        format!("{}{note}", visible(&source.name))
    };
    sources.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn rules(setting: &Setting) -> Result<String, Failure> {
    let rules = ruleset(setting, &ConsentArgs::default())?;
    let agents: Vec<String> = setting.config.agent_names().into_iter().collect();
    let agents = visible(&agents.join(", "));
    Ok(format!("{} rules for {} (agents: {agents})", rules.rules().count(), setting.agent))
}

async fn tools(setting: &Setting) -> Result<String, Failure> {
    let location = Location::open(setting, &ConsentArgs::default(), Mode::Rehearsal, Life::OneCall)?;
    let turn = location.turn().await?;
    let names: Vec<&str> = turn.definitions().iter().map(|tool| tool.name.as_str()).collect();
    Ok(names.join(", "))
}

fn store(setting: &Setting) -> Result<String, Failure> {
    let store = open_store(setting)?;
    let usage = store.usage()?;
    store.try_writing()?;
    let directory = visible(&store.data_dir().to_string_lossy());
    match store.check()?.as_slice() {
        [] => {
            Ok(format!("{directory}, whole, {} calls, {} of outputs", usage.calls, size(usage.outputs_bytes)))
        }
        problems => Err(Failure::new(Exit::Defect, anyhow::anyhow!("{directory}: {}", problems.join("; ")))),
    }
}

/// Whether what is kept to undo changes with can be given back.
fn journal(setting: &Setting) -> Finding {
    let health = open_store(setting).and_then(|store| Ok(store.journal_health()?));
    match health {
        Ok(health) => Finding {
            facts: Some(journal::facts(&health)),
            ..Finding::said("journal", health.is_whole(), visible(&journal::text(&health)))
        },
        Err(failure) => Finding::new("journal", Err(failure)),
    }
}
