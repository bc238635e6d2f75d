//! What plugins ask through opencode's client, answered as its SDK would. It only looks, and only at this project; the
//! one thing it adds is an aside in a conversation that this process holds.

mod conversation;
mod facts;
mod sessions;

use std::sync::Arc;

use haft::{Registry, StoreError};
use haft_plugin::{ClientCall, Unanswered};
use serde_json::{Value, json};

use crate::setting::Setting;
pub(crate) use facts::Facts;
pub(crate) use sessions::Sessions;

/// What there is, here and in the host.
const OFFERED: [&str; 22] = [
    "app.agents",
    "app.log",
    "auth.set",
    "command.list",
    "config.get",
    "config.providers",
    "file.list",
    "file.read",
    "find.files",
    "find.text",
    "path.get",
    "project.current",
    "project.list",
    "session.children",
    "session.get",
    "session.list",
    "session.message",
    "session.messages",
    "session.prompt (with noReply)",
    "session.todo",
    "tool.ids",
    "tui.showToast",
];

/// What to use in place of something that there is not, by how its name begins.
const INSTEAD: [(&str, &str); 5] = [
    ("event.", "the hook `event` is told of everything that happens"),
    ("session.prompt", "body.noReply must be true: haft has nobody answer a plugin"),
    ("session.command", "a plugin cannot have an agent work; session.prompt with noReply adds words"),
    ("session.summarize", "the hook `experimental.session.compacting` has a say when haft summarises"),
    ("permission", "the hook `permission.ask` answers questions"),
];

/// Answers plugins.
pub(crate) struct Client {
    sessions: Sessions,
    facts: Facts,
    registry: Registry,
}

/// Why something has no answer that is data.
pub(super) enum Problem {
    /// There is no such thing in this project.
    Missing(String),
    /// What was asked makes no sense.
    Asked(String),
    /// haft cannot read what it keeps.
    Store(StoreError),
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        Problem::Store(error)
    }
}

impl Client {
    pub(crate) fn new(setting: &Setting, sessions: Sessions, registry: Registry) -> Arc<Client> {
        Arc::new(Client { sessions, facts: Facts::new(setting), registry })
    }

    /// Where it is known what is configured, which changes once plugins had their say about it.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What was said in the session that a call belongs to.
    pub(super) async fn messages(&self, session: &haft::SessionId) -> Result<Value, Unanswered> {
        self.sessions.counting(session).await.map_err(|error| Unanswered::failed(error.to_string()))
    }

    /// Answers a function of the client, as its SDK would.
    pub(super) async fn answer(&self, call: &ClientCall) -> Result<Value, Unanswered> {
        let given = Given(call.args.first().unwrap_or(&Value::Null));
        let answer = match call.path.as_str() {
            "app.agents" => Ok(self.facts.agents()),
            "command.list" => Ok(self.facts.commands()),
            "config.get" => Ok(self.facts.config()),
            "config.providers" => Ok(self.facts.providers()),
            "path.get" => Ok(self.facts.paths()),
            "project.current" => Ok(self.facts.project()),
            "project.list" => Ok(json!([self.facts.project()])),
            "session.children" => self.sessions.children(&given),
            "session.get" => self.sessions.get(&given),
            "session.list" => self.sessions.list(&given),
            "session.message" => self.sessions.message(&given).await,
            "session.messages" => self.sessions.messages(&given).await,
            "session.prompt" if given.field("noReply") == Some(&Value::Bool(true)) => {
                self.sessions.prompt(&given)
            }
            "session.todo" => self.sessions.todo(&given).await,
            "tool.ids" => Ok(self.registry.ids().iter().map(|name| Value::from(name.as_str())).collect()),
            other => return Err(Unanswered::failed(unsupported(other))),
        };
        let error = |name: &str, message: String| json!({ "error": { "name": name, "data": { "message": message } } });
        match answer {
            Ok(data) => Ok(json!({ "data": data })),
            Err(Problem::Missing(message)) => Ok(error("NotFoundError", message)),
            Err(Problem::Asked(message)) => Ok(error("BadRequest", message)),
            Err(Problem::Store(store)) => Err(Unanswered::failed(store.to_string())),
        }
    }
}

fn unsupported(path: &str) -> String {
    let path: String = haft::visible(path).chars().take(200).collect();
    let instead = INSTEAD.iter().find(|(begins, _)| path.starts_with(begins));
    let instead = instead.map(|(_, words)| format!(" ({words})")).unwrap_or_default();
    let offered = OFFERED.join(", ");
    format!("client.{path} needs opencode's server, which haft does not have{instead}; there is {offered}")
}

/// What a function was given, as either version of the SDK gives it: in `path`, `query` and `body`, or all at once.
pub(super) struct Given<'a>(&'a Value);

impl<'a> Given<'a> {
    /// A field, wherever it is.
    pub(super) fn field(&self, name: &str) -> Option<&'a Value> {
        let places = ["path", "query", "body"].into_iter().filter_map(|place| self.0.get(place));
        places.chain([self.0]).find_map(|place| place.get(name)).filter(|value| !value.is_null())
    }

    /// A text among fields of these names.
    pub(super) fn text(&self, names: &[&str]) -> Result<&'a str, Problem> {
        let found = names.iter().find_map(|name| self.field(name)?.as_str());
        found.ok_or_else(|| Problem::Asked(format!("it needs path.{}", names.first().unwrap_or(&"id"))))
    }

    /// A number, however it is written.
    pub(super) fn limit(&self) -> Option<usize> {
        let limit = self.field("limit")?;
        let number = limit.as_u64().or_else(|| limit.as_str()?.parse().ok())?;
        usize::try_from(number).ok().filter(|limit| *limit > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_where_either_version_of_the_sdk_puts_them() {
        let first = json!({ "path": { "id": "ses_a" }, "query": { "limit": "3" }, "throwOnError": true });
        let second = json!({ "sessionID": "ses_a", "limit": 3 });
        for given in [first, second] {
            let given = Given(&given);
            assert_eq!(given.text(&["id", "sessionID"]).ok(), Some("ses_a"));
            assert_eq!(given.limit(), Some(3));
        }
        assert!(Given(&Value::Null).text(&["id"]).is_err());
    }

    #[test]
    fn what_there_is_not_says_what_there_is() {
        let words = unsupported("event.subscribe");
        assert!(words.contains("the hook `event`") && words.contains("session.messages"), "{words}");
        assert!(unsupported("session.delete").contains("client.session.delete needs"));
    }
}
