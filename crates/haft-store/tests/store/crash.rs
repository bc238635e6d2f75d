//! What is found after a process was killed. The process is this test program, started again as its own victim.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use haft::{Call, CallId, Ended, Intent, Interruption, MessageId, Opened, Past, Recorder, SessionId};
use haft_store::{CallFilter, Notice, State, digest};
use serde_json::json;

use crate::support::{
    call, changing, completed, context, damage_images, detail, open, open_noticing, whole_life,
};

const DIRECTORY: &str = "HAFT_STORE_VICTIM";
const DEED: &str = "HAFT_STORE_DEED";

/// Not a test of its own: what the victim does before it is killed.
#[test]
fn victim() {
    let (Ok(directory), Ok(deed)) = (std::env::var(DIRECTORY), std::env::var(DEED)) else { return };
    let store = open(&Path::new(&directory).join("data"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let session = SessionId::parse("ses_victim").unwrap();
        let mut call = call(&session, "write", json!({}));
        call.provider_id = Some("toolu_1".to_owned());
        call.context.message = MessageId::parse("msg_victim").unwrap();
        let path = |name: &str| Path::new(&directory).join(name);
        let change = |name: &str| Intent {
            path: path(name),
            before: Some(digest(b"before")),
            after: Some(digest(b"after")),
            midway: None,
        };
        if deed == "acknowledged" {
            for _ in 0..20 {
                whole_life(&store, &self::call_of(&session), &completed("text")).await;
            }
        }
        store.called(&call).await.unwrap();
        if deed == "pending" {
            return;
        }
        store.running(&call.context, None).await.unwrap();
        match deed.as_str() {
            "running" | "acknowledged" => {}
            "blind" => store.acting(&call.context, &[]).await.unwrap(),
            "both" => store.acting(&call.context, &[change("a").into(), change("b").into()]).await.unwrap(),
            "images" => {
                let (a, b) =
                    (changing(&path("a"), b"before", b"after"), changing(&path("b"), b"before", b"after"));
                store.acting(&call.context, &[a, b]).await.unwrap();
            }
            "new" => {
                let new = Intent { before: None, ..change("new") };
                store.acting(&call.context, &[new.into()]).await.unwrap();
            }
            "deep" => {
                let new = changing(&path("one/two/three/new"), b"", b"after");
                let new = haft::Change { before: None, made: 2, ..new };
                store.acting(&call.context, &[new]).await.unwrap();
            }
            "finished" => {
                let midway = Some(digest(b"midway"));
                let made = Intent { after: midway.clone(), ..change("a") };
                store.acting(&call.context, &[made.into()]).await.unwrap();
                let finish = Intent { before: midway.clone(), midway, ..change("a") };
                store.acting(&call.context, &[finish.into()]).await.unwrap();
            }
            "undo" => {
                let earlier = self::call(&session, "edit", json!({}));
                store.called(&earlier).await.unwrap();
                store.running(&earlier.context, None).await.unwrap();
                store.acting(&earlier.context, &[changing(&path("a"), b"before", b"after")]).await.unwrap();
                store.ended(&earlier.context, &completed("done")).await.unwrap();
                let undoing = changing(&path("a"), b"after", b"before");
                let undoing = haft::Change { undoes: vec![earlier.context.call], ..undoing };
                store.acting(&call.context, &[undoing]).await.unwrap();
            }
            "twice" => {
                store
                    .acting(
                        &call.context,
                        &[Intent { after: Some(digest(b"between")), ..change("a") }.into()],
                    )
                    .await
                    .unwrap();
                store
                    .acting(
                        &call.context,
                        &[Intent { before: Some(digest(b"between")), ..change("a") }.into()],
                    )
                    .await
                    .unwrap();
            }
            other => panic!("{other}"),
        }
    });
    println!("ready");
    // Until it is killed.
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).unwrap();
}

fn call_of(session: &SessionId) -> Call {
    call(session, "read", json!({}))
}

/// A process that has done its deed and waits.
fn start(directory: &Path, deed: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::victim", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(DEED, deed)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("ready")), "the victim did not get ready");
    child
}

