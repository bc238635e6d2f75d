//! Commands: run through the whole binary, confined by whatever this machine offers.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Place, Ran};

/// Runs a script, and answers every question with yes.
fn bash(place: &Place, script: &str) -> Value {
    let input = json!({ "command": script }).to_string();
    place.run(&["call", "bash", &input, "--json"]).json()
}

fn output(done: &Value) -> &str {
    done["output"].as_str().unwrap_or_else(|| panic!("{done}"))
}

/// Whether this machine confines commands. Says loudly if it does not.
pub(crate) fn is_confined(place: &Place) -> bool {
    let found = place.run(&["doctor", "--json"]).json();
    let findings = found["findings"].as_array().unwrap();
    let sandbox = findings.iter().find(|finding| finding["about"] == "sandbox").unwrap();
    let level = sandbox["text"].as_str().unwrap();
    let is_confined = level.starts_with("namespaces") || level.starts_with("bubblewrap");
    if !is_confined {
        eprintln!("NOT TESTED: commands are not confined here: {level}");
    }
    is_confined
}

#[test]
fn a_command_reports_what_it_printed_and_how_it_ended() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let done = bash(&place, "echo out; echo err >&2; pwd; exit 3");
    let notes = "\n\n<shell_metadata>\nCommand exited with code 3.\n</shell_metadata>";
    assert_eq!(output(&done), format!("out\nerr\n{}\n{notes}", place.ws().display()));
    assert_eq!((&done["metadata"]["exit"], &done["metadata"]["truncated"]), (&json!(3), &json!(false)));
    assert_eq!(output(&bash(&place, "cat; kill -9 $$")).lines().last(), Some("</shell_metadata>"));
    let shown = place.run(&["log", "show", done["call"].as_str().unwrap()]).out;
    assert!(shown.contains("what it did to files cannot be undone by haft"), "{shown}");

    let binary = bash(&place, "head -c 1000 /dev/urandom; printf '\\0'");
    assert!(output(&binary).starts_with("(binary output, 1001 bytes, saved to: haft://output/"));
    let whole = place.command(&["output", binary["retained"]["id"].as_str().unwrap()]).output().unwrap();
    assert_eq!(whole.stdout.len(), 1001);
}

#[test]
fn a_sandbox_that_is_switched_off_is_said_to_be_so_before_all_else() {
    let place = Place::new();
    for profile in ["off", "full-access"] {
        place.global_config(&json!({ "sandbox": profile }).to_string());
        let found = place.run(&["doctor"]).out;
        let line = found.lines().find(|line| line.contains(" sandbox ")).unwrap();
        let words = "sandbox  switched off by the configuration; this machine could: ";
        assert!(line.contains(words), "{found}");
    }
}

#[test]
fn a_long_output_is_shown_at_both_ends_and_kept_whole() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let done = bash(&place, "seq 1 300000");
    let shown = output(&done);
    assert!(shown.starts_with("1\n2\n") && shown.ends_with("299999\n300000\n"), "{} bytes", shown.len());
    assert!(shown.len() < 60_000 && shown.contains("Full output saved to: haft://output/out_"));
    let whole: String = (1..=300_000).map(|line| format!("{line}\n")).collect();
    assert_eq!(
        (&done["retained"]["bytes"], &done["retained"]["lines"]),
        (&json!(whole.len()), &json!(300_000))
    );
    assert!(place.run(&["output", done["call"].as_str().unwrap()]).out == whole);
}

#[test]
fn a_command_whose_output_cannot_be_kept_is_ended_and_is_no_success() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    // The disk of this haft is full after ten megabytes.
    let script = "(yes | head -c 30000000); sleep 3; touch survived";
    let haft = place.command(&["call", "bash", &format!("command={script}"), "--json"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 20000; exec \"$@\"", "sh"]).arg(haft.get_program()).args(haft.get_args());
    limited.current_dir(place.ws()).env_clear().stdin(Stdio::null());
    limited.envs(haft.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = crate::support::ran(limited.output().unwrap());
    assert_eq!((done.code, done.json()["status"].as_str()), (1, Some("error")), "{}", done.out);
    let error = &done.json()["error"];
    assert_eq!(error["kind"], "not_retained");
    assert!(error["message"].as_str().unwrap().contains("could not write the output"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("haft gc"), "{error}");
    assert!(!place.ws().join("survived").exists());
}

#[test]
fn time_is_limited_and_nothing_is_left_behind() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let script = "echo begun; trap '' TERM; (setsid sleep 4711.5 &) ; sleep 4711.5; echo never";
    let input = json!({ "command": script, "timeout": 700 }).to_string();
    let done = place.run(&["call", "bash", &input, "--json"]).json();
    assert!(output(&done).starts_with("begun\n"), "{done}");
    assert!(output(&done).contains("exceeding timeout 700 ms") && done["metadata"]["exit"].is_null());
    // What is left in the background when a script ends is ended with it, and that is told.
    let done = bash(&place, "(setsid nohup sleep 4711.5 >/dev/null 2>&1 &) ; echo done");
    assert!(!is_running("4711.5"));
    let note = "a process that it had left running (sleep) was ended with it, finished or not";
    assert!(output(&done).contains(note), "{done}");
    let done = bash(&place, "(sleep 0.05; echo late) & echo done");
    assert_eq!(done["metadata"]["output"], "done\nlate\n", "{done}");
    assert!(!output(&done).contains("left running"), "{done}");
}

