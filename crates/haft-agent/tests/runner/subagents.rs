//! Agents that work for agents.

use haft::permission::Effect;
use haft_agent::End;
use serde_json::json;

use crate::support::{Plan, sketch, text_of};

fn delegating(to: &str, task: &serde_json::Value) -> serde_json::Value {
    json!({ "agents": {
        "build": [{ "calls": [{ "tool": "task", "input": task }] }, { "text": "Thanks." }, { "text": "And thanks." }],
        to: [{ "calls": [{ "tool": "echo", "input": { "text": "inner" } }] }, { "text": "The inner result." }, { "text": "More of it." }],
    }})
}

#[tokio::test]
async fn a_task_is_done_in_a_session_of_its_own_and_its_result_comes_back() {
    let task = json!({ "agent": "general", "prompt": "do it" });
    let world = Plan::new(delegating("general", &task)).build();
    let outcome = world.say("go").await;
    assert!(matches!(outcome.end, End::Done));
    let told = text_of(&world.last_results()[0]);
    assert!(told.contains("state=\"completed\"") && told.contains("The inner result."), "{told}");
    let heard = world.heard.lock().unwrap();
    assert_eq!(sketch(&heard[1]), ["user: do it"]);
    let calls = world.recorder.calls();
    let inner = calls.iter().find(|known| known.call.name == "echo").unwrap();
    assert!(inner.call.context.session != world.session && inner.call.context.agent.as_str() == "general");
}

#[tokio::test]
async fn an_agent_that_works_for_another_may_do_no_more_than_it() {
    let task = json!({ "agent": "general", "prompt": "do it" });
    let mut plan = Plan::new(delegating("general", &task));
    plan.rules.push(("echo", "*", Effect::Deny));
    let world = plan.build();
    world.say("go").await;
    assert_eq!(world.runs(), 0);
    // What its caller may not do at all, it is not even shown.
    let heard = world.heard.lock().unwrap();
    let shown: Vec<&str> = heard[1].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(shown, ["slow"]);
}

#[tokio::test]
async fn tasks_go_no_deeper_than_is_allowed_and_only_to_agents_that_take_them() {
    for (agent, says) in [("plan", "Unknown agent type: plan"), ("nobody", "Unknown agent type: nobody")] {
        let task = json!({ "agent": agent, "prompt": "do it" });
        let world = Plan::new(delegating("general", &task)).build();
        world.say("go").await;
        let told = text_of(&world.last_results()[0]);
        assert!(told.contains(says), "{told}");
    }
    let mut plan = Plan::new(delegating("general", &json!({ "agent": "general", "prompt": "do it" })));
    plan.depth = 0;
    let world = plan.build();
    world.say("go").await;
    assert!(text_of(&world.last_results()[0]).contains("Subagent depth limit reached (0)"));
}

#[tokio::test]
async fn a_task_in_the_background_tells_later_what_came_of_it() {
    let task = json!({ "agent": "general", "prompt": "do it", "background": true });
    let world = Plan::new(delegating("general", &task)).build();
    let outcome = world.say("go").await;
    assert_eq!(outcome.text, "And thanks.");
    let heard = world.heard.lock().unwrap();
    let last = sketch(heard.iter().rfind(|prompt| prompt.agent.as_str() == "build").unwrap());
    assert!(last[2].contains("state=\"running\""), "{last:?}");
    let told = last.last().unwrap();
    assert!(told.contains("Background task completed") && told.contains("The inner result."), "{told}");
    assert_eq!(world.agency.tasks_in_background(&world.session), 0);
}

#[tokio::test]
async fn a_task_is_gone_on_with_by_its_own_caller_only() {
    let task = json!({ "agent": "general", "prompt": "do it" });
    let world = Plan::new(delegating("general", &task)).build();
    world.say("go").await;
    let told = text_of(&world.last_results()[0]);
    let id = told.split('"').nth(1).unwrap().to_owned();

    let again = json!({ "agent": "general", "prompt": "more", "resume": id });
    let foreign = Plan::new(delegating("general", &again)).build();
    foreign.say("go").await;
    assert!(!text_of(&foreign.last_results()[0]).contains(&id));

    let mut conversation = world.open().await;
    let context = haft::ToolContext {
        session: world.session.clone(),
        agent: crate::support::agent("build"),
        message: haft::MessageId::mint(),
        call: haft::CallId::mint(),
    };
    let task = haft::Task {
        agent: crate::support::agent("general"),
        description: "again".to_owned(),
        prompt: "more".to_owned(),
        resume: Some(haft::SessionId::parse(&id).unwrap()),
        in_background: false,
    };
    let report = world.agency.run_task(&context, task).await.unwrap();
    assert_eq!((report.session.as_str(), report.text.as_str()), (id.as_str(), "More of it."));
    conversation.say(Vec::new(), &haft_agent::Interrupt::default()).await;
}
