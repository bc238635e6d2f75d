//! The tool `plan_exit`: has the person agree to a plan, and the build agent carry it out.

use haft::{Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::plans::{Switch, SwitchTo};
use crate::services::ToolServices;

const TO_BUILD: SwitchTo = SwitchTo {
    action: "plan_exit",
    agent: "build",
    header: "Build agent",
    question: "The plan at {plan} is complete. Switch to the build agent and carry it out?",
    choices: ["The build agent may edit files and begins with the plan", "Stay with the plan and refine it"],
    told: "The plan at {plan} has been approved, you can now edit files. Execute the plan",
};

/// Ends planning: the user is asked whether the plan is to be carried out, and if they agree the build agent goes on.
///
/// Call it when the plan is written to its file, everything unclear has been asked, and you are ready to have it
/// carried out. Do not call it before the plan is complete, nor where the user has said to go on planning.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

pub(crate) struct PlanExit(Switch);

impl PlanExit {
    pub(crate) fn new(services: &ToolServices) -> PlanExit {
        PlanExit(Switch::new(services))
    }
}

impl Executor for PlanExit {
    type Input = Input;
    type Output = String;

    async fn execute(&self, _: &Input, context: &ToolContext) -> Result<String, ToolError> {
        self.0.to(&TO_BUILD, context).await?;
        Ok("User approved switching to build agent. Wait for further instructions.".to_owned())
    }

    fn present(_: &Input, output: &Encoded<String>) -> Presented {
        Presented::text(output.as_str()).titled("Switching to build agent")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use haft::permission::Told;
    use haft::{Part, SettleError};
    use serde_json::json;

    use crate::testing::{Answering, Bench};

    fn saying(answer: &str) -> Bench {
        let told = Told::Answers(vec![vec![answer.to_owned()]]);
        Bench::new().answered_by(Arc::new(Answering(told)))
    }

    #[test]
    fn a_yes_has_the_other_agent_go_on() {
        let bench = saying("Yes");
        for (tool, agent, said) in [
            ("plan_exit", "build", "approved, you can now edit files"),
            ("plan_enter", "plan", "enter plan mode"),
        ] {
            let done = bench.completed(tool, json!({}));
            assert!(done.text().starts_with("User "), "{}", done.text());
            let note = bench.services.inbox.take(&bench.context().session).unwrap();
            assert_eq!(note.agent.unwrap().as_str(), agent);
            let [Part::Text { text, is_synthetic: true }] = note.parts.as_slice() else { panic!("one text") };
            assert!(text.contains(said), "{text}");
        }
    }

    #[test]
    fn anything_else_changes_nothing_and_ends_the_turn() {
        for answer in ["No", "yes please", ""] {
            let bench = saying(answer);
            for tool in ["plan_exit", "plan_enter"] {
                assert!(matches!(bench.attempt(tool, json!({})), Err(SettleError::Declined)), "{answer}");
            }
            assert!(bench.services.inbox.take(&bench.context().session).is_none());
        }
    }

    #[test]
    fn a_plan_lies_where_the_planning_agent_may_write() {
        let session = haft::SessionId::parse("ses_a/../b").unwrap();
        let path = crate::plan_file(std::path::Path::new("/w"), &session);
        assert_eq!(path, std::path::Path::new("/w/.opencode/plans/ses_a----b.md"));
    }
}
