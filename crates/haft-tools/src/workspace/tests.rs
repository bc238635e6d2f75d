//! Paths that try to be somewhere else, and effects that lose a race.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use rustix::fs::OFlags;
use serde_json::json;

use super::root::Root;
use super::{Kind, Workspace};
use crate::testing::{Bench, run};
use haft::Action;
use haft::permission::Consent;

#[test]
fn a_place_is_where_a_path_really_leads() {
    let bench = Bench::new();
    bench.file("dir/f", "");
    bench.link("in", "dir/f");
    bench.link("out", "../out");
    bench.link("dangling", "nowhere/x");
    bench.link("back", "../out/../ws/dir");
    bench.link("deep", "missing/../../out/x");
    let (ws, out) = (bench.path(""), bench.outside(""));
    let workspace = &bench.services.workspace;
    let check = |path: &str, real: &Path, kind: Kind, inside: bool| {
        let place = workspace.resolve(path).unwrap();
        assert_eq!((place.real(), place.kind(), place.is_inside()), (real, kind, inside), "{path}");
    };
    check(".", Path::new(ws.to_str().unwrap().trim_end_matches('/')), Kind::Directory, true);
    check("dir/./../dir/f", &ws.join("dir/f"), Kind::File, true);
    check("in", &ws.join("dir/f"), Kind::File, true);
    check("out/new", &out.join("new"), Kind::Missing, false);
    check("dangling", &ws.join("nowhere/x"), Kind::Missing, true);
    check("back/f", &ws.join("dir/f"), Kind::File, true);
    check("deep", &out.join("x"), Kind::Missing, false);
    check("out/../dir", &ws.join("dir"), Kind::Directory, true);
    check("dir/f/below", &ws.join("dir/f/below"), Kind::Missing, true);
    check("../ws-evil", &ws.parent().unwrap().join("ws-evil"), Kind::Missing, false);
    check("/", Path::new("/"), Kind::Directory, false);
}

#[test]
fn a_link_above_the_root_is_no_link() {
    let bench = Bench::new();
    bench.file("a.txt", "");
    let alias = bench.path("../alias");
    std::os::unix::fs::symlink(bench.path(""), &alias).unwrap();
    let workspace = Workspace::open(&alias, None).unwrap();
    let place = workspace.resolve(alias.join("a.txt").to_str().unwrap()).unwrap();
    assert_eq!((place.name(), place.resources().len()), ("a.txt", 1));
}

#[test]
fn the_walk_by_hand_is_as_strict_as_the_kernel() {
    let bench = Bench::new();
    bench.file("dir/f", "");
    bench.link("link", "dir");
    bench.link("dir/l", "f");
    let root = Root::open(&bench.path("").canonicalize().unwrap()).unwrap();
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for (path, opens) in
        [(".", true), ("dir", true), ("dir/f", true), ("link/f", false), ("dir/l", false), ("no", false)]
    {
        let path = Path::new(path);
        assert_eq!(root.walk(path, flags).is_ok(), opens, "{path:?}");
        assert_eq!(root.open_at(path, flags).is_ok(), opens, "{path:?}");
    }
    let fd = root.walk(Path::new("dir/f"), flags).unwrap();
    let flags = rustix::io::fcntl_getfd(&fd).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC), "fd {}", fd.as_raw_fd());
}

#[test]
fn a_large_file_that_changed_in_one_byte_is_a_conflict() {
    let bench = Bench::new();
    let mut content = vec![b'x'; 700_000];
    bench.file("a.txt", &content);
    let workspace = &bench.services.workspace;
    let draft = run(workspace.draft(workspace.resolve("a.txt").unwrap())).unwrap();
    let changes = draft.replace("mine").unwrap().alone(Action::new("edit"));
    let permit = run(bench.services.gate.grant(&bench.context(), changes)).unwrap();
    content[699_999] = b'y';
    bench.file("a.txt", &content);
    assert!(matches!(run(workspace.change(permit)), Err(super::WorkspaceError::Changed { .. })));
    assert!(fs::read(bench.path("a.txt")).unwrap() == content);
    bench.check_no_residue();
}

