//! The store as a person meets it: shared, corrupt, newer, and free of secrets.

use std::process::Stdio;

use crate::support::Place;

#[test]
fn many_processes_share_one_store() {
    let place = Place::new();
    place.file("a.txt", "x");
    let children: Vec<_> = (0..24)
        .map(|n| {
            let session = format!("p{n}");
            place
                .command(&["call", "write", &format!("filePath=f{n}"), "content=x", "--session", &session])
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let ran = crate::support::ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    assert_eq!(place.log().iter().filter(|call| call["status"] == "completed").count(), 24);
}

#[test]
fn a_corrupt_store_is_set_aside_and_never_overwritten() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.run(&["call", "read", "filePath=a.txt"]);
    let db = place.store().join("haft.db");
    std::fs::write(&db, "this is no database, but somebody's only copy of something").unwrap();
    for journal in ["haft.db-wal", "haft.db-shm"] {
        let _absent = std::fs::remove_file(place.store().join(journal));
    }
    let ran = place.run(&["call", "read", "filePath=a.txt"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("kept as"), "{}", ran.err);
    let aside = std::fs::read_dir(place.store()).unwrap().filter_map(Result::ok);
    let aside =
        aside.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("corrupt")).unwrap();
    assert!(std::fs::read_to_string(aside).unwrap().contains("only copy"));
}

#[test]
fn a_record_that_lost_its_end_is_noticed() {
    let place = Place::new();
    place.file("a.txt", "x");
    for _ in 0..3 {
        place.run(&["call", "read", "filePath=a.txt"]);
    }
    assert_eq!(place.log().len(), 3);
    // The log of the database is damaged where its frames begin, as by a bad disk.
    let log = place.store().join("haft.db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[40..48].copy_from_slice(b"damaged!");
    std::fs::write(&log, bytes).unwrap();
    let ran = place.run(&["log"]);
    assert!(ran.err.contains("lost its last") && ran.err.contains("kept as"), "{}", ran.err);
    assert!(!place.run(&["log"]).err.contains("lost its last"), "it is said once");
    assert_eq!(place.run(&["call", "read", "filePath=a.txt"]).code, 0, "and the store goes on");
}

#[test]
fn a_store_of_a_newer_haft_is_left_alone() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.run(&["call", "read", "filePath=a.txt"]);
    let db = place.store().join("haft.db");
    let status = std::process::Command::new("sqlite3").arg(&db).arg("PRAGMA user_version=999").status();
    if !status.is_ok_and(|status| status.success()) {
        panic!("this test needs the program sqlite3");
    }
    let ran = place.run(&["call", "read", "filePath=a.txt"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("newer") && ran.err.contains("999"), "{}", ran.err);
}

#[test]
fn secrets_do_not_reach_the_disk() {
    let place = Place::new();
    let secret = "CANARYVALUE-0123456789";
    place.file("a.txt", &format!("key {secret} and sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\n"));
    let ran = place.command(&["call", "read", "filePath=a.txt"]).env("MY_API_KEY", secret).output().unwrap();
    let ran = crate::support::ran(ran);
    assert!(ran.out.contains(secret), "the tool's answer is not changed");
    place
        .command(&["call", "write", "filePath=b.txt", &format!("content={secret}")])
        .env("MY_API_KEY", secret)
        .output()
        .unwrap();
    for flag in ["--key", "--session"] {
        let ran = place
            .command(&["call", "read", "filePath=a.txt", flag, secret])
            .env("MY_API_KEY", secret)
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(2), "{flag} is kept as it is and must not hold a secret");
    }
    for entry in walk(&place.home()) {
        let bytes = std::fs::read(&entry).unwrap();
        let holds = |needle: &str| bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
        assert!(!holds(secret) && !holds("sk-ant-api03-abc"), "{} holds a secret", entry.display());
    }
}

#[test]
fn headers_for_a_provider_do_not_reach_the_disk() {
    let place = Place::new();
    let (token, gateway) = ("gw-token-0123456789", "another-value-98765");
    let headers = serde_json::json!({ "Authorization": format!("Bearer {token}"), "X-Gateway-Key": gateway, "X-Team": "blue-herons" });
    let config = serde_json::json!({ "provider": { "gate": { "options": { "baseURL": "http://127.0.0.1:9", "headers": headers } } } });
    place.file("a.txt", &format!("{token} {gateway} blue-herons\n"));
    let mut call = place.command(&["call", "read", "filePath=a.txt"]);
    let ran = crate::support::ran(call.env("HAFT_CONFIG_CONTENT", config.to_string()).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let kept: Vec<Vec<u8>> = walk(&place.home()).iter().map(|entry| std::fs::read(entry).unwrap()).collect();
    let holds = |needle: &str| {
        kept.iter().any(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
    };
    assert!(!holds(token) && !holds(gateway));
    assert!(holds("blue-herons"), "what is no secret is kept as it is");
}

#[test]
fn doctor_looks_at_everything() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.run(&["call", "read", "filePath=a.txt"]);
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains(place.store().to_str().unwrap()), "{}", ran.out);
    assert_eq!(place.run(&["doctor", "--json"]).json()["v"], 1);
    assert_eq!(place.run(&["log", "verify"]).code, 0);
}

/// A small disk that goes with this value, whatever comes between.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(at: &std::path::Path) -> Option<SmallDisk> {
        let mut mount = std::process::Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=8m", "none"]).arg(at).status();
        mounted.is_ok_and(|status| status.success()).then(|| SmallDisk(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            eprintln!("{} is still mounted", self.0.display());
        }
    }
}

