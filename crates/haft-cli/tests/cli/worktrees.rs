//! Working trees of a repository that lies elsewhere.

use std::path::Path;
use std::process::Command;

use crate::commands::is_confined;
use crate::support::{Place, Ran, ran};

fn git(at: &Path, args: &[&str]) {
    let named = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let output = Command::new("git").args(named).args(args).current_dir(at).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with a working tree that is linked to it: `outside/main` and `ws/linked`. None where commands are not
/// confined.
fn linked() -> Option<Place> {
    let place = Place::new();
    if !is_confined(&place) {
        return None;
    }
    let main = place.outside().join("main");
    std::fs::create_dir(&main).unwrap();
    git(&main, &["init", "-q"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&main, &["worktree", "add", "-q", "-b", "side", place.ws().join("linked").to_str().unwrap()]);
    Some(place)
}

fn bash(place: &Place, at: &Path, script: &str) -> Ran {
    let mut haft = place.command(&["call", "bash", &format!("command={script}"), "--allow", "bash"]);
    ran(haft.current_dir(at).output().unwrap())
}

#[test]
fn a_commit_in_a_linked_working_tree_goes_through_and_the_rest_of_the_repository_stays() {
    let Some(place) = linked() else { return };
    let (main, side) = (place.outside().join("main"), place.ws().join("linked"));
    let commit = "echo x > new; git add new; git -c user.name=a -c user.email=a@example.org commit -qm second && git log --format=%s";
    let told = bash(&place, &side, commit);
    assert!(told.out.contains("second\nfirst"), "{} {}", told.out, told.err);
    // The names are put together, so that only the kernel can tell where they lead.
    std::fs::write(side.join("sneak.py"), "import sys\nfor n in ['config','hooks/pre-commit','worktrees/linked/commondir','HEAD','worktrees/linked/config.worktree']:\n  try: open(sys.argv[1]+'/.g'+'it/'+n,'w').write('evil')\n  except OSError as e: print(e)\n").unwrap();
    let before = std::fs::read(main.join(".git/config")).unwrap();
    bash(
        &place,
        &side,
        &format!("python3 sneak.py {}", main.display().to_string().replace("main", "ma''in")),
    );
    assert_eq!(std::fs::read(main.join(".git/config")).unwrap(), before);
    assert!(!main.join(".git/hooks/pre-commit").exists());
    assert_eq!(std::fs::read_to_string(main.join(".git/worktrees/linked/commondir")).unwrap(), "../..\n");
    assert!(std::fs::read_to_string(main.join(".git/HEAD")).unwrap().starts_with("ref:"));
    assert!(!main.join(".git/worktrees/linked/config.worktree").exists());
}

#[test]
fn a_file_that_names_somebody_elses_repository_opens_nothing() {
    let Some(place) = linked() else { return };
    let main = place.outside().join("main");
    place.file("hostile/.git", &format!("gitdir: {}\n", main.join(".git/worktrees/linked").display()));
    let heads = main.join(".git/refs/heads");
    place.file("hostile/sneak.py", &format!("open('{}'+'/evil','w').write('x')\n", heads.display()));
    let told = bash(&place, &place.ws().join("hostile"), "python3 sneak.py");
    assert!(told.out.contains("Error"), "{} {}", told.out, told.err);
    assert!(!heads.join("evil").exists());
}

#[test]
fn what_leads_other_working_trees_to_a_repository_is_protected_in_it() {
    let Some(place) = linked() else { return };
    let main = place.outside().join("main");
    std::fs::write(main.join("sneak.py"), "for n in ['commondir','gitdir']:\n  try: open('.g'+'it/worktrees/linked/'+n,'w').write('/evil')\n  except OSError as e: print(e)\nprint('through')\n").unwrap();
    let told = bash(&place, &main, "python3 sneak.py");
    assert!(told.out.contains("through"), "{} {}", told.out, told.err);
    assert_eq!(std::fs::read_to_string(main.join(".git/worktrees/linked/commondir")).unwrap(), "../..\n");
    assert!(!std::fs::read_to_string(main.join(".git/worktrees/linked/gitdir")).unwrap().contains("evil"));
}

#[test]
fn a_repository_that_a_command_made_opens_nothing() {
    let Some(place) = linked() else { return };
    let secrets = place.home().join(".ssh");
    std::fs::create_dir(&secrets).unwrap();
    std::fs::write(secrets.join("id"), "secret words").unwrap();
    let store = place.store();
    let made = "mkdir -p f/worktrees/x; echo 'gitdir: f/worktrees/x' > .git; echo ../../../.git > f/worktrees/x/gitdir; echo ../.. > f/worktrees/x/commondir";
    let led = format!("ln -s {} f/objects; ln -s {} f/refs", store.display(), secrets.display());
    for at in [place.ws(), place.outside().join("free")] {
        std::fs::create_dir_all(&at).unwrap();
        let script = at.join("make.sh");
        std::fs::write(&script, format!("{made}\n{led}\n")).unwrap();
        // As if a command before had done it.
        let done = Command::new("sh").arg("make.sh").current_dir(&at).status().unwrap();
        assert!(done.success());
        std::fs::write(
            at.join("look.sh"),
            "cat f/refs/id; cat f/objects/haft.db; echo x > f/refs/new; echo x > f/objects/new\n",
        )
        .unwrap();
        let told = bash(&place, &at, "sh look.sh");
        assert!(!told.out.contains("secret words") && !told.out.contains("SQLite"), "{}", told.out);
        assert!(!secrets.join("new").exists() && !store.join("new").exists(), "{}", told.out);
    }
}

#[test]
fn a_working_tree_is_taken_away_once_that_is_agreed_to() {
    let Some(place) = linked() else { return };
    let main = place.outside().join("main");
    git(&main, &["worktree", "add", "-q", "trees/own"]);
    let mut haft =
        place.command(&["call", "bash", "command=git worktree remove trees/own", "--allow", "bash"]);
    let asked = ran(haft.current_dir(&main).output().unwrap());
    assert!(asked.code == 6 && asked.err.contains("protected_path"), "{} {}", asked.code, asked.err);
    assert!(main.join("trees/own").exists());
    haft.args(["--allow", "protected_path"]);
    let done = ran(haft.output().unwrap());
    assert!(done.code == 0 && !main.join("trees/own").exists(), "{} {}", done.out, done.err);
    assert!(!main.join(".git/worktrees/own").exists(), "{}", done.out);
    assert!(main.join(".git/worktrees/linked/gitdir").exists());
}
