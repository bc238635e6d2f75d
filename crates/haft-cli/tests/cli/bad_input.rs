//! Bad input: a clear message, its exit code, nothing changed, nothing hung.

use crate::support::{Place, is_root, ran};

#[test]
fn input_that_could_be_read_two_ways_never_reaches_a_tool() {
    let place = Place::new();
    place.file("a.txt", "secret of a\n");
    let deep = "[".repeat(100_000);
    let cases = [
        (deep.as_str(), "recursion limit"),
        (r#"{"filePath":"a.txt","filePath":"b.txt"}"#, "stands twice"),
        (r#"{"filePath":"\ud800"}"#, "JSON"),
        (r#"{"filePath":"a\u0000b"}"#, "NUL"),
        (r#"{"filePath":"a.txt","limit":1e400}"#, "out of range"),
        (r#"{"filePath":"a.txt"} trailing"#, "trailing"),
        (r#"{"filePath":["a.txt"]}"#, "expected a string"),
        (r#"{"filePath":"a.txt","__proto__":{}}"#, "unknown field"),
        (r#"{"filePath":"a.txt","ofset":1}"#, "did you mean offset?"),
        (r#"{"filePath":"a.txt","limit":2.5}"#, "limit"),
        ("[]", "expected an object"),
        ("null", "expected an object"),
        ("", "EOF"),
    ];
    for (input, says) in cases {
        let ran = place.run_with(&["call", "read", "-", "--json"], input.as_bytes());
        let shown: String = input.chars().take(60).collect();
        assert_eq!(ran.code, 4, "{shown}: {} {}", ran.out, ran.err);
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains(says), "{shown}: {}", ran.out);
        assert!(!ran.out.contains("secret of a"));
    }
}

#[test]
fn ten_megabytes_of_arguments_are_answered() {
    let place = Place::new();
    let path = format!(r#"{{"filePath":"{}"}}"#, "x".repeat(10_000_000));
    let ran = place.run_with(&["call", "read", "-", "--json"], path.as_bytes());
    assert_eq!(ran.code, 3, "{}", ran.out.chars().take(300).collect::<String>());
    assert!(ran.out.len() < 100_000, "the answer does not repeat the question: {} bytes", ran.out.len());
    let content = format!(r#"{{"filePath":"big","content":"{}"}}"#, "x".repeat(10_000_000));
    let ran = place.run_with(&["call", "write", "-"], content.as_bytes());
    assert_eq!((ran.code, place.read("big").len()), (0, 10_000_000), "{}", ran.err);
}

#[test]
fn broken_configuration_is_shown_with_its_place() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.global_config("{\n  \"permission\": { \"read\": \"alow\" }\n}");
    let ran = place.run(&["call", "read", "filePath=a.txt"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("haft.jsonc:2:27") && ran.err.contains('^') && ran.err.contains("allow"),
        "{}",
        ran.err
    );
    place.global_config("{ \"permision\": {} }");
    let ran = place.run(&["call", "read", "filePath=a.txt"]);
    assert!(ran.code == 2 && ran.err.contains("permission"), "{}", ran.err);
    place.global_config("{ nonsense");
    assert_eq!(place.run(&["call", "read", "filePath=a.txt"]).code, 2);
}

#[test]
fn without_a_home_haft_says_what_to_set() {
    let place = Place::new();
    let output = place
        .command(&["call", "read", "filePath=a.txt"])
        .env_remove("HOME")
        .env_remove("HAFT_HOME")
        .output();
    let ran = ran(output.unwrap());
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("HOME"), "{}", ran.err);
}

#[test]
fn a_store_that_cannot_be_written_to_is_reported_and_nothing_is_done() {
    let place = Place::new();
    place.file("a.txt", "old");
    std::fs::create_dir_all(place.store()).unwrap();
    let status = std::process::Command::new("chmod").arg("0555").arg(place.store()).status().unwrap();
    assert!(status.success());
    let ran = place.run_unprivileged(&["call", "write", "filePath=a.txt", "content=new"]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("data"), "it names the directory: {}", ran.err);
    assert_eq!(place.read("a.txt"), "old");
}

#[test]
fn a_full_store_fails_the_call_and_says_so() {
    if !is_root() {
        eprintln!("SKIPPED: mounting a small file system needs root");
        return;
    }
    let place = Place::new();
    place.file("a.txt", "old");
    std::fs::create_dir_all(place.store()).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "none"])
        .arg(place.store())
        .status()
        .unwrap();
    if !mounted.success() {
        eprintln!("SKIPPED: mounting is not allowed here");
        return;
    }
    let ran = place.run(&["call", "write", "filePath=a.txt", "content=new"]);
    let unmounted = std::process::Command::new("umount").arg("-l").arg(place.store()).status().unwrap();
    assert!(unmounted.success());
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    assert_eq!(place.read("a.txt"), "old", "what cannot be recorded is not done");
}

#[test]
fn a_working_directory_that_is_none_is_a_usage_error() {
    let place = Place::new();
    place.file("a.txt", "x");
    for directory in ["nowhere", "a.txt"] {
        let ran = place.run(&["call", "read", "filePath=a.txt", "-C", directory]);
        assert_eq!(ran.code, 2, "{}", ran.err);
    }
}

#[test]
fn a_key_that_is_too_long_is_refused_and_not_cut() {
    let place = Place::new();
    let login = ["auth", "login", "openai"];
    let ran = place.run_with(&login, "k".repeat((16 << 10) + 1).as_bytes());
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("longer than 16384 bytes") && ran.err.contains("nothing was stored"),
        "{}",
        ran.err
    );
    assert!(!place.run(&["auth", "list"]).out.contains("openai"));
    let longest = format!("{}\n", "k".repeat(16 << 10));
    assert_eq!(place.run_with(&login, longest.as_bytes()).code, 0);
    let kept = std::fs::read_to_string(place.store().join("auth.json")).unwrap();
    assert!(kept.contains(longest.trim()), "it is kept whole");
}

#[test]
fn a_prompt_without_a_word_is_none() {
    let place = Place::new();
    let none = place.run(&["run"]);
    for prompt in ["", "  ", "\n"] {
        let ran = place.run(&["run", prompt]);
        assert_eq!((ran.code, &ran.err), (2, &none.err), "{prompt:?}");
        assert!(ran.err.contains("there is nothing to do"), "{}", ran.err);
    }
}

#[test]
fn what_haft_keeps_is_not_attached_and_is_said_to_be_its_own() {
    let place = Place::new();
    assert_eq!(place.run_with(&["auth", "login", "openai"], b"a-key").code, 0);
    let keys = place.store().join("auth.json");
    for there in [keys.clone(), keys.with_file_name("nothing")] {
        let there = there.to_str().unwrap();
        for args in [&["run", &format!("look at @{there}")][..], &["run", "look", "--file", there]] {
            let ran = place.run(args);
            assert_eq!(ran.code, 2, "{}", ran.err);
            assert!(ran.err.contains("where haft keeps its own data"), "{}", ran.err);
            assert!(!ran.err.contains("there is no file"), "{}", ran.err);
        }
    }
    let missing = place.run(&["run", "look at @missing.txt", "--file", "missing.txt"]);
    assert!(missing.err.contains("there is no file \"missing.txt\""), "{}", missing.err);
}

#[test]
fn a_title_of_several_lines_is_one_line_in_the_log() {
    let place = Place::new();
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: b.txt\n+y\n*** End Patch";
    let ran = place.run(&["call", "apply_patch", &format!("patchText={patch}"), "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let log = place.run(&["log"]).out;
    assert!(log.lines().count() == 1 && log.contains("files: …") && !log.contains("u{a}"), "{log}");
}