fn killed(directory: &Path, deed: &str) {
    let mut child = start(directory, deed);
    child.kill().unwrap();
    child.wait().unwrap();
}

struct Scene {
    dir: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            fs::write(dir.path().join(name), "before").unwrap();
        }
        Scene { dir }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }
}

/// Kills, lets `meanwhile` happen, opens, and returns what is found.
fn outcome(deed: &str, meanwhile: impl FnOnce(&Scene)) -> (Interruption, usize) {
    let (interruption, notices, _) = outcome_of(deed, meanwhile);
    (interruption, notices)
}

fn outcome_of(deed: &str, meanwhile: impl FnOnce(&Scene)) -> (Interruption, usize, Scene) {
    let scene = Scene::new();
    killed(scene.dir.path(), deed);
    meanwhile(&scene);
    let (store, notices) = open_noticing(&scene.data());
    let row = store.calls(&CallFilter::default()).unwrap().pop().unwrap();
    assert_eq!(row.state, State::Error { reason: "interrupted".to_owned() });
    assert!(store.events_after(0, 100).unwrap().iter().any(|event| event.body["reason"] == "interrupted"));
    // A second look finds nothing left to do, and the lock of the dead is gone.
    assert_eq!(open_noticing(&scene.data()).1, []);
    assert_eq!(locks(&scene.data()), 1, "only the living hold a lock");
    match detail(&store, &row.id).ended {
        Some(Ended::Interrupted(interruption)) => (interruption, notices.len(), scene),
        other => panic!("{other:?}"),
    }
}

fn locks(data: &Path) -> usize {
    fs::read_dir(data.join("run"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|ending| ending == "lock"))
        .count()
}

#[test]
fn a_call_that_changed_nothing_was_not_started() {
    assert_eq!(outcome("pending", |_| {}), (Interruption::NotStarted, 0));
    assert_eq!(outcome("running", |_| {}), (Interruption::NotStarted, 0));
}

#[test]
fn the_files_tell_what_became_of_a_call() {
    assert_eq!(outcome("both", |_| {}), (Interruption::NotStarted, 0));
    let all = |scene: &Scene| {
        scene.write("a", "after");
        scene.write("b", "after");
    };
    assert_eq!(outcome("both", all), (Interruption::Committed, 0));
    assert_eq!(outcome("both", |scene| scene.write("a", "after")), (Interruption::Unknown, 1));
    assert_eq!(outcome("both", |scene| scene.write("a", "something else")), (Interruption::Unknown, 1));
    let half = |scene: &Scene| scene.write("a", "after");
    let (interruption, notices, scene) = outcome_of("images", half);
    assert_eq!((interruption, notices), (Interruption::RolledBack, 0));
    assert_eq!(fs::read_to_string(scene.dir.path().join("a")).unwrap(), "before");
    assert_eq!(outcome("images", |scene| scene.write("b", "somebody else's")), (Interruption::Unknown, 1));
    assert_eq!(outcome("new", |_| {}), (Interruption::NotStarted, 0));
    assert_eq!(outcome("new", |scene| scene.write("new", "after")), (Interruption::Committed, 0));
}

/// The name under which what `a` held stands beside it.
fn aside(scene: &Scene) -> String {
    let digest = |text: &str| Some(haft_store::digest(text.as_bytes()));
    let path = scene.dir.path().join("a");
    let intent = haft::Intent { path, before: digest("before"), after: digest("after"), midway: None };
    format!("{}-0", intent.temporary())
}

#[test]
fn what_the_journal_can_no_longer_give_back_is_put_back_from_beside_the_file() {
    let half = |scene: &Scene| {
        scene.write("a", "after");
        damage_images(&scene.data(), None);
    };
    let (interruption, notices, scene) = outcome_of("images", half);
    assert_eq!((interruption, notices), (Interruption::Unknown, 1));
    assert_eq!(fs::read_to_string(scene.dir.path().join("a")).unwrap(), "after", "no noise is put there");
    let (interruption, notices, scene) = outcome_of("images", |scene| {
        half(scene);
        scene.write(&aside(scene), "before");
    });
    assert_eq!((interruption, notices), (Interruption::RolledBack, 0));
    assert_eq!(fs::read_to_string(scene.dir.path().join("a")).unwrap(), "before");
}

