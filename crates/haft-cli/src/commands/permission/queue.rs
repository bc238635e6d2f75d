//! `haft permission pending`, `reply` and `forget`: requests of other processes, and saved consents.

mod inquiries;

use haft::permission::{Reply, Scope};
use haft::{GrantId, RequestId, visible, visible_lines};
use haft_store::{Answered, PendingRequest};
use serde_json::{Value, json};

use crate::commands::when::{moment, now_ms};
use crate::exit::{Exit, Failure};
use crate::location::open_store;
use crate::setting::Setting;
use crate::terminal::Terminal;
pub(super) use inquiries::{answer, is_inquiry};

pub(super) fn pending(setting: &Setting) -> Result<Exit, Failure> {
    let terminal = setting.terminal;
    let store = open_store(setting)?;
    let (requests, inquiries) = (store.pending_requests()?, store.pending_inquiries()?);
    if terminal.json {
        let requests: Vec<Value> = requests.iter().map(document).collect();
        let questions: Vec<Value> = inquiries.iter().map(inquiries::document).collect();
        terminal.document(&json!({ "v": 1, "requests": requests, "questions": questions }))?;
        return Ok(Exit::Ok);
    }
    requests.iter().try_for_each(|request| print(terminal, request))?;
    inquiries.iter().try_for_each(|inquiry| inquiries::print(terminal, inquiry))?;
    if let Some(first) = requests.first() {
        terminal.note(&format!("answer with: haft permission reply {} once|always|reject", first.id));
    }
    if let Some(first) = inquiries.first() {
        terminal.note(&format!("answer with: haft permission reply {} answer --answer ANSWER …", first.id));
    }
    if requests.is_empty() && inquiries.is_empty() {
        terminal.note("nothing is waiting");
    }
    Ok(Exit::Ok)
}

pub(super) async fn reply(
    setting: &Setting,
    request: &str,
    word: &str,
    words: Option<String>,
    scope: &str,
) -> Result<Exit, Failure> {
    let id = RequestId::parse(request).map_err(Failure::usage)?;
    let scope = Scope::parse(scope).ok_or_else(|| {
        Failure::usage(format_args!("unknown scope {scope:?}"))
            .hint("the scopes are session, project and user")
    })?;
    let reply = Reply::parse(word, scope, words).ok_or_else(|| {
        Failure::usage(format_args!("unknown reply {word:?}")).hint("the replies are once, always and reject")
    })?;
    let store = open_store(setting)?;
    let asked = store.pending_requests()?.into_iter().find(|asked| asked.id == id);
    let always = asked.map(|asked| texts(&asked.body["always"]).join(", ")).unwrap_or_default();
    if matches!(reply, Reply::Always(_)) && always.is_empty() {
        return Err(Failure::usage(format_args!(
            "no request {id} is waiting that could be allowed for always"
        )));
    }
    let answered = store.answer_request(&id, &reply).await?;
    store.close().await;
    match answered {
        Answered::Answered => {
            match setting.terminal.json {
                true => setting
                    .terminal
                    .document(&json!({ "v": 1, "request": id.as_str(), "reply": reply.as_str() }))?,
                false => setting.terminal.note(&match &reply {
                    Reply::Always(scope) => format!("{id}: always, for this {scope}: {}", visible(&always)),
                    Reply::Once | Reply::Reject(_) | Reply::Edit(_) => format!("{id}: {}", reply.as_str()),
                }),
            }
            Ok(Exit::Ok)
        }
        Answered::Impossible => Err(Failure::usage("the input of a call cannot be changed from here")
            .hint("change it on the terminal that runs it, or reject it with words")),
        Answered::NotFound => Err(Failure::usage(format_args!("no request {id} is waiting"))
            .hint("`haft permission pending` lists those that are")),
    }
}

pub(super) async fn forget(setting: &Setting, grant: &str) -> Result<Exit, Failure> {
    let id = GrantId::parse(grant).map_err(Failure::usage)?;
    let store = open_store(setting)?;
    let known = store.forget(&id).await?;
    store.close().await;
    if !known {
        return Err(Failure::usage(format_args!("there is no saved consent {id}"))
            .hint("`haft permission list` names them"));
    }
    match setting.terminal.json {
        true => setting.terminal.document(&json!({ "v": 1, "forgotten": id.as_str() }))?,
        false => setting.terminal.note(&format!("{id} is revoked")),
    }
    Ok(Exit::Ok)
}

/// A request as a person who answers it has to see it: what is wanted, what will happen, what "always" would allow.
fn print(terminal: Terminal, request: &PendingRequest) -> Result<(), Failure> {
    let style = terminal.out();
    let patterns = texts(&request.body["patterns"]).join(", ");
    let wanted = visible(&format!("{} {patterns}", request.body["permission"].as_str().unwrap_or("?")));
    let age = (now_ms() - request.asked_ms).max(0) / 1000;
    terminal.line(&format!("{}  {}  {}  {age} s", request.id, style.bold(&wanted), request.session))?;
    let metadata = &request.body["metadata"];
    for shown in ["title", "detail"].iter().filter_map(|field| metadata[*field].as_str()) {
        visible_lines(shown).lines().try_for_each(|line| terminal.line(&format!("    {line}")))?;
    }
    let always = visible(&texts(&request.body["always"]).join(", "));
    terminal.line(&style.dim(&format!("    always would allow: {always}")))
}

fn document(request: &PendingRequest) -> Value {
    json!({
        "id": request.id.as_str(),
        "session": request.session,
        "call": request.call,
        "project": request.project,
        "asked": moment(request.asked_ms),
        "permission": request.body["permission"],
        "patterns": request.body["patterns"],
        "always": request.body["always"],
        "metadata": request.body["metadata"],
    })
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
