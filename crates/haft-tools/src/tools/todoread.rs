//! The tool `todoread`: shows the session's list of todos.

use std::sync::Arc;

use haft::permission::Gate;
use haft::{Action, Encoded, Executor, Memory, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::services::ToolServices;
use crate::todos::{self, Todos, TodosTarget};

const ACTION: &str = "todoread";

/// Shows the todos of this session: their content, status and priority, in order.
///
/// Use it to see where the work stands: at the start of a session, before choosing what to do next, after finishing
/// something, and whenever you are unsure what is left. An empty list means that nothing was planned yet.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

pub(crate) struct TodoRead {
    gate: Gate,
    memory: Arc<dyn Memory>,
}

impl TodoRead {
    pub(crate) fn new(services: &ToolServices) -> TodoRead {
        TodoRead { gate: services.gate.clone(), memory: services.memory.clone() }
    }
}

impl Executor for TodoRead {
    type Input = Input;
    type Output = Todos;

    async fn execute(&self, _: &Input, context: &ToolContext) -> Result<Todos, ToolError> {
        let permit = self.gate.grant(context, TodosTarget(Action::new(ACTION))).await?;
        drop(permit);
        match self.memory.recall(&context.session, &todos::topic()).await? {
            Some(list) => serde_json::from_value(list).map_err(ToolError::defect),
            None => Ok(Todos::default()),
        }
    }

    fn present(_: &Input, output: &Encoded<Todos>) -> Presented {
        output.present()
    }
}
