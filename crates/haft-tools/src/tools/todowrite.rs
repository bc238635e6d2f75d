//! The tool `todowrite`: replaces the session's list of todos.

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::Gate;
use haft::{Action, Encoded, Event, Events, Executor, Memory, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::services::ToolServices;
use crate::todos::{self, Todo, Todos, TodosTarget};

const ACTION: &str = "todowrite";

/// Replaces the list of todos.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The whole list as it is to be from now on, in order.
    todos: Vec<Todo>,
}

pub(crate) struct TodoWrite {
    gate: Gate,
    memory: Arc<dyn Memory>,
    events: Events,
}

impl TodoWrite {
    pub(crate) fn new(services: &ToolServices) -> TodoWrite {
        let ToolServices { gate, memory, events, .. } = services.clone();
        TodoWrite { gate, memory, events }
    }
}

impl Executor for TodoWrite {
    type Input = Input;
    type Output = Todos;

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("todowrite.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Todos, ToolError> {
        let permit = self.gate.grant(context, TodosTarget(Action::new(ACTION))).await?;
        drop(permit);
        let todos = Todos(input.todos.clone());
        let list = serde_json::to_value(&todos).map_err(ToolError::defect)?;
        self.memory.remember(&context.session, &todos::topic(), &list).await?;
        let body = json!({ "sessionID": context.session.as_str(), "todos": list });
        self.events.publish(Event::Reported { name: "todo.updated", context: context.clone(), body }).await?;
        Ok(todos)
    }

    fn present(_: &Input, output: &Encoded<Todos>) -> Presented {
        output.present()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Bench;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn the_whole_list_is_replaced_and_can_be_read_back() {
        let bench = Bench::new();
        bench.check(
            "todoread",
            json!({}),
            expect![[r#"
            title: 0 todos
            []"#]],
        );
        let todo =
            |content: &str, status: &str| json!({"content": content, "status": status, "priority": "low"});
        let first = json!({"todos": [todo("a", "pending"), todo("b", "completed"), todo("c", "cancelled")]});
        let done = bench.completed("todowrite", first);
        assert_eq!(done.title, "2 todos");

        let second = json!({"todos": [
            {"id": "t1", "content": "d", "status": "in_progress", "priority": "high"},
        ]});
        let shown = expect![[r#"
            title: 1 todos
            [
              {
                "content": "d",
                "status": "in_progress",
                "priority": "high"
              }
            ]"#]];
        bench.check("todowrite", second, shown);
        let read = bench.completed("todoread", json!({}));
        assert_eq!(read.metadata["todos"][0]["content"], "d");
        assert_eq!(bench.reported(), ["todo.updated", "todo.updated"]);
    }

    #[test]
    fn a_todo_needs_all_its_parts() {
        let bench = Bench::new();
        bench.check(
            "todowrite",
            json!({"todos": [{"content": "a", "status": "pending"}]}),
            expect![[r#"
                rejected: Invalid tool input: The todowrite tool was called with invalid arguments: todos[0].priority: is required: expected a string, but it is missing.
                Please rewrite the input so it satisfies the expected schema."#]],
        );
        bench.check(
            "todowrite",
            json!({"todos": [{"content": 1, "status": "pending", "priority": "low"}]}),
            expect![[r#"
                rejected: Invalid tool input: The todowrite tool was called with invalid arguments: todos[0].content: expected a string, got 1.
                Please rewrite the input so it satisfies the expected schema."#]],
        );
    }

    #[test]
    fn a_denied_list_stays_as_it_was() {
        let bench = Bench::new();
        let todos = json!({"todos": [{"content": "a", "status": "pending", "priority": "low"}]});
        let denied = bench.denying(&[("todowrite", "*")]);
        assert!(denied.rejected("todowrite", todos).contains("permission denied"));
        assert_eq!(denied.completed("todoread", json!({})).text(), "[]");
        assert!(denied.reported().is_empty());
    }
}