#[test]
fn killing_haft_leaves_no_process_behind() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let mut command = place.command(&["call", "bash", "command=touch started; sleep 4812.5"]);
    let mut haft = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !place.ws().join("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    haft.kill().unwrap();
    haft.wait().unwrap();
    while is_running("4812.5") {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // The next start knows that it does not know.
    assert_eq!(place.log()[0]["reason"], "interrupted");
}

/// Whether a sleep of this length runs.
fn is_running(length: &str) -> bool {
    let command_line =
        |entry: std::io::Result<std::fs::DirEntry>| std::fs::read(entry.ok()?.path().join("cmdline")).ok();
    let wanted = format!("sleep\0{length}\0");
    std::fs::read_dir("/proc").unwrap().filter_map(command_line).any(|line| line == wanted.as_bytes())
}

#[test]
fn the_kernel_refuses_what_was_not_granted() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    place.file(".git/config", "[core]\n");
    let outside = place.outside().join("x");
    // What the analysis cannot see, the kernel does.
    place.file(
        "sneak.sh",
        &format!("echo x > {}\necho evil >> .git/config\necho ok > inside\n", outside.display()),
    );
    let done = bash(&place, "sh sneak.sh");
    assert_eq!(done["status"], "completed", "{done}");
    assert!(!outside.exists());
    assert_eq!(place.read(".git/config"), "[core]\n");
    assert_eq!(place.read("inside"), "ok\n");
    place.file("net.sh", "exec 3<>/dev/tcp/127.0.0.1/9\n");
    let net = bash(&place, "bash net.sh");
    assert!(output(&net).contains("nreachable") || output(&net).contains("rror"), "{net}");
    let fewer = "if it only talks to itself on 127.0.0.1, as tests do that start a server, network: [\"127.0.0.1\"] is enough";
    let holds_hosts = place.run(&["doctor"]).out.contains("sandbox  namespaces");
    assert_eq!(output(&net).contains(fewer), holds_hosts, "{net}");
    let granted = json!({ "command": "bash net.sh", "network": ["127.0.0.1"] }).to_string();
    let net = place.run(&["call", "bash", &granted, "--json", "--allow", "network"]).json();
    assert!(!output(&net).contains("nreachable"), "nobody listens there: {net}");
}

#[test]
fn leaving_asks_and_what_is_agreed_to_is_what_the_kernel_permits() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let script = format!("echo x > {}/x", place.outside().display());
    let input = json!({ "command": script }).to_string();
    let refused = place.run(&["call", "bash", &input, "--json"]);
    assert_eq!(refused.code, 6, "{}", refused.out);
    let allowed = place.run(&["call", "bash", &input, "--json", "--allow", "external_directory"]);
    assert_eq!(allowed.json()["metadata"]["exit"], 0, "{}", allowed.out);
    assert!(place.outside().join("x").exists());

    let network = json!({ "command": "true", "network": true }).to_string();
    assert_eq!(place.run(&["call", "bash", &network]).code, 6, "the network is asked for");
    assert_eq!(place.run(&["call", "bash", &network, "--allow", "*"]).code, 6, "whatever * allows");
    assert_eq!(place.run(&["call", "bash", &network, "--allow", "network"]).code, 0);
}

#[test]
fn secrets_are_not_in_the_environment_of_commands() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let mut command = place.command(&["call", "bash", "command=env", "--json"]);
    command.env("GITHUB_TOKEN", "ghp_canary_value").env("LD_PRELOAD_X", "1").env("PLAIN", "seen");
    let done = crate::support::ran(command.output().unwrap());
    let text = done.json()["output"].as_str().unwrap().to_owned();
    assert!(text.contains("PLAIN=seen") && text.contains("TERM=dumb"));
    assert!(!text.contains("canary") && !text.contains("LD_") && !text.contains("HAFT_HOME"), "{text}");
}

