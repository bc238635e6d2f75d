//! A session's todos: what is remembered, how it is shown, and the consent it takes.

use haft::permission::{Ask, Question, Reach, Resource, Showing};
use haft::{Action, Presented, Topic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Todo {
    /// What is to be done, in a few words.
    pub(crate) content: String,
    /// How far it is: pending, in_progress, completed or cancelled.
    pub(crate) status: String,
    /// How important it is: high, medium or low.
    pub(crate) priority: String,
}

/// The whole list, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Todos(pub(crate) Vec<Todo>);

impl Todos {
    /// Shows the list as JSON, titled by how much is left to do.
    pub(crate) fn present(&self) -> Presented {
        let json = serde_json::to_value(self).expect("a list of texts has a JSON form");
        let text = serde_json::to_string_pretty(&json).expect("a JSON value has a text");
        let open = self.0.iter().filter(|todo| todo.status != "completed").count();
        Presented::text(text).titled(format!("{open} todos")).with("todos", json)
    }
}

/// Where a session's list is remembered.
pub fn topic() -> Topic {
    Topic::new("todos", "")
}

/// The session's own list, as something that consent is needed for.
pub(crate) struct TodosTarget(pub(crate) Action);

impl Ask for TodosTarget {
    fn questions(&self) -> Vec<Question> {
        vec![Question::new(self.0.clone(), Resource::new("*")).saving("*")]
    }

    /// The list is haft's own record, not a part of the world.
    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing { title: format!("{} of this session", self.0), detail: String::new() }
    }
}
