//! The tool `plan_enter`: has the person agree to plan first, and the plan agent go on.

use haft::{Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::plans::{Switch, SwitchTo};
use crate::services::ToolServices;

const TO_PLAN: SwitchTo = SwitchTo {
    action: "plan_enter",
    agent: "plan",
    header: "Plan mode",
    question: "Switch to the plan agent, which explores and writes a plan to {plan} before anything is changed?",
    choices: ["Plan first; no file but the plan is changed", "Stay with the build agent and go on"],
    told: "User has requested to enter plan mode. Switch to plan mode and begin planning. \
           Write the plan to {plan}.",
};

/// Suggests to plan first: the user is asked, and if they agree the plan agent goes on.
///
/// Call it when a request is large, touches many places, or could be done in several ways that the user should choose
/// between. Do not call it for simple tasks, nor when the user has asked for the change to be made now.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

pub(crate) struct PlanEnter(Switch);

impl PlanEnter {
    pub(crate) fn new(services: &ToolServices) -> PlanEnter {
        PlanEnter(Switch::new(services))
    }
}

impl Executor for PlanEnter {
    type Input = Input;
    type Output = String;

    async fn execute(&self, _: &Input, context: &ToolContext) -> Result<String, ToolError> {
        let plan = self.0.to(&TO_PLAN, context).await?;
        Ok(format!("User confirmed to switch to plan mode. The plan will be written to {plan}."))
    }

    fn present(_: &Input, output: &Encoded<String>) -> Presented {
        Presented::text(output.as_str()).titled("Switching to plan agent")
    }
}