#[test]
fn what_only_stands_beside_its_file_is_put_back_or_left_there() {
    let half = |scene: &Scene| {
        scene.write("a", "after");
        scene.write(&aside(scene), "before");
    };
    let (interruption, notices, scene) = outcome_of("both", half);
    assert_eq!((interruption, notices), (Interruption::RolledBack, 0));
    assert_eq!(fs::read_to_string(scene.dir.path().join("a")).unwrap(), "before");
    assert!(!scene.dir.path().join(aside(&scene)).exists());

    let half_and_changed = |scene: &Scene| {
        half(scene);
        scene.write("b", "somebody else's");
    };
    let (interruption, _, scene) = outcome_of("both", half_and_changed);
    assert_eq!(interruption, Interruption::Unknown);
    assert_eq!(fs::read_to_string(scene.dir.path().join(aside(&scene))).unwrap(), "before");
}

#[test]
fn of_two_changes_to_one_file_the_first_before_and_the_last_after_count() {
    assert_eq!(outcome("twice", |_| {}), (Interruption::NotStarted, 0));
    assert_eq!(outcome("twice", |scene| scene.write("a", "between")), (Interruption::Unknown, 1));
    assert_eq!(outcome("twice", |scene| scene.write("a", "after")), (Interruption::Committed, 0));
}

#[test]
fn what_left_nothing_to_tell_by_is_unknown_and_says_so() {
    assert_eq!(outcome("blind", |_| {}), (Interruption::Unknown, 1));
    let scene = Scene::new();
    killed(scene.dir.path(), "blind");
    let (_store, notices) = open_noticing(&scene.data());
    let [notice @ Notice::OutcomeUnknown { tool, .. }] = notices.as_slice() else { panic!("{notices:?}") };
    assert_eq!(tool, "write");
    assert!(notice.to_string().contains("unknown; look before you repeat it"), "{notice}");
}

#[test]
fn nothing_acknowledged_is_lost_when_a_process_is_killed() {
    let scene = Scene::new();
    killed(scene.dir.path(), "acknowledged");
    let store = open(&scene.data());
    let rows = store.calls(&CallFilter::default()).unwrap();
    assert_eq!(rows.iter().filter(|row| row.state == State::Completed).count(), 20);
    assert_eq!(rows.len(), 21);
}

#[test]
fn the_calls_of_a_living_process_are_left_alone() {
    let scene = Scene::new();
    let mut child = start(scene.dir.path(), "both");
    let store = open(&scene.data());
    let row = store.calls(&CallFilter::default()).unwrap().pop().unwrap();
    assert_eq!(row.state, State::Running);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_repeated_call_of_a_process_that_died_meanwhile_is_not_run_again() {
    let scene = Scene::new();
    let mut child = start(scene.dir.path(), "both");
    let store = open(&scene.data());
    let session = SessionId::parse("ses_victim").unwrap();
    let mut again = call(&session, "write", json!({}));
    again.provider_id = Some("toolu_1".to_owned());
    again.context.message = MessageId::parse("msg_victim").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let past = |opened: Opened| match opened {
        Opened::Before(past) => *past,
        Opened::New { .. } => panic!("it would run twice"),
    };
    assert!(matches!(past(runtime.block_on(store.called(&again)).unwrap()), Past::Running(_)));
    child.kill().unwrap();
    child.wait().unwrap();
    let ended = past(runtime.block_on(store.called(&again)).unwrap());
    assert!(matches!(ended, Past::Ended(_, Ended::Interrupted(Interruption::NotStarted))), "{ended:?}");
}

#[test]
fn a_store_whose_last_clone_went_without_ending_its_calls_leaves_them_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let session = SessionId::mint();
    let call = Call { context: context(&session), ..call(&session, "read", json!({})) };
    runtime.block_on(store.called(&call)).unwrap();
    drop(store);
    let (store, _) = open_noticing(dir.path());
    let id: CallId = call.context.call;
    assert_eq!(detail(&store, &id).ended, Some(Ended::Interrupted(Interruption::NotStarted)));
}

