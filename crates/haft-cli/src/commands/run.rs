//! `haft run`: has an agent work on something.

use std::io::IsTerminal;
use std::sync::Arc;

use haft::{AgentId, SessionId, Transcript};
use haft_agent::Start;
use haft_store::{SessionRow, Store};
use haft_tools::Workspace;

use crate::agency;
use crate::cli::{ConsentArgs, Globals, OnAsk, RunArgs};
use crate::exit::{Exit, Failure, of_open_error};
use crate::location::{self, Life, Location, Mode};
use crate::plugins;
use crate::run::{
    Attacher, Desk, Draft, Face, Format, Invocation, Manner, NamedCalls, Naming, News, Performer, Run,
    Showing, Stay, Typed, Wire, stdin_text,
};
use crate::setting::Setting;
use crate::terminal::Terminal;

/// So much of a prompt is a session's title.
const TITLE_CHARS_MAX: usize = 60;
/// The title of a session that began without a prompt.
const UNTITLED: &str = "conversation";

pub(crate) async fn run(globals: &Globals, terminal: Terminal, args: RunArgs) -> Result<Exit, Failure> {
    let setting = Setting::load(globals, terminal)?;
    let format = if terminal.json { Format::Json } else { args.format };
    let face = Face::of(terminal, format, args.screen_reader);
    let (wire, named) = (Wire::default(), NamedCalls::default());
    let consent = ConsentArgs { yes: args.consent.yes || args.auto, ..args.consent };
    // Who is there to be asked is asked here, in between everything else that is shown.
    let is_there = !consent.yes && consent.on_ask == OnAsk::Ask && face != Face::Mute;
    let location = Location::open_asking(&setting, &consent, Mode::Live, Life::Conversation, |asker| {
        let otherwise = if is_there { Arc::new(Desk(wire.clone())) } else { asker };
        Arc::new(Naming { named: named.clone(), otherwise })
    })?;
    let configured = plugins::configured(&setting, globals, location.plugins()).await?;
    let setting = configured.as_ref().unwrap_or(&setting);
    let store = location.store().cloned().ok_or_else(|| anyhow::anyhow!("a conversation needs a store"))?;

    let resumed = resumed(setting, &store, args.last, args.resume.as_deref()).await?;
    let words = Words {
        prompt: args.prompt,
        arguments: args.arguments,
        command: args.command,
        files: args.file,
        stdin: None,
    };
    let (first, title) = words.first(setting, location.workspace(), face)?;
    let stay = stay(first.as_ref(), face, resumed.as_ref())?;
    // Where nothing was said before, a command that names its model needs no other.
    let new = first.as_ref().filter(|_| resumed.is_none());
    let of_command = new.and_then(|typed| typed.model(&setting.config)).map(str::to_owned);
    let start = start(globals, setting, &store, resumed, args.model.or(of_command), title).await?;
    let rules = location::session_rules(setting, &consent)?;
    let agency = agency::furnish(setting, &location, &rules, &start).await?;
    let inbox = location.inbox().clone();
    let attacher = Attacher {
        workspace: location.workspace().clone(),
        grants: location.grants(),
        turn: Arc::new(location.turn().await?),
        named,
        session: start.session.clone(),
        agent: start.agent.clone(),
    };
    let events = wire.clone();
    let _subscription = location.subscribe(move |seq, event| events.push(News::Event(seq, event.clone())));
    let conversation =
        agency.open(start).await.map_err(|error| Failure::new(of_open_error(&error), error))?;
    let showing = showing(setting, face, &consent);
    let performer = Performer {
        attacher,
        plugins: location.plugins().clone(),
        events: location.events().clone(),
        config: setting.config.clone(),
    };
    let run = Run { terminal, face, format, stay, showing, conversation, inbox, performer, wire };
    let exit = run.hold(first).await;
    location.close().await;
    exit
}

/// How long it goes on, if there is anything to do.
fn stay(first: Option<&Typed>, face: Face, resumed: Option<&SessionRow>) -> Result<Stay, Failure> {
    match (first, face, resumed) {
        (None, Face::Drawn | Face::Spoken, _) => Ok(Stay::ForMore),
        (Some(_), _, _) | (None, Face::Mute, Some(_)) => Ok(Stay::UntilDone),
        (None, Face::Mute, None) => Err(Failure::usage("there is nothing to do")
            .hint("give a prompt, pipe one in, or run it on a terminal for a conversation")),
    }
}

