//! Opening what cannot be opened: damaged, newer, foreign, unreadable, full.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use haft::{Recorder, SessionId, ToolContext};
use haft_store::{CallFilter, FILE, Notice, OpenError, Store};
use serde_json::json;

use crate::support::{call, completed, data_of, fresh, open, open_noticing, options, whole_life};

fn refused(data: &Path) -> OpenError {
    match Store::open(options(data)) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn only_the_owner_can_read_what_is_kept() {
    let (dir, store) = fresh();
    let data = data_of(&dir);
    let session = SessionId::mint();
    whole_life(&store, &call(&session, "read", json!({})), &completed("text")).await;
    for path in ["", "outputs", "run"] {
        assert_eq!(mode(&data.join(path)), 0o700, "{path}");
    }
    for ending in ["", "-wal", "-shm"] {
        assert_eq!(mode(&data.join(format!("{FILE}{ending}"))), 0o600, "{ending}");
    }
}

#[tokio::test]
async fn a_store_that_is_up_to_date_opens_quickly() {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    for round in 0..50 {
        whole_life(&store, &call(&session, "read", json!({ "round": round })), &completed("text")).await;
    }
    drop(store);
    let times: Vec<_> = (0..20)
        .map(|_| {
            let start = Instant::now();
            let store = open(&data_of(&dir));
            let took = start.elapsed();
            drop(store);
            took
        })
        .collect();
    // Printed rather than asserted: how fast it is depends on the machine.
    println!(
        "opened in {:?} at best, {:?} at worst",
        times.iter().min().unwrap(),
        times.iter().max().unwrap()
    );
}

#[tokio::test]
async fn many_may_try_at_once_whether_more_can_be_written() {
    let (dir, store) = fresh();
    // What another process of the same number has just made.
    let others = data_of(&dir).join(format!("trial-{}", std::process::id()));
    fs::write(&others, "").unwrap();
    std::thread::scope(|scope| {
        let tries: Vec<_> = (0..4).map(|_| scope.spawn(|| store.try_writing())).collect();
        tries.into_iter().for_each(|tried| tried.join().unwrap().unwrap());
    });
    let names = fs::read_dir(data_of(&dir)).unwrap().map(|entry| entry.unwrap().file_name());
    let trials: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("trial-")).collect();
    assert_eq!(trials, [others.file_name().unwrap()]);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_set_aside_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let junk = "this is not a database, but somebody may still want it back\n".repeat(100);
    fs::write(dir.path().join(FILE), &junk).unwrap();
    let (store, notices) = open_noticing(dir.path());
    let [Notice::SetAside { file, kept, why }] = notices.as_slice() else { panic!("{notices:?}") };
    assert_eq!(file, &dir.path().join(FILE));
    assert_eq!(fs::read_to_string(kept).unwrap(), junk);
    assert!(why.contains("not a database"), "{why}");
    assert!(notices[0].to_string().contains(&kept.display().to_string()));
    whole_life(&store, &call(&SessionId::mint(), "read", json!({})), &completed("text")).await;
    assert_eq!(store.usage().unwrap().set_aside.len(), 1);
    drop(store);
    open(dir.path());
}

/// A store with some hundred calls in it, all of them in the database file.
async fn filled() -> tempfile::TempDir {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    for round in 0..200 {
        whole_life(&store, &call(&session, "read", json!({ "round": round })), &completed(&"x".repeat(2000)))
            .await;
    }
    drop(store);
    let connection = rusqlite::Connection::open(data_of(&dir).join(FILE)).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    dir
}

#[tokio::test]
async fn a_database_that_was_cut_off_is_set_aside() {
    let dir = filled().await;
    let file = data_of(&dir).join(FILE);
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let (store, notices) = open_noticing(&data_of(&dir));
    let [Notice::SetAside { kept, .. }] = notices.as_slice() else { panic!("{notices:?}") };
    assert_eq!(fs::read(kept).unwrap(), bytes[..bytes.len() / 2]);
    assert_eq!(store.calls(&CallFilter::default()).unwrap(), []);
}

