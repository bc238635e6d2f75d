//! `haft session`: lists, shows, exports and removes sessions.

mod conversation;

use haft::{SessionId, Transcript, visible};
use haft_store::{CallFilter, Removal, SessionRow, Store, Whose};
use serde_json::{Value, json};

use super::log;
use crate::cli::{Globals, SessionCommand};
use crate::commands::when::moment;
use crate::exit::{Exit, Failure};
use crate::location::open_store;
use crate::setting::Setting;
use crate::terminal::{Terminal, confirm};

pub(crate) async fn run(
    globals: &Globals,
    terminal: Terminal,
    command: SessionCommand,
) -> Result<Exit, Failure> {
    let setting = Setting::load_anyway(globals, terminal)?;
    let store = open_store(&setting)?;
    match command {
        SessionCommand::List { limit, all } => list(&setting, &store, terminal, limit, all),
        SessionCommand::Show { id } => show(&store, terminal, &id).await,
        SessionCommand::Tree { id } => tree(&setting, &store, terminal, id.as_deref()),
        SessionCommand::Export { id, all } => export(&store, terminal, id.as_deref(), all),
        SessionCommand::Rm { id, yes } => remove(&store, terminal, &id, yes).await,
    }
}

fn list(
    setting: &Setting,
    store: &Store,
    terminal: Terminal,
    limit: usize,
    all: bool,
) -> Result<Exit, Failure> {
    let project = setting.project().to_string_lossy();
    let mut sessions = store.sessions(None)?;
    if !all {
        sessions.retain(|session| session.project == project);
        sessions.truncate(limit);
    }
    // The store names the newest first; the newest stands last, where a person looks.
    sessions.reverse();
    if terminal.json {
        let sessions: Vec<Value> = sessions.iter().map(document).collect();
        terminal.document(&json!({ "v": 1, "sessions": sessions }))?;
        return Ok(Exit::Ok);
    }
    for session in &sessions {
        terminal.line(&line(terminal, session))?;
    }
    if sessions.is_empty() {
        terminal.note("no session was found");
    }
    Ok(Exit::Ok)
}

async fn show(store: &Store, terminal: Terminal, id: &str) -> Result<Exit, Failure> {
    let session = find(store, id)?;
    let calls = store.calls(&CallFilter { session: Some(session.id.clone()), ..CallFilter::default() })?;
    let said = store.history(&session.id).await?.messages;
    if terminal.json {
        let mut shown = document(&session);
        shown["v"] = 1.into();
        shown["calls"] = calls.iter().map(log::document).collect();
        shown["messages"] = said.iter().map(conversation::document).collect();
        terminal.document(&shown)?;
        return Ok(Exit::Ok);
    }
    terminal.line(&line(terminal, &session))?;
    let shown = conversation::show(store, terminal, &said, &calls)?;
    for call in calls.iter().filter(|call| !shown.contains(&call.id)) {
        terminal.line(&format!("  {}", log::line(store, terminal, call)?))?;
    }
    Ok(Exit::Ok)
}

fn tree(setting: &Setting, store: &Store, terminal: Terminal, id: Option<&str>) -> Result<Exit, Failure> {
    let project = setting.project().to_string_lossy();
    let roots = match id {
        Some(id) => vec![find(store, id)?],
        None => store
            .sessions(None)?
            .into_iter()
            .rev()
            .filter(|session| session.parent.is_none() && session.project == project)
            .collect(),
    };
    if terminal.json {
        let trees: Result<Vec<Value>, Failure> = roots.iter().map(|root| branch(store, root)).collect();
        terminal.document(&json!({ "v": 1, "sessions": trees? }))?;
        return Ok(Exit::Ok);
    }
    for root in &roots {
        print_branch(store, terminal, root, 0)?;
    }
    Ok(Exit::Ok)
}

fn branch(store: &Store, session: &SessionRow) -> Result<Value, Failure> {
    let children: Result<Vec<Value>, Failure> =
        store.children(&session.id)?.iter().map(|child| branch(store, child)).collect();
    let mut shown = document(session);
    shown["children"] = children?.into();
    Ok(shown)
}

fn print_branch(
    store: &Store,
    terminal: Terminal,
    session: &SessionRow,
    depth: usize,
) -> Result<(), Failure> {
    terminal.line(&format!("{}{}", "  ".repeat(depth), line(terminal, session)))?;
    store.children(&session.id)?.iter().try_for_each(|child| print_branch(store, terminal, child, depth + 1))
}

fn export(store: &Store, terminal: Terminal, id: Option<&str>, all: bool) -> Result<Exit, Failure> {
    let whose = match id {
        Some(id) if !all => Whose::Session(find(store, id)?.id),
        Some(_) | None => Whose::All,
    };
    let mut printed = Ok(());
    store.export(&whose, &mut |mut piece| {
        if printed.is_ok() {
            piece["v"] = 1.into();
            printed = terminal.document(&piece);
        }
    })?;
    printed.map(|()| Exit::Ok)
}

async fn remove(store: &Store, terminal: Terminal, id: &str, yes: bool) -> Result<Exit, Failure> {
    let session = find(store, id)?;
    if !yes {
        if !Terminal::is_interactive() {
            let failure =
                anyhow::anyhow!("removing {} needs consent, and there is nobody to ask", session.id);
            return Err(Failure::new(Exit::Unanswered, failure).hint("say --yes"));
        }
        if !confirm(&format!("Remove {} with {} and their outputs?", session.id, calls(session.calls))) {
            return Ok(Exit::Denied);
        }
    }
    let removal = store.remove_session(&session.id).await?;
    store.close().await;
    match removal {
        Removal::Removed { sessions, calls, outputs } => {
            let removed = json!({ "sessions": sessions, "calls": calls, "outputs": outputs });
            match terminal.json {
                true => terminal.document(&json!({ "v": 1, "removed": removed }))?,
                false => {
                    terminal.note(&format!("removed {sessions} sessions, {calls} calls, {outputs} outputs"))
                }
            }
            Ok(Exit::Ok)
        }
        Removal::NotFound => Err(missing(id)),
        Removal::Running(call) => {
            Err(Failure::usage(format_args!("{call} is still running in {id}")).hint("stop it first"))
        }
    }
}

fn find(store: &Store, id: &str) -> Result<SessionRow, Failure> {
    let parsed = SessionId::parse(id).map_err(Failure::usage)?;
    store.session(&parsed)?.ok_or_else(|| missing(id))
}

fn missing(id: &str) -> Failure {
    Failure::usage(format_args!("there is no session {id:?}")).hint("`haft session list --all` names them")
}

fn line(terminal: Terminal, session: &SessionRow) -> String {
    let style = terminal.out();
    let title = visible(&format!("{} {}", session.agent, session.title));
    format!("{}  {}  {}  {title}", style.dim(&moment(session.updated_ms)), session.id, calls(session.calls))
}

fn calls(count: u64) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}

fn document(session: &SessionRow) -> Value {
    json!({
        "id": session.id.as_str(),
        "parent": session.parent.as_ref().map(SessionId::as_str),
        "project": session.project,
        "directory": session.directory,
        "agent": session.agent,
        "title": session.title,
        "calls": session.calls,
        "time": { "created": session.created_ms, "updated": session.updated_ms, "closed": session.closed_ms },
    })
}
