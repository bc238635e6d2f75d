//! Whatever is wrong, and wherever it is: the place is told, and no secret that stands around it.

use super::super::super::masked::{masked, secrets};
use super::super::World;

const SECRET: &str = "hunter2";

/// Entries that hold a secret. What is between the signs says so.
const ENTRIES: &[&str] = &[
    r#""«apiKey»": "hunter2""#,
    r#""«pwd»": "hunter2""#,
    r#""«passwd»": "hunter2""#,
    r#""«db_pass»": "hunter2""#,
    r#""«creds»": "hunter2""#,
    r#""«api\u004bey»": "hunter2""#,
    r#""command": "f «--token »hunter2""#,
    r#""command": "f «-p »hunter2 x""#,
    r#""command": "f «--password=»hunter2""#,
    r#""command": ["f", "«--token»", "hunter2", "x"]"#,
    r#""command": ["f «-p »hunter2"]"#,
    r#""command": ["f", "«-p»", "hunter2"]"#,
    r#""command": ["curl", "«-H»", "X-Team: hunter2"]"#,
    r#""permission": {"bash": {"curl «--token »hunter2 *": "allow"}}"#,
    r#""permission": {"bash": {"«API_KEY=»hunter2 make *": "allow"}}"#,
    r#""permission": {"webfetch": {"https://h/?«api_key=»hunter2": "ask"}}"#,
    r#""permission": {"webfetch": {"«Authorization»: Bearer hunter2": "ask"}}"#,
    r#""permission": [{"permission": "bash", "pattern": "f «--token »hunter2", "action": "ask"}]"#,
    r#""«env»": {"TEAM": "hunter2"}"#,
    r#""«environment»": {"TEAM": ["hunter2", 1]}"#,
    r#""«headers»": {"X-Team": "hunter2"}"#,
    r#""url": "https«://»me:hunter2@host/x""#,
    r#""url": "https«://h»unter2@host/x""#,
    r#""header": "«Cookie»: a=hunter2""#,
    r#""why": "{\"«token\": \"»hunter2\"}""#,
];

/// What is wrong beside it.
const FAULTS: &[&str] = &[
    "nope",
    r#""x" 1"#,
    r#""x": }"#,
    r#""x": "y"#,
    r#""x": 'y'"#,
    r#""x": 1 "y": 2"#,
    r#""permision": {}"#,
    r#""model": 5"#,
    r#""model": "a/b", "model": "c/d""#,
    r#""shell": ["x"]"#,
    r#""tools": {"bash": "alow"}"#,
];

/// Where both stand.
const LAYOUTS: &[&str] = &[
    "{E, F}",
    "{F, E}",
    "{E F}",
    "{F E}",
    "{\n  E,\n  F\n}\n",
    "{\n  F,\n  E\n}\n",
    "{\n  // E\n  F // E\n}\n",
    "{\"agent\": {\"a\": {E, F}}}",
    "{\"provider\": {\"p\": {\"options\": {F, E}}}}",
];

fn without_signs(text: &str) -> String {
    text.replace(['«', '»'], "")
}

/// A text with one of these characters left out or put in anywhere but between the signs.
fn damaged(text: &str) -> impl Iterator<Item = String> + '_ {
    const STRUCTURE: &[char] = &['"', '{', '}', '[', ']', ',', ':'];
    let mut is_kept = false;
    text.char_indices().flat_map(move |(at, c)| {
        is_kept = (is_kept || c == '«') && c != '»';
        let (before, after) = (&text[..at], &text[at..]);
        let without = STRUCTURE.contains(&c).then(|| format!("{before}{}", &after[c.len_utf8()..]));
        let with = STRUCTURE.iter().map(|put| format!("{before}{put}{after}"));
        let all: Vec<String> = without.into_iter().chain(with).filter(|_| !is_kept).collect();
        all
    })
}

#[test]
fn whatever_is_wrong_the_place_is_told_and_no_secret() {
    let world = World::new();
    let mut complaints = 0;
    for entry in ENTRIES {
        for fault in FAULTS {
            for layout in LAYOUTS {
                let text = layout.replace('F', fault).replace('E', &without_signs(entry));
                std::fs::write(world.path("repo/haft.jsonc"), &text).unwrap();
                let complaint = world.complaint();
                assert!(!complaint.contains(SECRET), "{text}\n{complaint}");
                // What an agent is given beside what haft knows is for its provider to judge.
                if !complaint.is_empty() {
                    assert!(tells_a_place(&complaint), "{text}\n{complaint}");
                    complaints += 1;
                }
            }
        }
    }
    assert!(complaints > ENTRIES.len() * FAULTS.len() * LAYOUTS.len() * 3 / 4, "{complaints}");
}

fn tells_a_place(complaint: &str) -> bool {
    let place = complaint.strip_prefix("repo/haft.jsonc:").unwrap_or_default();
    let mut numbers = place.split(':').map(|part| part.parse::<u32>().is_ok_and(|number| number > 0));
    numbers.next() == Some(true) && numbers.next() == Some(true)
}

#[test]
fn however_a_text_was_damaged_no_secret_is_shown() {
    for entry in ENTRIES {
        for text in ["{E}", "{\"a\": 1, E, \"b\": 2}", "{\n  \"a\": 1,\n  E,\n  \"b\": 2\n}"] {
            for text in damaged(&text.replace('E', entry)).map(|text| without_signs(&text)) {
                let shown = masked(&text, 0..text.len(), &secrets(&text));
                assert!(!shown.contains(SECRET), "{text}\n{shown}");
            }
        }
    }
}

#[test]
fn nor_is_one_of_an_agent() {
    for line in [
        "permission:\n  bash:\n    \"curl --token hunter2 *\": alow",
        "permission:\n  webfetch:\n    https://h/?api_key=hunter2: alow",
        "options:\n  pwd: hunter2\nmode: nonsense",
        "options:\n  env:\n    TEAM: hunter2\nmode: nonsense",
        "options: {env: {TEAM: hunter2}, : }",
        "options:\n  \"api\\x4bey\": hunter2\n broken",
        "options: {command: [f, -p, hunter2]}\nmode: nonsense",
        "options: {apiKey: {env: hunter2}, : }",
        "mode: x --token hunter2",
    ] {
        let complaint =
            World::with("repo/.opencode/agent/a.md", &format!("---\n{line}\n---\nDo.")).complaint();
        assert!(complaint.starts_with("repo/.opencode/agent/a.md:"), "{line}\n{complaint}");
        assert!(!complaint.contains(SECRET), "{line}\n{complaint}");
    }
}

#[test]
fn the_key_is_still_told() {
    for (text, told) in [
        (r#"{"permission": {"bash": {"curl --token hunter2 *": "alow"}}}"#, r#""curl --token …": "alow""#),
        (r#"{"permission": {"bash": {"git push *": "hunter2"}}}"#, r#""git push *": "…""#),
        (r#"{"formatter": {"f": {"environment": {"TEAM": ["hunter2"]}}}}"#, r#""TEAM": "#),
        (r#"{"pasword": "hunter2", "model": 5}"#, "pasword"),
    ] {
        let complaint = World::with("repo/haft.jsonc", text).complaint();
        assert!(complaint.contains(told), "{text}\n{complaint}");
    }
}