/// What a file is to hold is on the disk before it is changed; says whether that is what took its place.
fn takes_what_was_readied(bench: &Bench, path: &str, between: impl FnOnce()) -> bool {
    let workspace = &bench.services.workspace;
    let draft = run(workspace.draft(workspace.resolve(path).unwrap())).unwrap();
    let changes = draft.replace("mine").unwrap().alone(Action::new("edit"));
    let ready = |consent: Consent<'_, super::ChangeSet>| workspace.ready(&consent);
    let (permit, mut readied) =
        run(bench.services.gate.grant_readying(&bench.context(), changes, ready)).unwrap();
    let real = bench.path("").canonicalize().unwrap().join(path);
    let ready = readied.take(&real);
    // As long as it is open, its number is nobody else's.
    let held = ready.as_ref().map(|ready| ready.file.try_clone().unwrap());
    let again = super::readied::Readied::of(&real, ready);
    bench.check_no_residue();
    between();
    run(workspace.change_readied(permit, again)).unwrap();
    assert_eq!(bench.text(path), "mine");
    bench.check_no_residue();
    let number = fs::metadata(bench.path(path)).unwrap().ino();
    held.is_some_and(|held| held.metadata().unwrap().ino() == number)
}

#[test]
fn a_content_that_was_made_ready_takes_its_place_with_what_the_file_has() {
    let bench = Bench::new();
    bench.file("a.txt", "planned on");
    let mode = |path: &str| fs::metadata(bench.path(path)).unwrap().permissions().mode() & 0o7777;
    let give =
        |mode: u32| fs::set_permissions(bench.path("a.txt"), fs::Permissions::from_mode(mode)).unwrap();
    give(0o640);
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    if let Err(error) = rustix::fs::open(bench.path(""), flags, rustix::fs::Mode::RWXU) {
        return eprintln!("SKIPPED: no files without a name in {}: {error}", bench.path("").display());
    }
    assert!(takes_what_was_readied(&bench, "a.txt", || {}));
    assert_eq!(mode("a.txt"), 0o640);
    assert!(
        !takes_what_was_readied(&bench, "new.txt", || {}),
        "what a new file gets is found out by the commit"
    );
    assert!(!takes_what_was_readied(&bench, "a.txt", || give(0o600)), "what it was given in between is kept");
    assert_eq!(mode("a.txt"), 0o600);
}

#[test]
fn a_change_between_approval_and_commit_is_a_conflict() {
    let bench = Bench::new();
    bench.file("a.txt", "planned on");
    let workspace = &bench.services.workspace;
    let plan = |path: &str| {
        let place = workspace.resolve(path).unwrap();
        let draft = run(workspace.draft(place)).unwrap();
        run(bench
            .services
            .gate
            .grant(&bench.context(), draft.replace("mine").unwrap().alone(Action::new("edit"))))
        .unwrap()
    };
    let (changed, vanished, appeared) = (plan("a.txt"), plan("a.txt"), plan("new.txt"));
    bench.file("a.txt", "theirs");
    bench.file("new.txt", "theirs");
    let conflict = |permit| run(workspace.change(permit)).unwrap_err().to_string();
    assert_eq!(conflict(changed), "a.txt changed since it was read for approval; read it again");
    assert_eq!(conflict(appeared), "new.txt changed since it was read for approval; read it again");
    fs::remove_file(bench.path("a.txt")).unwrap();
    assert_eq!(conflict(vanished), "a.txt changed since it was read for approval; read it again");
    assert_eq!(bench.text("new.txt"), "theirs");
    bench.check_no_residue();
}