#[test]
fn a_call_without_the_finish_of_its_change_has_done_its_work() {
    assert_eq!(outcome("finished", |_| {}), (Interruption::NotStarted, 0));
    let (interruption, notices, scene) = outcome_of("finished", |scene| {
        scene.write("a", "midway");
        let midway =
            Intent { path: PathBuf::new(), before: None, after: Some(digest(b"midway")), midway: None };
        fs::create_dir(scene.dir.path().join(format!("{}-0", midway.temporary()))).unwrap();
        scene.write(&format!("{}-0/a", midway.temporary()), "a copy");
    });
    assert_eq!((interruption, notices), (Interruption::Committed, 0));
    let left = fs::read_dir(scene.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_str().unwrap().starts_with(".haft-tmp-")));
    assert_eq!(outcome("finished", |scene| scene.write("a", "after")), (Interruption::Committed, 0));
    assert_eq!(outcome("finished", |scene| scene.write("a", "else")), (Interruption::Unknown, 1));
}

#[test]
fn directories_made_for_a_file_that_never_came_go_if_they_are_empty() {
    let made = |scene: &Scene| fs::create_dir_all(scene.dir.path().join("one/two/three")).unwrap();
    let (interruption, _, scene) = outcome_of("deep", made);
    assert_eq!(interruption, Interruption::NotStarted);
    // Two of them were announced; the third was there before.
    assert!(scene.dir.path().join("one").exists() && !scene.dir.path().join("one/two").exists());

    let (_, _, scene) = outcome_of("deep", |scene| {
        made(scene);
        scene.write("one/two/somebody", "else");
    });
    assert!(scene.dir.path().join("one/two/somebody").exists());
    assert!(!scene.dir.path().join("one/two/three").exists());

    let (interruption, _, scene) = outcome_of("deep", |scene| {
        made(scene);
        scene.write("one/two/three/new", "after");
    });
    assert_eq!(interruption, Interruption::Committed);
    assert!(scene.dir.path().join("one/two/three/new").exists());
}

#[test]
fn an_undo_that_died_after_its_change_counts() {
    let undoable = |content: &str| {
        let scene = Scene::new();
        scene.write("a", "after");
        killed(scene.dir.path(), "undo");
        scene.write("a", content);
        let (store, _) = open_noticing(&scene.data());
        // What happens to the file later changes nothing about it.
        scene.write("a", "something else");
        store.undoable(None, 10).unwrap().len()
    };
    assert_eq!(undoable("before"), 0);
    assert_eq!(undoable("after"), 1);
}

/// Counts, and is there only while nobody else is.
struct Alone {
    lock: PathBuf,
    restored: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl haft::Restorer for Alone {
    fn restore(&self, change: &haft::Change) -> Result<(), haft::BoxError> {
        self.restored.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        assert!(fs::File::open(&self.lock).unwrap().try_lock().is_err(), "nobody holds the lock");
        Ok(fs::write(&change.path, "before")?)
    }
}

#[test]
fn processes_that_start_at_once_put_back_what_a_dead_one_did_once() {
    let scene = Scene::new();
    killed(scene.dir.path(), "images");
    scene.write("a", "after");
    let restored = std::sync::Arc::default();
    let starting = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let restorer = Alone {
                lock: scene.data().join("run/reconciling"),
                restored: std::sync::Arc::clone(&restored),
            };
            let options = haft_store::StoreOptions {
                restorer: std::sync::Arc::new(restorer),
                ..crate::support::options(&scene.data())
            };
            let starting = &starting;
            scope.spawn(move || {
                starting.wait();
                assert_eq!(haft_store::Store::open(options).unwrap().1, []);
            });
        }
    });
    assert_eq!(restored.load(std::sync::atomic::Ordering::SeqCst), 1);
    let row = open(&scene.data()).calls(&CallFilter::default()).unwrap().pop().unwrap();
    assert_eq!(row.state, State::Error { reason: "interrupted".to_owned() });
}