/// How it is shown.
fn showing(setting: &Setting, face: Face, consent: &ConsentArgs) -> Showing {
    Showing {
        manner: if face == Face::Drawn { Manner::Signs } else { Manner::Words },
        verbose: setting.terminal.verbose,
        quiet: setting.terminal.quiet,
        is_answered_elsewhere: matches!(consent.on_ask, OnAsk::Wait(_)) && !consent.yes,
        directory: setting.directory.to_string_lossy().into_owned(),
    }
}

/// What is said on the command line.
struct Words {
    prompt: Option<String>,
    /// What a command is given besides.
    arguments: Vec<String>,
    command: Option<String>,
    files: Vec<String>,
    /// What was piped in.
    stdin: Option<String>,
}

impl Words {
    /// What is said first, if anything is, and a title for it.
    fn first(
        mut self,
        setting: &Setting,
        workspace: &Workspace,
        face: Face,
    ) -> Result<(Option<Typed>, String), Failure> {
        // A prompt without a word is none.
        let prompt = self.prompt.take_if(|prompt| self.command.is_some() || !prompt.trim().is_empty());
        if face == Face::Mute && !std::io::stdin().is_terminal() {
            self.stdin = Some(stdin_text(setting.terminal)?).filter(|text| !text.trim().is_empty());
        }
        let Words { arguments, files, stdin, .. } = self;
        if let Some(name) = self.command {
            let words = prompt.into_iter().chain(arguments).collect();
            let invocation = Invocation::named(&setting.config, &name, words)?;
            let title = title(&invocation.line);
            return Ok((Some(Typed::Command(Box::new(Invocation { files, stdin, ..invocation }))), title));
        }
        Ok(match (prompt, stdin) {
            (Some(prompt), stdin) => {
                let title = title(&prompt);
                (Some(Typed::read(&setting.config, workspace, prompt, &files, stdin)?), title)
            }
            // Input without a prompt is the prompt.
            (None, Some(piped)) => {
                (Some(Typed::Prompt(Draft::piped(workspace, &piped, &files)?)), title(&piped))
            }
            (None, None) if files.is_empty() => (None, UNTITLED.to_owned()),
            (None, None) => return Err(Failure::usage("--file needs a prompt")),
        })
    }
}

/// The session to go on with.
async fn resumed(
    setting: &Setting,
    store: &Store,
    last: bool,
    id: Option<&str>,
) -> Result<Option<SessionRow>, Failure> {
    let hint = "haft session list shows them";
    if let Some(id) = id {
        let id = SessionId::parse(id).map_err(Failure::usage)?;
        let row = store.session(&id)?;
        let row = row.ok_or_else(|| Failure::usage(format_args!("there is no session {id}")).hint(hint))?;
        if row.project != setting.project().to_string_lossy() {
            let place = haft::visible(&row.directory);
            let message = format!("the session {id} belongs to another project");
            return Err(
                Failure::usage(message).hint(format!("go on with it there: haft -C {place} run -s {id}"))
            );
        }
        return Ok(Some(row));
    }
    if !last {
        return Ok(None);
    }
    let project = setting.project().to_string_lossy();
    // Sessions that others began are gone on with by whoever began them; those of single calls have no title.
    let own = |row: &SessionRow| row.project == project && row.parent.is_none() && !row.title.is_empty();
    for row in store.sessions(None)?.into_iter().filter(own) {
        if !store.history(&row.id).await?.messages.is_empty() {
            return Ok(Some(row));
        }
    }
    Err(Failure::usage("this project has no session to go on with").hint(hint))
}

/// How the conversation begins or goes on: with the agent and the model it had, unless others are named.
async fn start(
    globals: &Globals,
    setting: &Setting,
    store: &Store,
    resumed: Option<SessionRow>,
    model: Option<String>,
    title: String,
) -> Result<Start, Failure> {
    let start = Start {
        session: setting.session.clone(),
        agent: setting.agent.clone(),
        model,
        title,
        parent: None,
        waits_for_tasks: true,
    };
    let Some(row) = resumed else { return Ok(start) };
    let history = store.history(&row.id).await?;
    let last = history.messages.iter().rev().find_map(|message| message.model.as_ref());
    let agent = match globals.agent {
        Some(_) => start.agent,
        // The session may have been handed to another agent since it began.
        None => match history.messages.last() {
            Some(last) => last.agent.clone(),
            None => AgentId::parse(&row.agent).unwrap_or(start.agent),
        },
    };
    let model = start.model.or_else(|| last.map(|model| format!("{}/{}", model.provider, model.id)));
    let title = if row.title.is_empty() { start.title } else { row.title };
    Ok(Start { session: row.id, agent, model, title, ..start })
}

fn title(prompt: &str) -> String {
    let line = prompt.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(TITLE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
