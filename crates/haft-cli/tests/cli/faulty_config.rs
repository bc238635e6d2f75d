//! Configuration with a fault in it: what goes on without it, what does not, and what is said about it.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use crate::support::{Place, ran};

const SECRET: &str = "hunter2-is-the-secret";

/// Commands that need no rules of the project.
const GO_ON: &[&[&str]] = &[
    &["undo"],
    &["log"],
    &["gc"],
    &["auth", "list"],
    &["session", "list"],
    &["permission", "pending"],
    &["new", "tool", "begun"],
    &["trust", "list"],
    &["completions", "bash"],
];

/// Commands that do what rules allow, or say what they are.
const REFUSE: &[&[&str]] = &[
    &["call", "read", "filePath=a.txt"],
    &["run", "hello"],
    &["permission", "explain", "read", "a.txt"],
    &["permission", "list"],
];

#[test]
fn a_fault_in_the_projects_configuration_stops_only_what_obeys_its_rules() {
    type Make = dyn Fn(&Place);
    let faults: &[(&str, &Make)] = &[
        ("broken", &|place| drop(place.file("haft.jsonc", "{ broken"))),
        ("unknown key", &|place| drop(place.file("haft.jsonc", r#"{ "permision": {} }"#))),
        ("agent", &|place| drop(place.file(".opencode/agent/a.md", "---\nmode: nonsense\n---\nx"))),
        ("directory", &|place| std::fs::create_dir(place.ws().join("haft.jsonc")).unwrap()),
        ("loop", &|place| symlink("haft.jsonc", place.ws().join("haft.jsonc")).unwrap()),
        ("too large", &|place| drop(place.file("haft.jsonc", &" ".repeat((4 << 20) + 1)))),
        ("pipe", &|place| {
            assert!(Command::new("mkfifo").arg(place.ws().join("haft.jsonc")).status().unwrap().success());
        }),
    ];
    for (fault, make) in faults {
        for trusted in [false, true] {
            let place = Place::new();
            place.file("a.txt", "x");
            assert_eq!(place.run(&["call", "write", "filePath=b.txt", "content=x", "--yes"]).code, 0);
            make(&place);
            if trusted {
                assert_eq!(place.run(&["trust"]).code, 0, "{fault}");
            }
            for command in GO_ON {
                let ran = place.run(command);
                assert_eq!(ran.code, 0, "{fault} {command:?}: {}", ran.err);
                let needs_none = matches!(command[0], "trust" | "completions");
                assert_eq!(ran.err.contains("warning:"), !needs_none, "{fault} {command:?}: {}", ran.err);
            }
            for command in REFUSE {
                let ran = place.run(command);
                assert_eq!(ran.code, 2, "{fault} {command:?}: {}", ran.err);
                assert!(ran.err.contains("cannot be obeyed"), "{fault} {command:?}: {}", ran.err);
            }
            let doctor = place.run(&["doctor"]);
            assert_eq!(doctor.code, 2, "{fault}: {}", doctor.out);
            assert!(
                doctor.out.contains("FAIL setting") && doctor.out.contains("ok   store"),
                "{}",
                doctor.out
            );
        }
    }
}

#[test]
fn a_call_that_breaks_the_configuration_is_taken_back() {
    let place = Place::new();
    let broken = ["call", "write", "filePath=opencode.json", "content={ broken", "--yes"];
    assert_eq!(place.run(&broken).code, 0);
    assert_eq!(place.run(&["call", "read", "filePath=a.txt"]).code, 2);
    let undone = place.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert!(undone.err.contains("opencode.json:1:3"), "{}", undone.err);
    assert!(!place.ws().join("opencode.json").exists());
}

#[test]
fn an_undo_obeys_the_rules_of_the_project_and_says_where_it_could_not() {
    let place = Place::new();
    assert_eq!(place.run(&["trust"]).code, 0);
    assert_eq!(place.run(&["call", "write", "filePath=a.txt", "content=one", "--yes"]).code, 0);
    place.file("haft.jsonc", r#"{ "permission": { "edit": "deny" } }"#);
    let denied = place.run(&["undo", "--yes"]);
    assert!(denied.code != 0 && place.ws().join("a.txt").exists(), "{} {}", denied.out, denied.err);
    // Nobody can tell what this denies.
    place.file("haft.jsonc", r#"{ "permission": { "edit": "deny" "#);
    let undone = place.run(&["undo", "--yes"]);
    assert!(undone.code == 0 && !place.ws().join("a.txt").exists(), "{} {}", undone.out, undone.err);
    assert!(undone.err.contains("the project's rules could not be looked at"), "{}", undone.err);
    assert!(!undone.err.contains("needs no rules"), "{}", undone.err);
    let log = place.run(&["log"]);
    assert!(log.code == 0 && log.err.contains("needs no rules of the project"), "{}", log.err);
}

#[test]
fn the_persons_own_configuration_holds_where_the_projects_cannot_be_read() {
    let place = Place::new();
    place.file("haft.jsonc", "{ broken");
    place.global_config(
        r#"{ "provider": { "mine": { "options": { "baseURL": "http://127.0.0.1:9/v1" } } } }"#,
    );
    let stored = place.run_with(&["auth", "login", "mine"], b"a-key");
    assert_eq!(stored.code, 0, "{}", stored.err);
    place.global_config("{ broken");
    let ran = place.run(&["log"]);
    assert_eq!(ran.code, 2, "a fault of the person's own is theirs to mend: {}", ran.err);
}

#[test]
fn an_agent_that_only_the_project_describes_stops_no_undo() {
    let place = Place::new();
    place.global_config(r#"{ "default_agent": "reviewer" }"#);
    place.file(".opencode/agent/reviewer.md", "Review.");
    assert_eq!(place.run(&["trust"]).code, 0);
    let broken = ["call", "write", "filePath=haft.jsonc", "content={ broken", "--yes"];
    let ran = place.run(&broken);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let undone = place.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert!(!place.ws().join("haft.jsonc").exists());
}

#[test]
fn a_file_that_may_not_be_read_stops_no_undo() {
    let place = Place::new();
    place.file("b.txt", "x");
    let file = place.file("haft.jsonc", "{}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    let ran = place.run_unprivileged(&["log"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("could not read"), "{}", ran.err);
}

#[test]
fn the_mark_stands_below_what_it_marks() {
    let place = Place::new();
    place.file("haft.jsonc", r#"{ "permission": { "edit": {"src/*": "allow", "tests/*": "alow"} } }"#);
    let ran = place.run(&["call", "list"]);
    for text in [ran.err, place.run(&["doctor"]).out, place.run(&["log"]).err] {
        let lines: Vec<&str> = text.lines().collect();
        let marks = lines.iter().position(|line| line.ends_with("^^^^^^")).expect(&text);
        let at = lines[marks].find('^').unwrap();
        assert_eq!(lines[marks - 1].get(at..at + 6), Some("\"alow\""), "{text}");
    }
}

#[test]
fn no_message_shows_a_key_that_is_configured() {
    let place = Place::new();
    place.file(
        "haft.jsonc",
        &format!(r#"{{ "provider": {{ "p": {{ "options": {{ "apiKey": "{SECRET}", nope }} }} }} }}"#),
    );
    for command in
        [&["call", "list"][..], &["call", "list", "--json"], &["doctor"], &["doctor", "--json"], &["log"]]
    {
        let ran = place.run(command);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(all.contains("nope") && all.contains("apiKey") && !all.contains("hunter2"), "{all}");
    }
}

#[test]
fn no_message_shows_the_password_of_an_address_that_is_configured() {
    let cases: &[(&str, &[&[&str]])] = &[
        (
            r#"{ "plugin": ["https://me:hunter2@host/x.js"] }"#,
            &[&["call", "list"], &["tools", "check"], &["tools", "check", "--json"]],
        ),
        (r#"{ "sandbox": { "hosts": ["me:hunter2@host"] } }"#, &[&["call", "list"], &["doctor"]]),
        (r#"{ "sandbox": { "hosts": ["https://me:hunter2@host/"] } }"#, &[&["call", "list"]]),
    ];
    for (config, commands) in cases {
        let place = Place::new();
        place.global_config(config);
        for command in *commands {
            let ran = place.run(command);
            let all = format!("{}{}", ran.out, ran.err);
            assert!(all.contains("@host") && !all.contains("hunter2"), "{config} {command:?}: {all}");
        }
    }
}

#[test]
fn no_message_shows_what_was_put_in_from_elsewhere() {
    let cases: &[(&str, &[&[&str]])] = &[
        (r#"{ "default_agent": "{env:X}" }"#, &[&["call", "list"], &["doctor"], &["permission", "list"]]),
        (r#"{ "default_agent": "a {env:X}" }"#, &[&["call", "list"], &["doctor"]]),
        (r#"{ "shell": "{env:X}" }"#, &[&["call", "list"], &["doctor"]]),
        (r#"{ "sandbox": { "hosts": ["{env:X}/:x"] } }"#, &[&["call", "list"], &["doctor"]]),
        (
            r#"{ "agent": { "build": { "description": "{env:X}", "options": { "apiKey": "{env:X}" } } } }"#,
            &[&["agents"], &["agents", "--json"], &["agents", "build"], &["agents", "build", "--json"]],
        ),
        (r#"{ "instructions": ["{env:X}"] }"#, &[&["agents", "build"], &["agents", "build", "--json"]]),
        (r#"{ "plugin": ["./{env:X}.ts"] }"#, &[&["tools", "list"], &["tools", "check"], &["call", "list"]]),
        (r#"{ "plugin": ["{env:X}"] }"#, &[&["tools", "check"], &["tools", "check", "--json"]]),
        (r#"{ "lsp": { "f": { "command": ["{env:X}"], "extensions": [".f"] } } }"#, &[&["doctor"]]),
        (r#"{ "shell": "/{env:X}" }"#, &[&["call", "bash", "command=ls"]]),
        (
            r#"{ "permission": { "read": { "{env:X}*": "deny" } } }"#,
            &[&["call", "read", "filePath=hunter2-is-the-secret"]],
        ),
        (r#"{ "model": "{env:X}" }"#, &[&["run", "hello"]]),
        (r#"{ "model": "{file:secret.txt}" }"#, &[&["run", "hello"]]),
        (r#"{ "model": "{file:{env:X}}" }"#, &[&["log"], &["call", "list"]]),
        (
            r#"{ "permission": { "bash": { "curl {env:X} *": "allow" } } }"#,
            &[
                &["permission", "list"],
                &["permission", "list", "--json"],
                &["permission", "explain", "bash", "ls"],
            ],
        ),
    ];
    for (config, commands) in cases {
        let place = Place::new();
        place.file("haft.jsonc", config);
        place.file("secret.txt", SECRET);
        for command in *commands {
            let mut command = place.command(command);
            let ran = ran(command.env("HAFT_TRUST", "1").env("X", SECRET).output().unwrap());
            let all = format!("{}{}", ran.out, ran.err);
            assert!(!all.contains("hunter2"), "{config} {command:?}: {all}");
            assert!(
                all.contains("{env:X}")
                    || all.contains("{file:secret.txt}")
                    || command.get_args().count() == 4,
                "{config} {command:?}: {all}"
            );
        }
    }
}

#[test]
fn configuration_that_changes_a_few_times_is_read_again() {
    let place = Place::new();
    let (file, new) = (place.file("haft.jsonc", "{}"), place.ws().join("new"));
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    // Fewer changes than times it is read, so that the last reading always finds it at rest.
    let writing = std::thread::spawn(move || {
        for _ in 0..5 {
            std::fs::write(&new, "{}").unwrap();
            std::fs::rename(&new, &file).unwrap();
            if stopped.recv_timeout(std::time::Duration::from_millis(60)).is_ok() {
                break;
            }
        }
    });
    let ran = place.run(&["call", "list", "path=."]);
    let _gone = stop.send(());
    writing.join().unwrap();
    assert_eq!(ran.code, 0, "{}", ran.err);
}
