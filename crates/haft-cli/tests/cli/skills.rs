//! Skills and agents at the command line, and the tools that need a person or a turn.

use serde_json::json;

use crate::support::Place;

const TEA: &str = "---\nname: tea\ndescription: How to make tea.\n---\nHot water.\n";

#[test]
fn skills_are_listed_with_what_is_wrong_with_others() {
    let place = Place::new();
    place.file(".opencode/skills/tea/SKILL.md", TEA);
    place.file(".claude/skills/bad/SKILL.md", "---\nname: [unclosed\n---\n");
    let listed = place.run(&["skill", "list", "--json"]);
    let document = listed.json();
    assert_eq!((listed.code, &document["v"]), (0, &json!(1)));
    assert_eq!(document["skills"][0]["name"], "tea");
    assert_eq!(document["skills"][0]["owner"], "untrusted project");
    let warning = document["warnings"][0].as_str().unwrap();
    assert!(warning.contains(".claude/skills/bad/SKILL.md:"), "{warning}");
    assert!(place.run(&["doctor"]).out.contains("bad/SKILL.md"), "doctor says it too");
}

#[test]
fn an_installed_skill_is_found_everywhere_and_gives_way_to_others() {
    let place = Place::new();
    let from = place.outside().join("tea");
    std::fs::create_dir(&from).unwrap();
    std::fs::write(from.join("SKILL.md"), TEA).unwrap();
    let source = from.to_str().unwrap();
    let first = place.run(&["skill", "install", source, "--json"]).json();
    assert_eq!(first["installed"][0], json!({ "name": "tea", "version": null, "changed": true }));
    assert_eq!(place.run(&["skill", "install", source, "--json"]).json()["installed"][0]["changed"], false);
    let loaded = place.run(&["call", "skill", "name=tea"]);
    assert!(loaded.code == 0 && loaded.out.contains("Hot water."), "{} {}", loaded.out, loaded.err);

    let own = place.home().join(".claude/skills/tea");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("SKILL.md"), TEA.replace("Hot", "My own")).unwrap();
    assert!(place.run(&["call", "skill", "name=tea"]).out.contains("My own water."));
    assert_eq!(place.run(&["skill", "install", "https://a.example/skills"]).code, 3);
    assert_eq!(place.run(&["skill", "install"]).code, 2, "nothing is configured");
}

#[test]
fn installing_looks_at_the_disk_and_takes_no_place_unasked() {
    let place = Place::new();
    let source = |name: &str, text: &str| {
        let from = place.outside().join(name);
        std::fs::create_dir(&from).unwrap();
        std::fs::write(from.join("SKILL.md"), text).unwrap();
        from.to_str().unwrap().to_owned()
    };
    let (first, second) = (source("one", TEA), source("two", &TEA.replace("Hot", "Cold")));
    assert_eq!(place.run(&["skill", "install", &first]).out, "tea installed\n");
    let file =
        place.run(&["skill", "list", "--json"]).json()["skills"][0]["file"].as_str().unwrap().to_owned();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(place.run(&["skill", "install", &first]).out, "tea installed\n", "it was broken");
    let refused = place.run(&["skill", "install", &second]);
    assert!(refused.code == 3 && refused.err.contains("--replace"), "{} {}", refused.code, refused.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), TEA);
    assert_eq!(place.run(&["skill", "install", &second, "--replace"]).code, 0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("Cold"));
}

#[test]
fn an_index_without_skills_says_so() {
    let place = Place::new();
    let from = place.outside().join("none");
    std::fs::create_dir(&from).unwrap();
    std::fs::write(from.join("index.json"), r#"{"skills": []}"#).unwrap();
    let ran = place.run(&["skill", "install", from.to_str().unwrap()]);
    assert!(ran.code == 0 && ran.err.contains("lists no skills"), "{} {}", ran.code, ran.err);
}

#[test]
fn an_agent_is_shown_with_what_it_is_told() {
    let place = Place::new();
    place.file("AGENTS.md", "Be kind.\n");
    let agents = place.home().join("haft/config/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("mine.md"), "---\nmode: subagent\nmodel: p/m\n---\nDo it well.\n").unwrap();
    let listed = place.run(&["agents", "--json"]).json();
    let names: Vec<&str> =
        listed["agents"].as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["build", "explore", "general", "mine", "plan"]);
    let shown = place.run(&["agents", "mine", "--json"]).json();
    assert_eq!((&shown["mode"], &shown["model"]), (&json!("subagent"), &json!("p/m")));
    assert_eq!(shown["prompt"], "Do it well.");
    assert!(shown["instructions"][0].as_str().unwrap().ends_with("ws/AGENTS.md"), "{shown}");
    assert_eq!(place.run(&["agents", "nobody"]).code, 2);

    std::fs::write(agents.join("mine.md"), "---\nmode: subagnet\n---\n").unwrap();
    let broken = place.run(&["agents"]);
    assert!(broken.code == 2 && broken.err.contains("mine.md:2:7"), "{}", broken.err);
}

#[test]
fn a_batch_runs_without_a_model_and_each_call_is_on_record() {
    let place = Place::new();
    place.file("a.txt", "one\n");
    let calls = r#"tool_calls:=[{"tool":"read","parameters":{"filePath":"a.txt"}},{"tool":"write","parameters":{"filePath":"b.txt","content":"two\n"}}]"#;
    let ran = place.run(&["call", "batch", calls, "--json"]);
    let done = ran.json();
    assert_eq!((ran.code, &done["metadata"]["successful"]), (0, &json!(2)), "{}", ran.err);
    assert!(done["output"].as_str().unwrap().contains("1: one") && place.read("b.txt") == "two\n");
    let mut tools: Vec<String> =
        place.log().iter().map(|call| call["tool"].as_str().unwrap().to_owned()).collect();
    tools.sort();
    assert_eq!(tools, ["batch", "read", "write"]);
    assert_eq!(place.run(&["call", "batch", calls, "--dry-run"]).code, 0);
}

#[test]
fn what_needs_a_person_or_a_conversation_says_so() {
    let place = Place::new();
    let question = r#"questions:=[{"question":"Which?","header":"Which","options":[]}]"#;
    let asked = place.run(&["call", "question", question]);
    assert!(asked.code == 3 && asked.err.contains("nobody is there"), "{} {}", asked.code, asked.err);
    assert_eq!(place.run(&["call", "question", question, "--agent", "general"]).code, 5, "denied for others");
    let task = place.run(&["call", "task", "description=d", "prompt=p", "subagent_type=explore"]);
    assert!(task.code == 3 && task.err.contains("haft run"), "{} {}", task.code, task.err);
    assert_eq!(place.run(&["call", "plan_exit"]).code, 5, "only the plan agent ends planning");
}