#[tokio::test]
async fn damage_that_is_met_later_is_reported_and_set_aside_by_the_next_start() {
    let dir = filled().await;
    let file = data_of(&dir).join(FILE);
    let mut bytes = fs::read(&file).unwrap();
    // Everything but the pages that opening reads.
    let from = bytes.len() / 3;
    bytes[from..].fill(0xA5);
    fs::write(&file, &bytes).unwrap();
    let opened = open_noticing(&data_of(&dir));
    let notices = match opened {
        (store, notices) if notices.is_empty() => {
            let error = store.calls(&CallFilter::default()).unwrap_err();
            assert!(error.to_string().contains("is damaged; start haft again"), "{error}");
            drop(store);
            open_noticing(&data_of(&dir)).1
        }
        (_, notices) => notices,
    };
    let [Notice::SetAside { kept, .. }] = notices.as_slice() else { panic!("{notices:?}") };
    assert_eq!(fs::read(kept).unwrap(), bytes);
    open(&data_of(&dir));
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let (dir, store) = fresh();
    whole_life(&store, &call(&SessionId::mint(), "read", json!({})), &completed("text")).await;
    drop(store);
    let file = data_of(&dir).join(FILE);
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute_batch("PRAGMA user_version = 99; UPDATE meta SET value = '7.7.7' WHERE key = 'haft'")
        .unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let before = fs::read(&file).unwrap();

    let error = refused(&data_of(&dir));
    assert!(matches!(error, OpenError::Newer { found: 99, .. }));
    let words = error.to_string();
    assert!(
        words.contains("schema 99, written by haft 7.7.7") && words.contains("use that version"),
        "{words}"
    );
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(dir.path().join(FILE)).unwrap();
    connection.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    assert!(matches!(refused(dir.path()), OpenError::Foreign { .. }));
    assert_eq!(connection.query_row("SELECT x FROM theirs", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

#[test]
fn a_data_directory_that_is_a_file_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data");
    fs::write(&file, "mine").unwrap();
    let words = chain(&refused(&file));
    assert!(words.contains(&file.display().to_string()), "{words}");
    let words = chain(&refused(&file.join("below")));
    assert!(words.contains("below") && words.contains("directory"), "{words}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

const READ_ONLY: &str = "HAFT_STORE_READ_ONLY";

/// Not a test of its own: what somebody finds who may not write.
#[test]
fn somebody_without_rights() {
    let Ok(data) = std::env::var(READ_ONLY) else { return };
    let words = chain(&refused(Path::new(&data)));
    assert!(words.contains(&data) && words.contains("ermission denied"), "{words}");
    println!("refused: {words}");
}

#[tokio::test]
async fn a_directory_that_may_not_be_written_is_refused_by_name() {
    let (dir, store) = fresh();
    whole_life(&store, &call(&SessionId::mint(), "read", json!({})), &completed("text")).await;
    drop(store);
    let data = data_of(&dir);
    let world = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    world(dir.path(), 0o755);
    for path in [data.clone(), data.join("run"), data.join("outputs")] {
        world(&path, 0o555);
    }
    world(&data.join(FILE), 0o444);

    // The program must be found and read by whoever runs it.
    let program = dir.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let is_root = fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    let mut command = if is_root { Command::new("setpriv") } else { Command::new(&program) };
    if is_root {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    }
    let output = command
        .args(["--exact", "opening::somebody_without_rights", "--nocapture"])
        .env(READ_ONLY, &data)
        .current_dir("/")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for path in [data.clone(), data.join("run"), data.join("outputs")] {
        world(&path, 0o700);
    }
    assert!(
        output.status.success() && said.contains("refused: "),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A disk of one megabyte, if this process may have one.
struct TinyDisk(tempfile::TempDir);

impl TinyDisk {
    fn mounted() -> Option<TinyDisk> {
        let dir = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(dir.path()).status();
        mounted.is_ok_and(|status| status.success()).then(|| TinyDisk(dir))
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        let _stays = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[tokio::test]
async fn on_a_full_disk_nothing_is_told_as_done_and_the_place_is_named() {
    let Some(disk) = TinyDisk::mounted() else {
        eprintln!("SKIPPED: no right to mount a small disk, so a full one was not tested");
        return;
    };
    let data = disk.0.path().join("data");
    let store = open(&data);
    let session = SessionId::mint();
    let context: ToolContext = crate::support::context(&session);

    // An output larger than the disk.
    let error = haft::OutputStore::retain(&store, &context, &"x".repeat(2 << 20)).await.unwrap_err();
    let words = chain(&error);
    assert!(
        words.contains(&data.join("outputs").display().to_string()) && words.contains("space"),
        "{words}"
    );
    assert_eq!(
        fs::read_dir(data.join("outputs"))
            .unwrap()
            .filter(|entry| { entry.as_ref().unwrap().file_type().unwrap().is_file() })
            .count(),
        0,
        "nothing half-written is left"
    );

    // Calls until it is full.
    let mut acknowledged = 0;
    let error = loop {
        let call = call(&session, "read", json!({ "text": "y".repeat(50_000) }));
        match store.called(&call).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 100, "the disk was never full");
    };
    let words = chain(&error);
    assert!(words.contains(FILE) && words.contains("full"), "{words}");
    assert_eq!(store.calls(&CallFilter::default()).unwrap().len(), acknowledged);
    drop(store);

    // A store cannot be begun there either, and says so.
    fs::write(disk.0.path().join("filler"), vec![0; 2 << 20]).unwrap_err();
    let words = chain(&refused(&disk.0.path().join("other")));
    assert!(words.contains("other"), "{words}");
}