#[test]
fn a_link_that_appears_after_approval_is_not_followed() {
    let bench = Bench::new();
    bench.file("d/t", "in");
    fs::write(bench.outside("t"), "orig").unwrap();
    let workspace = &bench.services.workspace;
    let plan = |path: &str| {
        let draft = run(workspace.draft(workspace.resolve(path).unwrap())).unwrap();
        run(bench
            .services
            .gate
            .grant(&bench.context(), draft.replace("EVIL").unwrap().alone(Action::new("edit"))))
        .unwrap()
    };
    let (replaced, created) = (plan("d/t"), plan("d/new"));
    fs::rename(bench.path("d"), bench.path("d.real")).unwrap();
    bench.link("d", "../out");
    for permit in [replaced, created] {
        let error = run(workspace.change(permit)).unwrap_err();
        assert!(
            matches!(error, super::WorkspaceError::Moved { .. } | super::WorkspaceError::Write { .. }),
            "{error}"
        );
    }
    assert_eq!(fs::read_to_string(bench.outside("t")).unwrap(), "orig");
    assert_eq!(fs::read_dir(bench.outside("")).unwrap().count(), 1);
}

#[test]
fn no_race_of_links_leads_outside() {
    let bench = Bench::new();
    fs::write(bench.outside("t"), "CANARY").unwrap();
    bench.file("d/t", "in");
    let denied = bench.denying(&[("external_directory", "*")]);
    let (real, link, away) = (bench.path("d"), bench.path("d"), bench.path("d.real"));
    let is_over = AtomicBool::new(false);
    let leaks = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // Each step may fail, because a write made the directory anew; the next round goes on from there.
                let _ = fs::rename(&real, &away);
                let _ = std::os::unix::fs::symlink("../out", &link);
                let _ = fs::remove_file(&link);
                let _ = fs::rename(&away, &real);
            }
        });
        let rounds = (0..300).map(|round| {
            denied.settle("write", json!({"filePath": "d/t", "content": format!("EVIL {round}")}));
            format!("{:?}", denied.settle("read", json!({"filePath": "d/t"})))
        });
        let leaks: Vec<String> = rounds.filter(|read| read.contains("CANARY")).collect();
        is_over.store(true, Ordering::Relaxed);
        leaks
    });
    assert!(leaks.is_empty(), "{leaks:?}");
    assert_eq!(fs::read_to_string(bench.outside("t")).unwrap(), "CANARY");
    assert_eq!(fs::read_dir(bench.outside("")).unwrap().count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// However links and dots are combined: what counts as inside is inside, as the system itself resolves it.
    #[test]
    fn inside_is_never_outside(
        links in prop::collection::vec(("[abc](/[abc]){0,2}", "(/?(\\.\\.|a|b|c|ws|out)){1,4}"), 0..6),
        paths in prop::collection::vec("(\\.\\./|[abc]/|out/|ws/|\\./){0,5}[abc]", 1..8),
    ) {
        let bench = Bench::new();
        bench.file("a/b/c", "");
        fs::create_dir_all(bench.outside("a/b")).unwrap();
        let top = bench.path("..").canonicalize().unwrap();
        for (name, target) in &links {
            // Where something else is in the way there is no link.
            let target = target.strip_prefix('/').map_or(target.into(), |rest| top.join(rest));
            let _ = std::os::unix::fs::symlink(target, bench.path(name));
        }
        let ws = bench.path("").canonicalize().unwrap();
        for path in &paths {
            let Ok(place) = bench.services.workspace.resolve(path) else { continue };
            prop_assert_eq!(place.is_inside(), place.real().starts_with(&ws));
            if let Ok(real) = place.spelled().canonicalize() {
                prop_assert_eq!(place.real(), real.as_path());
            } else if let Some(real) = place.real().ancestors().find_map(|above| above.canonicalize().ok()) {
                // What exists of it has no link left in it.
                prop_assert!(place.real().starts_with(&real));
            }
        }
    }
}
