//! What the writer promises: one commit for what is queued, nothing overtaken, and brief work done on the spot.

use std::sync::atomic::AtomicUsize;
use std::thread::ThreadId;

use rusqlite::TransactionBehavior;

use super::*;

struct Bench {
    dir: tempfile::TempDir,
    writer: Writer,
    commits: Arc<AtomicUsize>,
}

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(dir.path().join("x.db")).unwrap();
        let schema =
            "PRAGMA journal_mode = WAL; CREATE TABLE number (n INTEGER UNIQUE, at INTEGER PRIMARY KEY)";
        connection.execute_batch(schema).unwrap();
        let commits = Arc::new(AtomicUsize::new(0));
        let counter = commits.clone();
        let hook = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.commit_hook(Some(hook)).unwrap();
        let writer = Writer::start(connection, Places::in_dir(dir.path()), || {}, None).unwrap();
        Bench { dir, writer, commits }
    }

    /// The numbers that were written, in the order in which that was done.
    fn numbers(self) -> Vec<i64> {
        let Bench { dir, writer, .. } = self;
        drop(writer);
        let connection = Connection::open(dir.path().join("x.db")).unwrap();
        let mut rows = connection.prepare("SELECT n FROM number ORDER BY at").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }
}

fn now<T>(outcome: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(outcome)
}

/// Writes a number, and says which thread did.
fn insert(n: i64) -> impl FnOnce(&Connection) -> Result<ThreadId, Fault> + Send + 'static {
    move |connection: &Connection| {
        connection.execute("INSERT INTO number (n) VALUES (?1)", [n])?;
        Ok(std::thread::current().id())
    }
}

#[test]
fn what_is_queued_while_the_writer_is_busy_is_committed_as_one() {
    let bench = Bench::new();
    let (release, wait) = channel::<()>();
    let (begun, has_begun) = channel::<()>();
    let first = bench.writer.write(Durability::Process, move |connection| {
        begun.send(()).unwrap();
        wait.recv().unwrap();
        insert(0)(connection)
    });
    has_begun.recv().unwrap();
    let queued: Vec<_> = (1..=20).map(|n| bench.writer.write(Durability::Disk, insert(n))).collect();
    let twice = bench.writer.write(Durability::Disk, insert(7));
    let brief = bench.writer.write(Durability::Brief, insert(21));
    release.send(()).unwrap();
    let here = std::thread::current().id();
    now(async {
        first.await.unwrap();
        for outcome in queued {
            outcome.await.unwrap();
        }
        assert!(twice.await.is_err(), "the one that fails is told so, and spoils nothing");
        assert_ne!(brief.await.unwrap(), here, "nothing overtakes what waits");
    });
    assert_eq!(bench.commits.load(Ordering::Relaxed), 2);
    assert_eq!(bench.numbers(), (0..=21).collect::<Vec<_>>());
}

#[test]
fn what_is_brief_is_written_by_whoever_wants_it_unless_somebody_has_to_be_waited_for() {
    let bench = Bench::new();
    let here = std::thread::current().id();
    // The first one begins the log, for which the disk is waited for.
    assert_ne!(now(bench.writer.write(Durability::Brief, insert(0))).unwrap(), here);
    for n in 1..=50 {
        assert_eq!(now(bench.writer.write(Durability::Brief, insert(n))).unwrap(), here);
    }
    assert!(now(bench.writer.write(Durability::Brief, insert(7))).is_err());
    let mut other = Connection::open(bench.dir.path().join("x.db")).unwrap();
    let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let waiting = bench.writer.write(Durability::Brief, insert(51));
    held.rollback().unwrap();
    assert_ne!(now(waiting).unwrap(), here, "another process is waited for elsewhere");
    now(bench.writer.write(Durability::Disk, insert(52))).unwrap();
    assert_eq!(now(bench.writer.write(Durability::Brief, insert(53))).unwrap(), here);
    now(bench.writer.close());
    assert!(now(bench.writer.write(Durability::Brief, insert(54))).is_err(), "it is closed");
    assert_eq!(bench.numbers(), (0..=53).collect::<Vec<_>>());
}

#[test]
fn after_a_panic_nothing_is_written_any_more() {
    let bench = Bench::new();
    now(bench.writer.write(Durability::Brief, insert(0))).unwrap();
    let broken = bench.writer.write(Durability::Brief, |connection| -> Result<(), Fault> {
        insert(7)(connection)?;
        panic!("a defect")
    });
    assert!(matches!(now(broken), Err(Fault::Closed)));
    assert!(now(bench.writer.write(Durability::Brief, insert(1))).is_err());
    assert!(now(bench.writer.write(Durability::Disk, insert(2))).is_err());
    let other = Connection::open(bench.dir.path().join("x.db")).unwrap();
    other.execute("INSERT INTO number (n) VALUES (3)", []).expect("nobody else has to wait for it");
    assert_eq!(bench.numbers(), [0, 3]);
}
