//! Custom commands: where they stand, what is sent, and what they may not do.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::plugins_in_conversations::{says, talk};
use crate::server::Server;
use crate::support::{Place, Ran, ran};

/// What the model was sent as the person's last words.
fn sent(server: &Server) -> String {
    let body = server.next().body;
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// Runs it in a project that is trusted, with a model that says one word.
fn said(place: &Place, args: &[&str]) -> (Ran, Server) {
    let server = Server::answering(vec![says("Done.")]);
    let ran = talk(place, &server, args);
    (ran, server)
}

/// What is sent where all goes well.
fn sends(place: &Place, args: &[&str]) -> String {
    let (ran, server) = said(place, args);
    assert_eq!((ran.code, ran.out.trim()), (0, "Done."), "{args:?}: {}", ran.err);
    sent(&server)
}

/// What is told where nothing is sent.
fn refused(place: &Place, code: i32, args: &[&str]) -> String {
    let (ran, server) = said(place, args);
    assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{args:?}: {}", ran.err);
    assert!(!server.has_been_asked(), "{args:?}: {}", ran.err);
    ran.err
}

/// The person's own configuration, in a directory.
fn own(place: &Place, path: &str, content: &str) {
    let path = place.home().join("haft/config").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

#[test]
fn a_command_is_found_in_files_and_in_tables_and_filled() {
    let place = Place::new();
    place.file(".opencode/command/git/commit.md", "---\ndescription: Commits\n---\n\nCommit $ARGUMENTS.\n");
    place.file(".haft/commands/swap.md", "$2, then $1\n");
    place.file("opencode.json", r#"{ "command": { "review": { "template": "Review it." } } }"#);
    own(&place, "commands/review.md", "Overridden.");
    own(&place, "commands/mine.md", "Mine: $1");
    assert_eq!(sends(&place, &["/git/commit all of it"]), "Commit all of it.");
    assert_eq!(sends(&place, &["--command", "git/commit", "all", "of it"]), "Commit all \"of it\".");
    assert_eq!(sends(&place, &["/swap a \"b c\" d"]), "b c d, then a");
    assert_eq!(sends(&place, &["--command", "swap", "a b", "c", "d"]), "c d, then a b");
    assert_eq!(sends(&place, &["/review thoroughly"]), "Review it.\n\nthoroughly");
    assert_eq!(sends(&place, &["--command", "review"]), "Review it.");
    assert_eq!(sends(&place, &["/mine $ARGUMENTS !`touch made`"]), "Mine: $ARGUMENTS !`touch made`");
    assert!(!place.ws().join("made").exists() && place.log().is_empty());
}

#[test]
fn they_are_listed_with_their_places_and_shown() {
    let place = Place::new();
    let text = "---\ndescription: Looks\nagent: plan\nmodel: a/b\nsubtask: false\n---\n\nLook at $1.\n";
    place.file(".opencode/commands/look.md", text);
    let listed = |trust: &str| {
        let mut haft = place.command(&["commands", "--json"]);
        ran(haft.env("HAFT_TRUST", trust).output().unwrap()).json()["commands"].clone()
    };
    let place_of = place.ws().join(".opencode/commands/look.md").display().to_string() + ":8:1";
    assert_eq!(
        listed("1"),
        json!([{ "name": "look", "description": "Looks", "agent": "plan", "model": "a/b", "subtask": false,
            "place": place_of, "trusted": true }])
    );
    assert_eq!(listed("0"), json!([{ "name": "look", "place": place_of, "trusted": false }]));
    let plain = place.run(&["commands"]);
    assert!(plain.out.contains("/look") && plain.out.contains("haft trust"), "{}", plain.out);
    let hidden = place.run(&["commands", "look"]);
    assert_eq!(hidden.code, 2, "{}", hidden.out);
    let mut show = place.command(&["commands", "look"]);
    let shown = ran(show.env("HAFT_TRUST", "1").output().unwrap());
    assert!(shown.out.contains("Look at $1.") && shown.out.contains("agent: plan"), "{}", shown.out);
}

#[test]
fn what_a_project_brings_does_nothing_before_it_is_trusted() {
    let place = Place::new();
    place.file(".opencode/command/evil.md", "!`touch made` @.env");
    place.file(".opencode/command/mine.md", "!`touch made`");
    place.file("opencode.json", r#"{ "command": { "other": { "template": "x" } } }"#);
    own(&place, "command/mine.md", "My own.");
    let server = Server::answering(vec![says("Done.")]);
    let run = |args: &[&str]| {
        let mut haft = place.command(&[&["run", "-m", "openai/m", "--auto"], args].concat());
        ran(haft.env("HAFT_LLM_BASE_URL", &server.address).output().unwrap())
    };
    for args in [&["/evil"][..], &["--command", "evil"], &["/other x"]] {
        let refused = run(args);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
        assert!(refused.err.contains("haft trust") && refused.err.contains("not trusted"), "{}", refused.err);
    }
    assert_eq!(run(&["/mine"]).code, 0);
    assert_eq!(sent(&server), "My own.");
    assert!(!place.ws().join("made").exists() && place.log().is_empty());
}

#[test]
fn shell_parts_are_calls_like_any_other() {
    let place = Place::new();
    place.file("a b.txt", "heron\n");
    place.file(".opencode/command/show.md", "Of $1:\n!`cat $1`\nand !`echo second; exit 3`");
    let text = sends(&place, &["--allow", "bash", "--command", "show", "a b.txt"]);
    assert!(text.starts_with("Of a b.txt:\nheron\n") && text.contains("second"), "{text}");
    assert!(text.contains("exited with code 3"), "a command that fails has something to say: {text}");
    let calls: Vec<Value> = place.log().iter().map(|call| call["tool"].clone()).collect();
    assert_eq!(calls, ["bash", "bash"]);
    let err = refused(&place, 5, &["--deny", "bash", "--command", "show", "a b.txt"]);
    assert!(err.contains("cat 'a b.txt'"), "{err}");
    let (told, _server) =
        said(&place, &["--deny", "bash", "--format", "json", "--command", "show", "a b.txt"]);
    let last: Value = serde_json::from_str(told.out.lines().last().unwrap()).unwrap();
    assert_eq!((told.code, &last["type"]), (5, &json!("run.finished")), "{}", told.out);
    let ended = &last["properties"];
    assert_eq!((&ended["end"], &ended["exit"]), (&json!("failed"), &json!(5)), "{last}");
    place.global_config(r#"{ "permission": { "bash": { "*": "ask", "cat *": "allow" } } }"#);
    let err = refused(&place, 6, &["--command", "show", "a b.txt"]);
    assert!(err.contains("echo second"), "{err}");
}

#[test]
fn a_shell_part_is_waited_for_to_its_end() {
    let place = Place::new();
    place.global_config(r#"{ "shell": { "background_after": 1 } }"#);
    place.file(".opencode/command/slow.md", "!`sleep 0.3; echo heron`");
    assert_eq!(sends(&place, &["--allow", "bash", "/slow"]), "heron\n");
}

#[test]
fn what_is_typed_never_becomes_a_command() {
    let place = Place::new();
    place.file(".opencode/command/echo.md", "!`printf '<%s>' $ARGUMENTS \"$ARGUMENTS\"`");
    place.file(".opencode/command/sub.md", "!`echo $(echo $1)`");
    for typed in
        ["; touch made", "$(touch made)", "`touch made`", "'x' && touch made", "\\\"; touch made; \\\""]
    {
        let text = sends(&place, &["--allow", "bash", &format!("/echo {typed}")]);
        assert!(text.contains("touch") && text.contains("made"), "{text}");
        assert!(!place.ws().join("made").exists(), "{typed}");
    }
    // One word where it is none of its own, or nothing at all.
    place.file(".opencode/command/set.md", "!`pattern=$ARGUMENTS; echo \"<$pattern>\"`");
    assert_eq!(sends(&place, &["--allow", "bash", "/set foo touch made"]), "<foo touch made>\n");
    place.file(".opencode/command/eval.md", "!`sh -c \"echo $1\"`");
    let err = refused(&place, 2, &["--allow", "bash", "/eval x"]);
    assert!(err.contains("may run as code") && !place.ws().join("made").exists(), "{err}");
    let err = refused(&place, 2, &["--allow", "bash", "/sub x"]);
    assert!(err.contains("echo $(echo $1)") && err.contains("quoted"), "{err}");
}

#[test]
fn what_a_command_prints_is_looked_at_once() {
    let place = Place::new();
    place.file("secret.txt", "heron\n");
    place.file("planted", "@secret.txt $1 $ARGUMENTS !`touch made` \\@x");
    place.file(".opencode/command/show.md", "!`cat planted` @!`printf secret.txt`");
    let text = sends(&place, &["--allow", "bash", "/show"]);
    assert_eq!(text, "@secret.txt $1 $ARGUMENTS !`touch made` \\@x @secret.txt");
    assert!(!place.ws().join("made").exists());
    assert!(place.log().iter().all(|call| call["tool"] == "bash"));
}

#[test]
fn files_are_attached_that_the_template_or_the_person_names() {
    let place = Place::new();
    place.file("notes.txt", "heron\n");
    place.file(".env", "KEY=stork\n");
    place.file(".opencode/command/see.md", "See @notes.txt and $1, not \\@this.one.");
    place.file(".opencode/command/look.md", "Look at @$1.");
    place.file(".opencode/command/env.md", "!`touch made` @.env");
    place.file(".opencode/command/gone.md", "!`touch made` @gone.txt");
    let text = sends(&place, &["/see @.env"]);
    assert!(text.starts_with("See @notes.txt and @.env, not @this.one."), "{text}");
    assert!(text.contains("heron") && text.contains("stork"), "what the person names may be read: {text}");
    assert!(sends(&place, &["/look .env"]).contains("stork"));
    let err = refused(&place, 6, &["--allow", "bash", "/env"]);
    assert!(err.contains(".env"), "a template is nobody's consent: {err}");
    std::fs::remove_file(place.ws().join("made")).unwrap();
    // To say the name of a file is no consent to read it.
    place.file(".opencode/command/why.md", "Explain $ARGUMENTS by @.env");
    let err = refused(&place, 6, &["/why is .env ignored"]);
    assert!(err.contains(".env"), "{err}");
    assert!(sends(&place, &["/why is @.env ignored"]).contains("stork"));
    place.file("my notes.txt", "crane\n");
    for args in [&["--command", "see", "@my notes.txt"][..], &["--command", "look", "my notes.txt"]] {
        assert!(sends(&place, args).contains("crane"), "{args:?}");
    }
    let err = refused(&place, 2, &["--allow", "bash", "/gone"]);
    assert!(err.contains("gone.txt") && !place.ws().join("made").exists(), "{err}");
    let piped = {
        let server = Server::answering(vec![says("Done.")]);
        let mut haft = place.command(&["run", "-m", "openai/m", "--command", "see", "--file", "notes.txt"]);
        let input = place.outside().join("in");
        std::fs::write(&input, "from a pipe").unwrap();
        haft.env("HAFT_TRUST", "1").env("HAFT_LLM_BASE_URL", &server.address);
        assert!(haft.stdin(std::fs::File::open(input).unwrap()).output().unwrap().status.success());
        sent(&server)
    };
    assert!(piped.contains("from a pipe"), "{piped}");
}

#[test]
fn an_agent_and_a_model_are_those_of_the_command() {
    let place = Place::new();
    place.file(".opencode/agent/birder.md", "---\nmode: primary\n---\nYou watch birds.");
    place.file(".opencode/command/birds.md", "---\nagent: birder\nmodel: openai/other\n---\nWhich?");
    let (ran, server) = said(&place, &["/birds"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let body = server.next().body;
    assert_eq!(body["model"], "other");
    assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("You watch birds."));
    // Nobody else has to be named.
    let server = Server::answering(vec![says("Done.")]);
    let mut haft = place.command(&["run", "--command", "birds"]);
    haft.env("HAFT_TRUST", "1").env("HAFT_LLM_BASE_URL", &server.address);
    assert!(haft.output().unwrap().status.success());
    assert_eq!(server.next().body["model"], "other");
}

#[test]
fn what_came_of_a_task_is_told_by_whoever_is_spoken_to() {
    let place = Place::new();
    place.global_config(r#"{ "model": "openai/usual" }"#);
    place.file(".opencode/command/count.md", "---\nmodel: openai/other\nsubtask: true\n---\nCount.");
    let server = Server::answering(vec![says("Three."), says("Done.")]);
    let mut haft = place.command(&["run", "/count", "--auto"]);
    haft.env("HAFT_TRUST", "1").env("HAFT_LLM_BASE_URL", &server.address);
    let done = ran(haft.output().unwrap());
    assert_eq!((done.code, done.out.as_str()), (0, "Done.\n"), "{}", done.err);
    let asked = [server.next().body["model"].clone(), server.next().body["model"].clone()];
    assert_eq!(asked, ["other", "usual"]);
}

#[test]
fn mistakes_in_commands_are_told_with_their_places() {
    let place = Place::new();
    let told = |file: &str, content: &str, says: &str| {
        let path = place.file(file, content);
        let err = refused(&place, 2, &["/ok"]);
        assert!(err.contains(&path.display().to_string()) && err.contains(says), "{file}: {err}");
        std::fs::remove_file(path).unwrap();
    };
    place.file(".opencode/command/ok.md", "Yes.");
    told("haft.jsonc", r#"{ "command": { "": { "template": "x" } } }"#, "a command is named by");
    told(
        "haft.jsonc",
        r#"{ "command": { "a": { "template": "x", "modle": "y" } } }"#,
        "did you mean \"model\"",
    );
    let warned = place
        .file("opencode.json", r#"{ "command": { "a b": { "template": "x" }, "": { "template": "y" } } }"#);
    let (ran, _server) = said(&place, &["/ok"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err.matches("a command is named by").count(), 2, "{}", ran.err);
    std::fs::remove_file(warned).unwrap();
    let warned = place.file(".opencode/command/a b.md", "x");
    let (ran, _server) = said(&place, &["/ok"]);
    assert!(ran.code == 0 && ran.err.contains("in between, found a b\n"), "{}", ran.err);
    std::fs::remove_file(warned).unwrap();
    place.file(".opencode/command/nobody.md", "---\nagent: nobody\n---\nx");
    let err = refused(&place, 2, &["/nobody"]);
    assert!(err.contains("nobody.md:4:1") && err.contains("unknown agent \"nobody\""), "{err}");
    place.file(".opencode/command/bare.md", "$1\n$2");
    assert!(refused(&place, 2, &["/bare"]).contains("says nothing"));
    place.file(".opencode/command/task.md", "---\nagent: build\nsubtask: true\n---\nx");
    assert!(refused(&place, 2, &["/task"]).contains("takes none"));
}

#[test]
fn a_command_that_something_is_wrong_with_is_left_out_and_nothing_else() {
    let place = Place::new();
    place.file(".opencode/command/ok.md", "Yes.");
    std::fs::write(place.outside().join("a.md"), "secret").unwrap();
    let bad = place.ws().join(".opencode/command/bad.md");
    let of_table = |table: &str| format!(r#"{{ "command": {table} }}"#);
    for (file, content, says) in [
        (".opencode/command/bad.md", "---\nsubtask: maybe\n---\nx".to_owned(), "bad.md:2:10"),
        (".opencode/command/bad.md", "---\nargument-hint: [a] [b]\n---\nx".to_owned(), "bad.md:2:"),
        (".opencode/command/bad.md", "---\nagent: x\n---\n".to_owned(), "template"),
        (".opencode/command/bad.md", String::new(), "template"),
        ("opencode.json", of_table(r#"{ "bad": { "description": "x" } }"#), "template"),
        ("opencode.json", of_table(r#"{ "bad": { "template": " " } }"#), "template"),
        ("opencode.json", of_table(r#"{ "bad": { "template": ["x"] } }"#), ":1:37"),
        ("opencode.json", of_table(r#"["bad"]"#), "expected an object"),
    ] {
        let path = place.file(file, &content);
        let (ran, server) = said(&place, &["/ok"]);
        assert_eq!((ran.code, sent(&server).as_str()), (0, "Yes."), "{content}: {}", ran.err);
        assert!(ran.err.contains("warning:") && ran.err.contains(says), "{content}: {}", ran.err);
        let named = content.contains("[\"bad\"]");
        let err = refused(&place, 2, &["/bad"]);
        assert!(named || err.contains("cannot be used") && err.contains(says), "{content}: {err}");
        let mut list = place.command(&["commands", "--json"]);
        let listed = crate::support::ran(list.env("HAFT_TRUST", "1").output().unwrap()).json();
        let fault = listed["commands"][1]["fault"].as_str().unwrap().to_owned();
        assert!(fault.contains(says), "{listed}");
        // Where nobody trusts it, nobody is told unless they ask.
        let quiet = place.run(&["commands"]);
        assert!(quiet.code == 0 && quiet.out.contains("left out:"), "{}", quiet.out);
        assert!(!quiet.err.contains("warning:"), "{}", quiet.err);
        std::fs::remove_file(path).unwrap();
    }
    symlink(place.outside().join("a.md"), &bad).unwrap();
    let listed = place.run(&["commands"]);
    assert!(listed.code == 0 && listed.out.contains("link out of the project"), "{}", listed.err);
}

#[test]
fn directories_that_lead_in_a_circle_and_large_templates_are_no_trouble() {
    let place = Place::new();
    let large = "a heron $1 ".repeat(100_000);
    place.file(".opencode/command/deep/large.md", &large);
    symlink(place.ws().join(".opencode/command"), place.ws().join(".opencode/command/deep/again")).unwrap();
    symlink("nowhere.md", place.ws().join(".opencode/command/dangling.md")).unwrap();
    let text = sends(&place, &["/deep/large x"]);
    assert_eq!(text, large.trim_end().replace("$1", "x"));
    let mut list = place.command(&["commands", "--json"]);
    let listed = ran(list.env("HAFT_TRUST", "1").output().unwrap()).json();
    assert_eq!(listed["commands"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_word_that_is_no_command_is_a_mistake_and_a_path_is_none() {
    let place = Place::new();
    place.file(".opencode/command/review.md", "Review.");
    place.file(".opencode/command/git/commit.md", "Commit.");
    for (line, says) in
        [("/reveiw it", "did you mean \"review\""), ("/git/comit", "git/commit"), ("/help", "haft commands")]
    {
        let err = refused(&place, 2, &[line]);
        assert!(err.contains(says) && err.contains("there is no command"), "{line}: {err}");
    }
    for line in [
        "/etc/passwd is odd",
        "/tmp is full",
        "/api/v2/birds answers 404",
        "/index.html is empty",
        " /reveiw",
    ] {
        assert_eq!(sends(&place, &[line]), line);
    }
    let err = refused(&place, 2, &["--command", "reveiw"]);
    assert!(err.contains("review"), "{err}");
    let extra = place.run(&["run", "two", "words"]);
    assert_eq!(extra.code, 2, "words without a command are a mistake: {}", extra.err);
    // What is piped in is data.
    let server = Server::answering(vec![says("Done.")]);
    let mut haft = place.command(&["run", "-m", "openai/m"]);
    let input = place.outside().join("in");
    std::fs::write(&input, "/review").unwrap();
    haft.env("HAFT_TRUST", "1").env("HAFT_LLM_BASE_URL", &server.address);
    assert!(haft.stdin(std::fs::File::open(input).unwrap()).output().unwrap().status.success());
    assert_eq!(sent(&server), "/review");
}

#[test]
fn a_command_for_an_agent_that_works_for_others_is_a_task() {
    let place = Place::new();
    place.file("a.txt", "heron\n");
    place.file(".opencode/command/count.md", "---\nagent: explore\ndescription: Counts\n---\nCount $1.");
    place.file(".opencode/command/other.md", "---\nsubtask: true\n---\nCount @a.txt.");
    let script = json!({
        "agents": { "explore": [{ "text": "Three birds." }], "general": [{ "text": "One heron." }] },
        "turns": [{ "text": "There are three." }],
    });
    place.file("s.json", &script.to_string());
    let run = |args: &[&str]| {
        let mut haft = place.command(&[&["run", "-m", "scripted/s.json"], args].concat());
        ran(haft.env("HAFT_TRUST", "1").output().unwrap())
    };
    for (line, agent, prompt, report) in [
        ("/count birds", "explore", "Count birds.", "Three birds."),
        ("/other", "general", "Count @a.txt.", "One heron."),
    ] {
        let done = run(&[line]);
        assert_eq!((done.code, done.out.as_str()), (0, "There are three.\n"), "{}", done.err);
        let call = place.log().into_iter().rfind(|call| call["tool"] == "task").unwrap();
        let shown = place.run(&["log", "show", "--json", call["call"].as_str().unwrap()]).json();
        assert_eq!(shown["input"]["subagent_type"], agent, "{shown}");
        assert!(shown["input"]["prompt"].as_str().unwrap().starts_with(prompt), "{shown}");
        let session = call["session"].as_str().unwrap();
        let told = place.run(&["session", "export", session]).out;
        assert!(told.contains(report) && told.contains(line), "{told}");
    }
    let denied = run(&["/count birds", "--deny", "task"]);
    assert_eq!((denied.code, denied.out.as_str()), (5, ""), "{}", denied.err);
    assert!(denied.err.contains("the task of the command count"), "{}", denied.err);
}
