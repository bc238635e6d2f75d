//! Undoing when what was kept is damaged or its key is gone: it is said, and everything else goes on.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Place, Ran};

/// Too large for the database, so that it has a file of its own.
fn large(mark: &str) -> String {
    format!("{mark} of many\n").repeat(20_000)
}

fn edit(place: &Place, old: &str, new: &str) -> String {
    let (old, new) = (format!("oldString={old}"), format!("newString={new}"));
    let ran = place.run(&["call", "edit", "filePath=a.txt", &old, &new, "replaceAll:=true", "--json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    ran.json()["call"].as_str().unwrap().to_owned()
}

fn undo(place: &Place, call: &str) -> Ran {
    place.run(&["undo", call, "--yes"])
}

fn image(place: &Place, content: &str) -> PathBuf {
    place.store().join("journal").join(haft_store::digest(content.as_bytes()))
}

fn damage(place: &Place, content: &str) {
    let file = image(place, content);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

fn journal(place: &Place) -> (i32, Value) {
    let ran = place.run(&["doctor", "--json"]);
    let found = ran.json()["findings"].as_array().unwrap().clone();
    (ran.code, found.into_iter().find(|finding| finding["about"] == "journal").unwrap())
}

#[test]
fn a_change_that_reuses_a_damaged_image_can_be_undone() {
    let place = Place::new();
    place.file("a.txt", &large("one"));
    edit(&place, "one", "two");
    damage(&place, &large("two"));
    let call = edit(&place, "two", "three");
    let undone = undo(&place, &call);
    assert_eq!(undone.code, 0, "{} {}", undone.out, undone.err);
    assert!(place.read("a.txt") == large("two"));
    assert_eq!(journal(&place).0, 0);
}

#[test]
fn what_is_damaged_is_said_by_undo_and_doctor() {
    let place = Place::new();
    place.file("a.txt", &large("one"));
    let call = edit(&place, "one", "two");
    let (code, whole) = journal(&place);
    assert_eq!((code, &whole["ok"]), (0, &Value::Bool(true)), "{whole}");
    assert!(whole["text"].as_str().unwrap().starts_with("whole, "), "{whole}");
    std::fs::write(image(&place, &large("one")), "").unwrap();
    let undone = undo(&place, &call);
    assert_eq!(undone.code, 3, "{}", undone.err);
    let said = format!("{}{}", undone.out, undone.err);
    assert!(said.contains("what was kept is damaged") && !said.contains("buffer"), "{said}");
    assert!(place.read("a.txt") == large("two"), "nothing was touched");

    let (code, found) = journal(&place);
    assert_eq!((code, &found["ok"]), (1, &Value::Bool(false)), "{found}");
    let facts = &found["facts"];
    assert_eq!((&facts["damaged"], &facts["calls"][0]), (&Value::from(1), &Value::from(call.as_str())));
    let text = place.run(&["doctor"]).out;
    assert!(text.contains("FAIL journal") && text.contains(&call) && text.contains("ok   store"), "{text}");

    let shown = place.run(&["gc", "--unreadable", "--json"]).json();
    assert_eq!((&shown["unreadable"]["count"], &shown["unreadable"]["removed"]), (&1.into(), &false.into()));
    assert_eq!(journal(&place).0, 1, "it was only shown");
    assert_eq!(place.run(&["gc", "--yes"]).code, 0);
    assert_eq!(journal(&place).0, 1, "what is in use is not given up unasked");
    assert_eq!(place.run(&["gc", "--unreadable", "--yes"]).code, 0);
    assert_eq!(journal(&place).0, 0);
    assert!(undo(&place, &call).err.contains("not kept any longer"));
}

#[test]
fn a_lost_key_is_said_and_new_changes_can_be_undone() {
    for content in [large, |mark: &str| format!("{mark}\n")] {
        let place = Place::new();
        place.file("a.txt", &content("one"));
        let earlier = edit(&place, "one", "two");
        let (key, backup) = (place.store().join("images.key"), place.root().join("backup"));
        std::fs::rename(&key, &backup).unwrap();

        let refused = undo(&place, &earlier);
        assert_eq!(refused.code, 3, "{}", refused.err);
        assert!(refused.err.contains("sealed with a key that is gone"), "{}", refused.err);
        let noticed = refused.err.matches("images.key is gone").count();
        assert_eq!(noticed, 1, "it is noticed by itself, and said once: {}", refused.err);
        assert!(!key.exists(), "an undo that does nothing makes no key");
        let (code, found) = journal(&place);
        assert_eq!((code, &found["facts"]["calls"][0]), (1, &Value::from(earlier.as_str())), "{found}");
        assert!(found["text"].as_str().unwrap().contains("from a backup"), "{found}");

        let later = edit(&place, "two", "three");
        let undone = undo(&place, &later);
        assert_eq!((undone.code, place.read("a.txt") == content("two")), (0, true), "{}", undone.err);
        assert!(!undone.err.contains("images.key is gone"), "there is one: {}", undone.err);
        let refused = undo(&place, &earlier);
        assert!(refused.code == 3 && refused.err.contains("a key that is gone"), "{}", refused.err);
        assert_eq!(journal(&place).0, 1);

        std::fs::rename(&backup, place.store().join("images.key.old")).unwrap();
        assert_eq!(journal(&place).0, 0);
        let undone = undo(&place, &earlier);
        assert_eq!((undone.code, place.read("a.txt") == content("one")), (0, true), "{}", undone.err);
    }
}

#[test]
fn a_key_that_is_cut_is_kept_aside_and_stops_nothing() {
    let place = Place::new();
    place.file("a.txt", "one\n");
    edit(&place, "one", "two");
    std::fs::write(place.store().join("images.key"), "cut").unwrap();
    let later = edit(&place, "two", "three");
    assert_eq!((undo(&place, &later).code, place.read("a.txt").as_str()), (0, "two\n"));
    assert_eq!(journal(&place).1["facts"]["keyLost"], 1);
}

#[test]
fn what_may_not_be_read_is_said_with_its_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.file("a.txt", &large("one"));
    let written = place.run_unprivileged(&[
        "call",
        "edit",
        "filePath=a.txt",
        "oldString=one",
        "newString=two",
        "replaceAll:=true",
        "--json",
    ]);
    assert_eq!(written.code, 0, "{}", written.err);
    let call = written.json()["call"].as_str().unwrap().to_owned();
    for (file, said) in [
        (image(&place, &large("one")), "what was kept cannot be read from"),
        (place.store().join("images.key"), "images.key cannot be read; see to its permissions"),
    ] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
        let refused = place.run_unprivileged(&["undo", &call, "--yes"]);
        assert!(refused.code != 0 && refused.err.contains(said), "{} {}", refused.code, refused.err);
        let doctor = place.run_unprivileged(&["doctor"]);
        assert!(doctor.out.contains("FAIL journal") && doctor.out.contains(said), "{}", doctor.out);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(place.run_unprivileged(&["undo", &call, "--yes"]).code, 0);
}
