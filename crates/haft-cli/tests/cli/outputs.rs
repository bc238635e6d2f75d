//! Retained outputs: found again by call, line and pattern, and by a model through `read`.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::Place;

#[test]
fn a_whole_output_is_found_again() {
    let place = Place::new();
    let todos: Vec<String> = (1..=3000)
        .map(|n| format!(r#"{{"content":"step {n}","status":"pending","priority":"low"}}"#))
        .collect();
    let input = format!(r#"{{"todos":[{}]}}"#, todos.join(","));
    let ran = place.run_with(&["call", "todowrite", "-", "--json", "--session", "s"], input.as_bytes());
    let document = ran.json();
    let shown = document["output"].as_str().unwrap();
    assert!(
        shown.len() <= 50 * 1024 && shown.contains("step 1\"") && shown.contains("step 3000"),
        "{}",
        shown.len()
    );
    assert_eq!(document["metadata"]["truncated"], true);
    let id = document["retained"]["id"].as_str().unwrap();
    assert!(shown.contains(&format!("Full output saved to: haft://output/{id}")));

    let call = document["call"].as_str().unwrap();
    let whole = place.run(&["output", call]);
    assert_eq!((whole.code, whole.out.matches("\"content\"").count()), (0, 3000), "{}", whole.err);
    assert!(place.run(&["output", call, "--lines", "3:3"]).out.contains("step 1\""));
    assert!(place.run(&["output", call, "--grep", "step 1234\""]).out.contains("step 1234"));
    assert_eq!(place.run(&["output", call, "--tail", "1"]).out, "]\n");

    let address = format!("filePath=haft://output/{id}");
    let own = place.run(&["call", "read", &address, "offset=3", "limit=1", "--session", "s"]);
    assert!(own.code == 0 && own.out.contains("3:     \"content\": \"step 1\""), "{} {}", own.out, own.err);
    let other = place.run(&["call", "read", &address, "--session", "somebody-else"]);
    assert_eq!(other.code, 6, "another session needs consent: {}", other.out);
}

#[test]
fn what_was_not_shortened_is_printed_from_the_record() {
    let place = Place::new();
    place.file("a.txt", "hello\n");
    let call = place.run(&["call", "read", "filePath=a.txt", "--json"]).json()["call"].clone();
    assert!(place.run(&["output", call.as_str().unwrap()]).out.contains("1: hello"));
    assert_eq!(place.run(&["output", "cal_nothing"]).code, 2);
}

#[test]
fn a_program_gets_exactly_the_bytes() {
    let place = Place::new();
    let done = place.run(&["call", "todowrite", r#"{"todos":[]}"#, "--json"]).json();
    let (call, shown) = (done["call"].as_str().unwrap(), done["output"].as_str().unwrap());
    assert!(!shown.ends_with('\n'), "{shown:?}");
    assert_eq!(place.run(&["output", call]).out, shown);
}

#[test]
fn gc_says_what_is_where() {
    let place = Place::new();
    place.file("a.txt", "hello\n");
    place.run(&["call", "read", "filePath=a.txt"]);
    let usage = place.run(&["gc", "--json"]).json();
    assert!(usage["database"]["bytes"].as_u64().unwrap() > 0, "{usage}");
    assert_eq!(usage["calls"], 1);
    assert!(place.run(&["gc"]).out.contains(place.store().to_str().unwrap()));
}

#[test]
fn gc_removes_what_a_killed_haft_left_unfinished_and_nothing_of_a_living_one() {
    let place = Place::new();
    place.global_config(r#"{ "permission": { "bash": "allow" } }"#);
    let outputs = place.store().join("outputs");
    let unfinished = || {
        let names = std::fs::read_dir(&outputs).into_iter().flatten().filter_map(Result::ok);
        let mut files = names.filter(|entry| entry.file_name().to_string_lossy().starts_with(".unfinished-"));
        files.find(|entry| entry.metadata().is_ok_and(|metadata| metadata.len() > 0))
    };
    let mut flooding = place.command(&["call", "bash", "command=yes haft"]);
    let mut flooding = flooding.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while unfinished().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let alive = place.run(&["gc", "--yes", "--json"]).json();
    let is_still_there = unfinished().is_some();
    flooding.kill().unwrap();
    flooding.wait().unwrap();
    assert!(is_still_there && alive["removed"]["leftovers"] == 0, "{alive}");

    let told = place.run(&["gc"]);
    assert!(told.out.contains("1 unfinished, of processes that died"), "{}", told.out);
    assert!(told.err.contains("haft gc --yes"), "{}", told.err);
    let removed = place.run(&["gc", "--yes", "--json"]).json();
    assert_eq!(removed["removed"]["leftovers"], 1, "{removed}");
    assert!(
        removed["removed"]["leftoversBytes"].as_u64().unwrap() > 0 && unfinished().is_none(),
        "{removed}"
    );
    assert!(!place.run(&["gc"]).out.contains("unfinished"));
}

#[test]
fn gc_gives_back_what_removed_sessions_took() {
    let place = Place::new();
    let input = format!(r#"{{"filePath":"big","content":"{}"}}"#, "x".repeat(8_000_000));
    place.run_with(&["call", "write", "-", "--session", "one"], input.as_bytes());
    let size = || place.run(&["gc", "--json"]).json()["database"]["bytes"].as_u64().unwrap();
    assert!(size() > 8_000_000);
    assert_eq!(place.run(&["session", "rm", "one", "--yes"]).code, 0);
    assert_eq!(place.run(&["gc", "--yes"]).code, 0);
    assert!(size() < 2_000_000, "{} bytes are left", size());
}

#[test]
fn a_page_of_names_is_no_larger_than_a_page_of_text() {
    let place = Place::new();
    for n in 0..2000 {
        place.file(&format!("d/{n:04}-{}", "x".repeat(40)), "");
    }
    let document = place.run(&["call", "read", "filePath=d", "limit=100000", "--json"]).json();
    assert!(document["output"].as_str().unwrap().len() < 52 * 1024);
    assert_eq!(document["metadata"]["truncated"], true);
}

#[test]
fn one_limit_holds_for_all_media() {
    let place = Place::new();
    let image = [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 5000]].concat();
    std::fs::write(place.ws().join("i.png"), image).unwrap();
    assert_eq!(place.run(&["call", "read", "filePath=i.png"]).code, 0);
    place.global_config(r#"{ "tool_output": { "max_media_bytes": 4000 } }"#);
    let ran = place.run(&["call", "read", "filePath=i.png"]);
    assert!(ran.code == 3 && ran.err.contains("4000"), "{}", ran.err);
}

#[test]
fn images_are_scaled_down_to_the_configured_side() {
    /// Thirty pixels by ten, all of them grey.
    #[rustfmt::skip]
    const IMAGE: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x1e\x00\x00\x00\x0a\x08\x00\x00\x00\x00\x86\x1c\xb1\xf3\x00\x00\x00\x10IDATx\x9cch\xc0\x0b\x18F\xa5\xb1\x01\x00\xd8|\x96\x01\xe6\x88\xe41\x00\x00\x00\x00IEND\xaeB`\x82";
    let place = Place::new();
    std::fs::write(place.ws().join("i.png"), IMAGE).unwrap();
    let sizes = || {
        let document = place.run(&["call", "read", "filePath=i.png", "--json"]).json();
        let image = &document["metadata"]["image"];
        (
            image["original"]["width"].clone(),
            image["shown"]["width"].clone(),
            image["shown"]["height"].clone(),
        )
    };
    assert_eq!(sizes(), (30.into(), 30.into(), 10.into()));
    place.global_config(r#"{ "tool_output": { "max_image_side": 6 } }"#);
    assert_eq!(sizes(), (30.into(), 6.into(), 2.into()));
}
