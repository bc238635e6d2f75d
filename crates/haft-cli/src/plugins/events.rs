//! What happens, told to plugins that listen: under opencode's names, one after the other, with nobody waiting for them.

use haft::{Ended, Event, Events, Seq, Settlement, Subscription, ToolContext};
use haft_plugin::Plugins;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::run::events::document;

/// So many events wait for plugins; those that are not taken in time are not told.
const WAITING_MAX: usize = 1024;

/// Tells plugins of everything that happens here, as long as it is kept.
pub(crate) struct Telling {
    letters: mpsc::Sender<Letter>,
    _listening: Subscription,
}

enum Letter {
    Event(Value),
    /// Everything before it was told.
    End(oneshot::Sender<()>),
}

impl Telling {
    /// Waits until plugins were told of everything that has happened.
    pub(crate) async fn finish(&self) {
        let (ended, end) = oneshot::channel();
        if self.letters.send(Letter::End(ended)).await.is_ok() {
            // Nobody is left to tell if this fails.
            let _gone = end.await;
        }
    }
}

/// Begins to tell plugins what happens.
pub(crate) fn tell(plugins: &Plugins, events: &Events) -> Telling {
    let (letters, mut waiting) = mpsc::channel::<Letter>(WAITING_MAX);
    let listeners = plugins.clone();
    tokio::spawn({
        let plugins = plugins.clone();
        async move {
            while let Some(letter) = waiting.recv().await {
                match letter {
                    Letter::Event(event) => plugins.announce(event).await,
                    // Whoever asked may have stopped waiting.
                    Letter::End(ended) => drop(ended.send(())),
                }
            }
        }
    });
    let sender = letters.clone();
    let listening = events.subscribe(move |seq, event| {
        if !listeners.has_hook("event") {
            return;
        }
        for told in told(seq, event) {
            // Whoever does not keep up misses something; the work goes on.
            let _full = sender.try_send(Letter::Event(told));
        }
    });
    Telling { letters, _listening: listening }
}

/// An event as opencode's plugins know it: under its own name, and for calls also as a part of a message.
fn told(seq: Seq, event: &Event) -> Vec<Value> {
    let mut document = document(seq, event);
    let (kind, session) = (document["type"].take(), document["sessionID"].take());
    let mut properties = document["properties"].take();
    properties["sessionID"] = session;
    let own = json!({ "type": kind, "properties": properties });
    std::iter::once(own).chain(part(event)).collect()
}

/// A call as a part of its message.
fn part(event: &Event) -> Option<Value> {
    let (context, tool, state) = match event {
        Event::Called(call) => (&call.context, Some(call.name.as_str()), json!({ "status": "pending" })),
        Event::Running(context) => (context, None, json!({ "status": "running" })),
        Event::Ended(context, Ended::Settled(settlement)) => match &**settlement {
            Settlement::Completed(done) => (
                context,
                None,
                json!({ "status": "completed", "title": done.title, "output": done.text(), "metadata": done.metadata }),
            ),
            Settlement::Rejected(rejection) => {
                (context, None, json!({ "status": "error", "error": rejection.to_string() }))
            }
        },
        Event::Ended(context, ended) => {
            (context, None, json!({ "status": "error", "error": crate::history::end(ended) }))
        }
        Event::Asked(_)
        | Event::Replied(..)
        | Event::Output { .. }
        | Event::Said { .. }
        | Event::Session { .. }
        | Event::Reported { .. } => return None,
    };
    Some(part_of(context, tool, &state))
}

fn part_of(context: &ToolContext, tool: Option<&str>, state: &Value) -> Value {
    json!({
        "type": "message.part.updated",
        "properties": {
            "sessionID": context.session.as_str(),
            "part": {
                "type": "tool",
                "tool": tool,
                "callID": context.call.as_str(),
                "messageID": context.message.as_str(),
                "sessionID": context.session.as_str(),
                "state": state,
            },
        },
    })
}
