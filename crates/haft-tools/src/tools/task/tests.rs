//! Tasks, given to agents that answer at once.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use haft::{
    AgentId, BoxFuture, Model, SessionId, SubAgent, SubAgents, Task, TaskReport, TaskState, ToolContext,
    ToolError,
};
use serde_json::json;

use crate::testing::Bench;

/// Agents that say what they were told.
#[derive(Default)]
struct Echoing {
    given: Mutex<Vec<Task>>,
}

impl SubAgents for Echoing {
    fn available(&self, caller: &AgentId) -> Vec<SubAgent> {
        let agent = |name: &str, description: Option<&str>| SubAgent {
            name: AgentId::parse(name).unwrap(),
            description: description.map(str::to_owned),
        };
        assert_eq!(caller.as_str(), "build");
        vec![agent("explore", Some("Looks around.")), agent("manual", None)]
    }

    fn run<'a>(&'a self, _: &'a ToolContext, task: Task) -> BoxFuture<'a, Result<TaskReport, ToolError>> {
        let report = TaskReport {
            session: task.resume.clone().unwrap_or_else(|| SessionId::parse("ses_child").unwrap()),
            model: Some(Model { provider: "p".to_owned(), id: "m".to_owned() }),
            state: match (task.in_background, task.prompt.as_str()) {
                (true, _) => TaskState::Running,
                (false, "fail") => TaskState::Failed,
                (false, _) => TaskState::Completed,
            },
            text: format!("did {}", task.prompt),
        };
        self.given.lock().unwrap().push(task);
        Box::pin(std::future::ready(Ok(report)))
    }
}

fn bench() -> (Bench, Arc<Echoing>) {
    let agents = Arc::new(Echoing::default());
    (Bench::new().with_agents(agents.clone()), agents)
}

fn input(agent: &str, prompt: &str) -> serde_json::Value {
    json!({"description": "look around", "prompt": prompt, "subagent_type": agent})
}

#[test]
fn what_comes_of_a_task_is_told_in_its_envelope() {
    let (bench, agents) = bench();
    bench.check(
        "task",
        input("explore", "search"),
        expect![[r#"
            title: look around
            <task id="ses_child" state="completed">
            <task_result>
            did search
            </task_result>
            </task>"#]],
    );
    bench.check(
        "task",
        input("explore", "fail"),
        expect![[r#"
            title: look around
            <task id="ses_child" state="error">
            <task_error>
            did fail
            </task_error>
            </task>"#]],
    );
    let mut again = input("explore", "more");
    again["session_id"] = json!("ses_before");
    again["background"] = json!(true);
    let done = bench.completed("task", again);
    assert!(done.text().contains(r#"<task id="ses_before" state="running">"#), "{}", done.text());
    assert_eq!(done.metadata["sessionId"], "ses_before");
    assert_eq!(done.metadata["parentSessionId"], bench.context().session.as_str());
    assert_eq!(done.metadata["model"], json!({"providerID": "p", "modelID": "m"}));
    let given = agents.given.lock().unwrap();
    assert_eq!(given.len(), 3);
    assert!(given[2].in_background && given[2].resume.is_some() && given[0].resume.is_none());
}

#[test]
fn an_agent_is_told_whom_it_can_give_tasks_to() {
    let (bench, agents) = bench();
    let described = |bench: &Bench| {
        let all = bench.all_definitions();
        all.into_iter().find(|tool| tool.name.as_str() == "task").unwrap().description
    };
    let text = described(&bench);
    assert!(
        text.contains("- explore: Looks around.\n- manual: This subagent should only be called"),
        "{text}"
    );
    let denied = bench.denying(&[("task", "manual")]).with_agents(agents);
    let text = described(&denied);
    assert!(text.contains("- explore:") && !text.contains("- manual:"), "{text}");
    assert!(described(&Bench::new()).contains("none is available"));
}

#[test]
fn nobody_is_given_a_task_without_consent_or_a_name() {
    let (bench, agents) = bench();
    let denied = bench.denying(&[("task", "explore")]).with_agents(agents.clone());
    assert!(denied.rejected("task", input("explore", "x")).contains("permission denied"));
    let unknown = bench.rejected("task", input("explor", "x"));
    assert_eq!(unknown, "Unknown agent type: explor is not a valid agent type; did you mean explore?");
    let mut bad = input("explore", "x");
    bad["task_id"] = json!("not an id");
    assert!(bench.rejected("task", bad).contains("task_id is not the id of a task"));
    assert!(agents.given.lock().unwrap().is_empty());
    assert!(Bench::new().rejected("task", input("explore", "x")).contains("needs a conversation"));
}
