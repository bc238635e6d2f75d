//! Searches that end early, and what changes while they go on.

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use haft::Action;
use haft::permission::Permit;

use super::super::{Lead, Unopened, Workspace};
use super::{Hidden, Judged, Link, SearchSpec, SearchTarget, Stop, Watch};
use crate::testing::{Bench, run};

fn permit(bench: &Bench) -> Permit<SearchTarget> {
    let place = bench.services.workspace.resolve(".").unwrap();
    let target = SearchTarget::new(place, Action::new("glob"), "*", Link::Resolved);
    run(bench.services.gate.grant(&bench.context(), target)).unwrap()
}

fn spec(time: Duration) -> SearchSpec {
    SearchSpec { include: None, hidden: Hidden::Search, files_max: 1000, deadline: Instant::now() + time }
}

fn tree(files: usize) -> (Bench, Workspace) {
    let bench = Bench::new();
    (0..files).for_each(|n| drop(bench.file(&format!("d{}/f{n}", n % 10), "x")));
    let workspace = bench.services.workspace.clone();
    (bench, workspace)
}

#[test]
fn at_the_deadline_what_was_found_is_kept() {
    let (bench, workspace) = tree(500);
    // Whoever judges the first file takes all the time there is.
    let sought = workspace.search(permit(&bench), spec(Duration::from_secs(1)), |watch| {
        move |_: &Lead<'_>| {
            while !watch.is_over() {
                std::thread::yield_now();
            }
            Judged::Match
        }
    });
    let sought = run(sought).unwrap();
    assert!(sought.is_partial);
    let found = sought.files(&workspace, 0).count();
    assert!((1..500).contains(&found), "{found}");
}

#[test]
fn what_does_not_end_is_not_waited_for() {
    let (bench, workspace) = tree(500);
    let (_open, never) = mpsc::channel::<()>();
    let (never, judged) = (Arc::new(Mutex::new(never)), Arc::new(AtomicUsize::new(0)));
    // The first file matches; all others take longer than anybody waits.
    let sought = workspace.search(permit(&bench), spec(Duration::from_secs(2)), move |_| {
        let (never, judged) = (never.clone(), judged.clone());
        move |_: &Lead<'_>| match judged.fetch_add(1, Ordering::SeqCst) {
            0 => Judged::Match,
            _ => never.lock().unwrap().recv().map_or(Judged::NoMatch, |()| Judged::Match),
        }
    });
    let sought = run(sought).unwrap();
    assert!(sought.is_partial);
    assert_eq!(sought.files(&workspace, 0).count(), 1);
    let (_open, never) = mpsc::channel::<()>();
    let late = Watch::new(&Stop::default(), Instant::now()).wait_for(move || never.recv().is_ok());
    assert_eq!(late, None);
}

#[test]
fn dropping_the_future_ends_the_walk() {
    let (bench, workspace) = tree(500);
    let (said, heard) = mpsc::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    {
        let said = said.clone();
        // No deadline would end this.
        let search = workspace.search(permit_in(&bench), spec(Duration::from_secs(86_400)), move |watch| {
            let said = said.clone();
            move |_: &Lead<'_>| {
                said.send("judging").unwrap();
                while !watch.is_over() {
                    std::thread::yield_now();
                }
                Judged::Match
            }
        });
        let mut search = pin!(search);
        assert!(search.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(heard.recv().unwrap(), "judging");
    }
    drop(said);
    // The channel closes when the last thread of the walk is gone; until then each judged no more than its one file.
    let judged = 1 + heard.iter().count();
    assert!(judged < 100, "{judged}");
}

fn permit_in(bench: &Bench) -> Permit<SearchTarget> {
    std::thread::scope(|scope| scope.spawn(|| permit(bench)).join().unwrap())
}

#[test]
fn a_file_that_vanishes_is_neither_found_nor_missed() {
    let (bench, workspace) = tree(20);
    let sought = workspace.search(permit(&bench), spec(Duration::from_secs(3600)), |_| {
        |file: &Lead<'_>| {
            fs::remove_file(file.real).unwrap();
            match file.open() {
                Err(Unopened::Gone) => Judged::NoMatch,
                Err(Unopened::Unreadable) => Judged::Unreadable,
                Ok(_) => Judged::Match,
            }
        }
    });
    let sought = run(sought).unwrap();
    assert_eq!(
        (sought.files(&workspace, 0).count(), sought.unread(&workspace).count(), sought.unreadable),
        (0, 0, 0)
    );
}

#[test]
fn a_link_put_in_the_way_leads_nowhere() {
    let bench = Bench::new();
    bench.file("d/f", "x");
    fs::write(bench.outside("f"), "secret").unwrap();
    let (workspace, outside) = (bench.services.workspace.clone(), bench.outside(""));
    let sought = workspace.search(permit(&bench), spec(Duration::from_secs(3600)), move |_| {
        let outside = outside.clone();
        move |file: &Lead<'_>| {
            let directory = file.real.parent().unwrap();
            fs::rename(directory, directory.with_extension("moved")).unwrap();
            std::os::unix::fs::symlink(&outside, directory).unwrap();
            assert!(matches!(file.open(), Err(Unopened::Unreadable)));
            Judged::Match
        }
    });
    let sought = run(sought).unwrap();
    let found: Vec<_> = sought.files(&workspace, 0).collect();
    assert_eq!(found.len(), 1);
    assert!(!found[0].is_there(&workspace));
    assert!(found[0].open(&workspace).is_err());
}
