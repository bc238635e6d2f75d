//! What appears under a protected name while a command runs: the command's is taken away and kept, somebody else's stays.
#![allow(clippy::unwrap_used, reason = "these are tests, though not all in test functions")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use common::{HELPER, World, is_full, is_ours, machine, until};
use haft_sandbox::{Content, Finished, Profile, Vouching, Watch, taken};

/// A command that runs, with a custody for what is taken away.
struct Running {
    world: World,
    custody: PathBuf,
    child: Child,
    watch: Watch,
    said: BufReader<ChildStdout>,
}

/// Sleeps until it is ended.
const STILL: &str = "echo running; sleep 1000";
/// Is awake all the time.
const BUSY: &str = "echo running; while :; do :; done";

impl Running {
    /// Starts a script in a workspace in which something was prepared.
    fn start(script: &str) -> Running {
        Running::start_in(World::new(), script)
    }

    fn start_in(world: World, script: &str) -> Running {
        let custody = world.out.join("custody");
        let profile = Profile { custody: Some(custody.clone()), ..world.profile() };
        let (mut command, watch) = machine().command(&profile, &world.program(script)).unwrap().into_parts();
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "running\n");
        Running { world, custody, child, watch, said }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.world.ws.join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), content).unwrap();
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.at(name)).ok()
    }

    /// Waits until the command has been looked at several times.
    fn looked_at(&self) {
        std::thread::sleep(std::time::Duration::from_millis(200));
    }

    /// Writes a file as haft does when a person agrees.
    fn agreed(&self, name: &str, content: &str) {
        let path = self.at(name);
        let vouching = Vouching::begin(&self.custody, vec![path.clone()]).unwrap();
        self.write(name, content);
        vouching.finish(&[(path, Content::of(content.as_bytes()))]).unwrap();
    }

    fn end(mut self) -> (World, PathBuf, Finished) {
        self.watch.end();
        self.said.read_to_end(&mut Vec::new()).unwrap();
        self.child.wait().unwrap();
        let finished = self.watch.finish().unwrap();
        assert!(names(&self.world.ws).iter().all(|name| !name.contains("haft-removed")));
        (self.world, self.custody, finished)
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// The same without what was put aside until the end.
fn in_place(directory: &Path) -> Vec<String> {
    names(directory).into_iter().filter(|name| !name.starts_with(".haft-removed-")).collect()
}

/// The contents that are kept of what was taken away from a path, in the order in which it was.
fn kept(finished: &Finished, path: &Path) -> Vec<String> {
    let of_it = finished.removed.iter().filter(|removed| removed.path == path);
    let kept = of_it.flat_map(|removed| &removed.kept);
    kept.map(|file| fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn what_a_command_makes_is_taken_away_and_kept() {
    if !is_full() {
        return;
    }
    let script = "echo running; echo mine > haft.jsonc; mkdir -p .vscode/a; echo tasks > .vscode/a/tasks.json; mkdir .idea; \
        : > .envrc; while [ -e haft.jsonc ] || [ -e .vscode ]; do :; done; echo again > haft.jsonc; sleep 1000";
    let running = Running::start(script);
    until("it is taken away twice", || {
        fs::read_dir(&running.world.ws).unwrap().count() > 3 && running.text("haft.jsonc").is_none()
    });
    running.looked_at();
    let (world, custody, finished) = running.end();
    assert_eq!(names(&world.ws), Vec::<String>::new());
    assert_eq!(kept(&finished, &world.ws.join("haft.jsonc")), ["mine\n", "again\n"]);
    let tasks = finished.removed.iter().find(|removed| removed.path.ends_with(".vscode")).unwrap();
    assert_eq!(fs::read_to_string(tasks.kept[0].join("a/tasks.json")).unwrap(), "tasks\n");
    // Nothing is in these, so nothing of them is kept.
    for name in [".idea", ".envrc"] {
        let removed = finished.removed.iter().find(|removed| removed.path.ends_with(name)).unwrap();
        assert_eq!(removed.kept, Vec::<PathBuf>::new(), "{name}");
    }
    assert_eq!(taken(&custody).len(), 3);
}

#[test]
fn what_a_person_makes_while_a_command_does_nothing_stays() {
    if !is_full() {
        return;
    }
    let running = Running::start(STILL);
    running.looked_at();
    running.write(".vscode/settings.json", "{}");
    running.write("haft.jsonc", "{}");
    running.looked_at();
    // And may be changed again.
    running.write(".vscode/settings.json", "{ }");
    running.write(".vscode/tasks.json", "{}");
    running.looked_at();
    let (world, custody, finished) = running.end();
    assert_eq!(finished.removed, []);
    assert_eq!(fs::read_to_string(world.ws.join(".vscode/settings.json")).unwrap(), "{ }");
    assert!(world.ws.join(".vscode/tasks.json").exists() && world.ws.join("haft.jsonc").exists());
    assert_eq!(taken(&custody), Vec::<PathBuf>::new());
}

#[test]
fn what_a_person_made_is_not_the_commands_to_change_or_to_add_to() {
    if !is_full() {
        return;
    }
    // It wakes up once, when all is there and was looked at.
    let script = "mkfifo go; echo running; read -r _ < go; echo tampered > .vscode/settings.json; echo more > .vscode/tasks.json; \
        echo tampered >> haft.jsonc; sleep 1000";
    let running = Running::start(script);
    running.looked_at();
    running.write(".vscode/settings.json", "{}");
    running.write(".vscode/launch.json", "{}");
    running.write("haft.jsonc", "{}");
    running.looked_at();
    running.write("go", "now\n");
    until("what was tampered with is taken away", || {
        !running.at("haft.jsonc").exists() && !running.at(".vscode/tasks.json").exists()
    });
    running.looked_at();
    let (world, _, finished) = running.end();
    assert_eq!(names(&world.ws.join(".vscode")), ["launch.json"]);
    assert_eq!(kept(&finished, &world.ws.join(".vscode/tasks.json")), ["more\n"]);
    assert_eq!(kept(&finished, &world.ws.join("haft.jsonc")), ["{}tampered\n"]);
}

#[test]
fn what_a_person_makes_while_a_command_is_busy_is_kept() {
    if !is_full() {
        return;
    }
    let running = Running::start(BUSY);
    running.write("haft.jsonc", "a person's");
    until("it is taken away", || !running.at("haft.jsonc").exists());
    let (world, _, finished) = running.end();
    assert_eq!(kept(&finished, &world.ws.join("haft.jsonc")), ["a person's"]);
}

#[test]
fn what_was_agreed_to_stays_whatever_the_command_does_meanwhile() {
    if !is_full() {
        return;
    }
    let running = Running::start(BUSY);
    running.agreed(".vscode/settings.json", "agreed");
    running.looked_at();
    running.agreed(".vscode/settings.json", "agreed again");
    running.agreed("haft.jsonc", "agreed too");
    // Not by anybody whom somebody vouches for.
    running.write(".vscode/tasks.json", "not agreed");
    until("it is taken away", || !running.at(".vscode/tasks.json").exists());
    running.looked_at();
    assert_eq!(running.text(".vscode/settings.json").as_deref(), Some("agreed again"));
    // What was agreed to before is no longer.
    running.write("haft.jsonc", "agreed again");
    until("it is taken away", || !running.at("haft.jsonc").exists());
    running.agreed("haft.jsonc", "agreed at last");
    let (world, _, finished) = running.end();
    assert_eq!(fs::read_to_string(world.ws.join("haft.jsonc")).unwrap(), "agreed at last");
    assert_eq!(names(&world.ws.join(".vscode")), ["settings.json"]);
    assert_eq!(kept(&finished, &world.ws.join("haft.jsonc")), ["agreed again"]);
}

#[test]
fn what_is_just_being_written_is_waited_for_also_at_the_end() {
    if !is_full() {
        return;
    }
    let running = Running::start(BUSY);
    let path = running.at(".vscode/settings.json");
    let vouching = Vouching::begin(&running.custody, vec![path.clone()]).unwrap();
    running.write(".vscode/.haft-tmp-1", "half");
    running.looked_at();
    fs::rename(running.at(".vscode/.haft-tmp-1"), &path).unwrap();
    running.watch.end();
    // The supervisor is at its end, and waits.
    running.looked_at();
    vouching.finish(&[(path.clone(), Content::of(b"half"))]).unwrap();
    let (_world, _, finished) = running.end();
    assert_eq!(finished.removed, []);
    assert_eq!(fs::read_to_string(&path).unwrap(), "half");
}

#[test]
fn nobody_vouches_for_what_a_command_brings_about_by_itself() {
    if !is_full() {
        return;
    }
    // It knows what was agreed to, and puts the same elsewhere, or something else in its place.
    let script = "echo running; until [ -e haft.jsonc ]; do :; done; cp haft.jsonc haft.json; mkdir .opencode; \
        cp haft.jsonc .opencode/x; ln -s ../haft.jsonc .zed; mv haft.jsonc moved; ln -s moved haft.jsonc; touch the-end; while :; do :; done";
    let running = Running::start(script);
    running.agreed("haft.jsonc", "agreed");
    until("all is taken away", || running.at("the-end").exists() && in_place(&running.world.ws).len() == 2);
    let (_world, _, finished) = running.end();
    let mut removed: Vec<_> =
        finished.removed.iter().map(|removed| removed.path.file_name().unwrap().to_owned()).collect();
    removed.sort();
    assert_eq!(removed, [".opencode", ".zed", "haft.json", "haft.jsonc"]);
}

#[test]
fn what_was_agreed_to_before_a_command_began_is_not_its_to_bring_back() {
    if !is_full() {
        return;
    }
    let running = Running::start(STILL);
    running.agreed("haft.jsonc", "agreed once");
    running.looked_at();
    fs::remove_file(running.at("haft.jsonc")).unwrap();
    let (world, _, finished) = running.end();
    assert_eq!(finished.removed, []);
    let running =
        Running::start_in(world, "printf 'agreed once' > haft.jsonc; echo running; while :; do :; done");
    until("it is taken away", || !running.at("haft.jsonc").exists());
    let (world, _, finished) = running.end();
    assert_eq!(kept(&finished, &world.ws.join("haft.jsonc")), ["agreed once"]);
}

#[test]
fn a_file_that_the_command_has_another_name_for_is_not_somebody_elses() {
    if !is_full() {
        return;
    }
    let script =
        "mkfifo go; echo running; read -r _ < go; ln haft.jsonc other; ln .vscode/a other2; sleep 1000";
    let running = Running::start(script);
    running.agreed("haft.jsonc", "agreed");
    running.looked_at();
    running.write(".vscode/a", "a person's");
    running.write(".vscode/b", "a person's, too");
    running.looked_at();
    running.write("go", "now\n");
    until("both are taken away", || !running.at("haft.jsonc").exists() && !running.at(".vscode/a").exists());
    let (world, _, finished) = running.end();
    assert_eq!(names(&world.ws.join(".vscode")), ["b"]);
    for (name, content) in [("haft.jsonc", "agreed"), (".vscode/a", "a person's")] {
        let kept = &finished.removed.iter().find(|removed| removed.path.ends_with(name)).unwrap().kept;
        fs::write(world.ws.join(if name == "haft.jsonc" { "other" } else { "other2" }), "changed").unwrap();
        assert_eq!(fs::read_to_string(&kept[0]).unwrap(), content);
    }
}

#[test]
fn what_was_somebody_elses_once_is_the_commands_when_the_command_makes_it_again() {
    if !is_full() {
        return;
    }
    let script = "mkfifo go; echo running; read -r _ < go; printf same > haft.jsonc; sleep 1000";
    let running = Running::start(script);
    running.looked_at();
    running.write("haft.jsonc", "same");
    running.looked_at();
    fs::rename(running.at("haft.jsonc"), running.at("elsewhere")).unwrap();
    running.write("go", "now\n");
    until("it is made and taken away", || {
        names(&running.world.ws).iter().any(|name| name.contains("removed"))
    });
    let (world, _, finished) = running.end();
    assert!(!world.ws.join("haft.jsonc").exists());
    assert_eq!(kept(&finished, &world.ws.join("haft.jsonc")), ["same"]);
}

#[test]
fn what_stays_because_somebody_writes_is_not_taken_in_when_they_do_not() {
    if !is_full() {
        return;
    }
    let script =
        "echo running; printf evil > haft.jsonc; mkdir .vscode; printf evil > .vscode/other; sleep 1000";
    let world = World::new();
    let custody = world.out.join("custody");
    let paths = ["haft.jsonc", ".vscode/settings.json"].map(|name| world.ws.join(name));
    let vouching = Vouching::begin(&custody, paths.to_vec()).unwrap();
    let running = Running::start_in(world, script);
    until("what nobody writes is taken away", || !running.at(".vscode/other").exists());
    running.looked_at();
    assert!(running.at("haft.jsonc").exists(), "somebody may be writing it");
    // They could not.
    drop(vouching);
    until("it is taken away", || !running.at("haft.jsonc").exists());
    let (world, _, finished) = running.end();
    assert_eq!(in_place(&world.ws), Vec::<String>::new());
    assert_eq!(kept(&finished, &world.ws.join("haft.jsonc")), ["evil"]);
}

#[test]
fn much_is_put_beside_and_not_lost() {
    if !is_full() {
        return;
    }
    let script =
        "mkdir made; head -c 20000000 /dev/zero > made/large; mv made .idea; echo running; sleep 1000";
    let running = Running::start(script);
    until("it is taken away", || !running.at(".idea").exists());
    let Running { world, mut child, watch, .. } = running;
    watch.end();
    child.wait().unwrap();
    let finished = watch.finish().unwrap();
    let [removed] = finished.removed.as_slice() else { panic!("{finished:?}") };
    assert_eq!(removed.kept[0].parent(), Some(world.ws.as_path()));
    assert_eq!(fs::metadata(removed.kept[0].join("large")).unwrap().len(), 20_000_000);
}

/// A process that is killed whatever becomes of the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).unwrap();
    }
}

/// Who may do everything may also move what is locked; others have to unlock it.
#[test]
fn what_an_ordinary_user_locked_is_taken_away_too() {
    if !is_ours() || !rustix::process::geteuid().is_root() {
        eprintln!("NOT TESTED: only root can become somebody else");
        return;
    }
    let world = World::new();
    let (helper, custody) = (world.out.join("haft-sandboxed"), world.out.join("custody"));
    fs::copy(HELPER, &helper).unwrap();
    fs::create_dir(&custody).unwrap();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    [world.ws.parent().unwrap(), &world.ws, &world.out, &helper, &custody].into_iter().for_each(open);
    std::os::unix::fs::chown(&world.ws, Some(65534), Some(65534)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    // It appears with what is in it: made there bit by bit, it might be taken away before that.
    let script = "mkfifo go; chmod 666 go; echo running; read -r _ < go; mkdir rc; echo evil > rc/x; mv rc .idea; \
        chmod 555 .idea/rc; touch made; sleep 0.3; echo evil > haft.jsonc; chmod 0 .; sleep 1000";
    let child = command.arg(&helper).arg("--workspace").arg(&world.ws).arg("--custody").arg(&custody);
    let child = child.args(["bash", "-c", script]).current_dir(&world.ws).stdout(Stdio::piped()).spawn();
    let Ok(child) = child else {
        eprintln!("NOT TESTED as an ordinary user: setpriv is missing");
        return;
    };
    let mut child = Ended(child);
    let mut line = String::new();
    BufReader::new(child.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    if line.is_empty() {
        eprintln!("NOT TESTED as an ordinary user: others cannot reach {}", world.ws.display());
        return;
    }
    let looked_at = || std::thread::sleep(std::time::Duration::from_millis(200));
    looked_at();
    fs::create_dir(world.ws.join(".idea")).unwrap();
    open(&world.ws.join(".idea"));
    looked_at();
    fs::write(world.ws.join("go"), "now\n").unwrap();
    until("it is made", || world.ws.join("made").exists());
    until("it is taken away", || !world.ws.join(".idea/rc").exists());
    let is_locked = || fs::metadata(&world.ws).unwrap().permissions().mode() & 0o7777 == 0;
    until("the way is locked", is_locked);
    until("it is taken away", || !world.ws.join("haft.jsonc").exists());
    drop(child);
    // What was killed is not the supervisor, which ends by itself.
    let is_evil = |kept: &PathBuf| fs::read_to_string(kept.join("rc/x")).is_ok_and(|text| text == "evil\n");
    until("it is kept", || taken(&custody).iter().any(is_evil));
    assert!(world.ws.join(".idea").exists() && !world.ws.join("haft.jsonc").exists());
}

#[test]
fn a_command_that_tries_again_and_again_neither_wins_nor_has_a_persons_file_lost() {
    if !is_full() {
        return;
    }
    // Each time with much in it, so that looking at it takes long.
    let script = "echo running; for round in $(seq 40); do for name in .idea .zed .kiro; do mkdir -p made/{1..60}; \
        echo $round > made/x; mv made $name; done; [ -e many ] || { [ $round -lt 20 ] || touch many; }; \
        until [ ! -e .idea ] && [ ! -e .zed ] && [ ! -e .kiro ]; do :; done; done; touch done; sleep 1000";
    let running = Running::start(script);
    until("it has tried often", || running.at("many").exists());
    running.write("haft.jsonc", "a person's");
    until("it is taken away", || !running.at("haft.jsonc").exists());
    until("it has tried as often as it wants", || running.at("done").exists());
    let Running { world, custody, mut child, watch, .. } = running;
    watch.end();
    child.wait().unwrap();
    let finished = watch.finish().unwrap();
    assert_eq!(kept(&finished, &world.ws.join("haft.jsonc")), ["a person's"]);
    let tries = finished.removed.iter().find(|removed| removed.path.ends_with(".idea")).unwrap();
    let rounds = tries.kept.iter().map(|kept| fs::read_to_string(kept.join("x")).unwrap());
    let rounds: Vec<u32> = rounds.map(|round| round.trim().parse().unwrap()).collect();
    assert!(rounds.len() <= 8 && rounds.iter().any(|round| *round <= 4), "{rounds:?}");
    assert!(rounds.iter().any(|round| *round >= 37), "{rounds:?}");
    assert_eq!(in_place(&world.ws).len(), 2);
    assert!(taken(&custody).len() <= 25);
}