#[test]
fn bad_input_is_told_and_nothing_is_run() {
    let place = Place::new();
    let told = |input: &Value| -> Ran {
        place.run_with(&["call", "bash", "-", "--json"], input.to_string().as_bytes())
    };
    for (input, code, words) in [
        (json!({ "command": " \n" }), 3, "command is empty"),
        (json!({ "command": "touch ran", "timeout": -1 }), 3, "must be a positive number"),
        (json!({ "command": "touch ran", "workdir": "missing" }), 3, "no directory"),
        (json!({ "command": "touch ran", "workdir": "" , "timeout": 0 }), 3, "must be a positive number"),
        (json!({ "command": format!("touch ran {}", "x".repeat(200_000)) }), 3, "bytes"),
        (json!({}), 4, "command"),
    ] {
        let ran = told(&input);
        assert_eq!(ran.code, code, "{}", ran.out);
        assert!(ran.out.contains(words), "{}", ran.out);
    }
    assert!(!place.ws().join("ran").exists());
    if is_confined(&place) {
        let unread = told(&json!({ "command": "touch ran; echo 'unterminated" })).json();
        assert!(output(&unread).contains("nothing of it was run") && !place.ws().join("ran").exists());
        let unknown = told(&json!({ "command": "no-such-program-here" })).json();
        assert_eq!(unknown["metadata"]["exit"], 127);
    }
}

#[test]
fn what_is_denied_to_file_tools_is_denied_to_commands_that_name_it() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    place.file("priv/x", "secret words\n");
    place.file("open", "words\n");
    place.global_config(
        r#"{ "permission": { "bash": "allow", "read": { "priv/*": "deny" }, "edit": { "priv/*": "deny", "open": "deny" } } }"#,
    );
    for script in [
        "cat priv/x",
        "cat < ./priv/../priv/x",
        "echo z > priv/y",
        "rm open",
        "true; cp open priv/z",
        "timeout 5 cat priv/x",
        "uv run cat priv/x",
        "cp -r priv out",
        "cat pri*/x",
        "f=priv/x; cat $f",
        "env -C priv cat x",
    ] {
        let ran = place.run(&["call", "bash", &format!("command={script}")]);
        assert!(ran.code == 5 && !ran.out.contains("secret"), "{script}: {} {}", ran.code, ran.err);
        assert_eq!(place.run(&["permission", "check", "bash", script]).code, 5, "{script}");
    }
    assert_eq!(place.run(&["call", "bash", "command=cat open; echo y > made"]).out, "words\n");
    // What might be one of them is asked about, and nobody is there to answer.
    for script in ["cat $(echo priv/x)", "grep -r secret .", "echo priv/x | xargs cat"] {
        let ran = place.run(&["call", "bash", &format!("command={script}")]);
        assert!(ran.code == 6 && !ran.out.contains("secret"), "{script}: {} {}", ran.code, ran.err);
        assert_eq!(place.run(&["permission", "check", "bash", script]).code, 6, "{script}");
    }
    // Who denies everything but commands speaks of tools, and not of what commands do.
    place.global_config(r#"{ "permission": { "*": "deny", "bash": "allow" } }"#);
    assert_eq!(place.run(&["call", "bash", "command=cat open; echo z > made"]).out, "words\n");
    assert_eq!(place.read("made"), "z\n");
}

#[test]
fn the_commands_of_agents_that_may_not_edit_change_nothing_unless_somebody_agrees() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    // Who only explores cannot even ask for more.
    for (agent, agreed) in [("plan", (0, "x\ny")), ("explore", (5, "x\n"))] {
        place.file("a.rs", "x\n");
        let script = "command=python3 -c \"open('a.'+'rs','w')\"; echo y > made; cat a.rs";
        let ran = place.run(&["call", "bash", script, "--allow", "bash", "--agent", agent]);
        assert_eq!(place.read("a.rs"), "x\n", "{agent}");
        assert!(!place.ws().join("made").exists(), "{agent}: {} {}", ran.out, ran.err);
        let ran = place.run(&["call", "bash", "command=cat a.rs", "--allow", "bash", "--agent", agent]);
        assert_eq!(ran.out, "x\n", "{agent}: {}", ran.err);
        let more =
            json!({ "command": "python3 -c \"open('a.'+'rs','a').write('y')\"", "writable": ["a.rs"] });
        let ran = place.run(&["call", "bash", &more.to_string(), "--yes", "--agent", agent]);
        assert_eq!((ran.code, place.read("a.rs").as_str()), agreed, "{agent}: {} {}", ran.out, ran.err);
    }
}