#[test]
fn doctor_finds_a_disk_that_is_full() {
    let place = Place::new();
    place.file("a.txt", "x");
    std::fs::create_dir_all(place.store()).unwrap();
    let Some(disk) = SmallDisk::mount(&place.store()) else {
        eprintln!("SKIPPED: no right to mount a small disk, so a full one was not tested");
        return;
    };
    assert_eq!(place.run(&["call", "read", "filePath=a.txt"]).code, 0);
    let whole = place.run(&["doctor"]);
    let filling = place.store().join("filling");
    let is_full = std::fs::write(&filling, vec![1; 16 << 20]).is_err();
    let full = place.run(&["doctor"]);
    let as_json = place.run(&["doctor", "--json"]);
    std::fs::remove_file(&filling).unwrap();
    let again = place.run(&["doctor"]);
    let left = walk(&place.store());
    drop(disk);
    assert!(is_full && walk(&place.store()).is_empty(), "what lay below it is empty");
    assert_eq!((whole.code, full.code, again.code), (0, 1, 0), "{}\n{}\n{}", whole.out, full.out, again.out);
    assert!(full.out.contains("FAIL store") && full.out.contains("make room"), "{}", full.out);
    assert_eq!((as_json.code, &as_json.json()["ok"]), (1, &serde_json::json!(false)));
    assert!(!left.iter().any(|path| path.to_string_lossy().contains("trial-")), "{left:?}");
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().filter_map(Result::ok) {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(walk(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files
}

#[test]
fn a_file_whose_name_holds_a_secret_can_be_undone_and_is_shown_without_it() {
    const SECRET: &str = "correct-horse-battery";
    let place = Place::new();
    let run =
        |args: &[&str]| crate::support::ran(place.command(args).env("MY_TOKEN", SECRET).output().unwrap());
    let path = format!("filePath={SECRET}/a.txt");
    let told = run(&["call", "write", &path, "content=one", "--json"]).json();
    let shown = run(&["log", "show", told["call"].as_str().unwrap()]);
    assert!(shown.code == 0 && !shown.out.contains(SECRET), "{}", shown.out);
    let undone = run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert!(!place.ws().join(SECRET).exists());
}
