//! The analysis against a real shell: generated scripts run under strace, and what the kernel saw executed was found
//! beforehand, or would not have been allowed.
//!
//! `HAFT_ORACLE_SCRIPTS` says how many scripts, `HAFT_ORACLE_SEED` which ones.

mod generator;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use haft::permission::Effect;

use super::{Place, decided, rules};
use crate::shell::{CommandTarget, Sort};
use crate::workspace::Workspace;
use generator::Generator;

/// As many as run in a few seconds.
const SCRIPTS: usize = 250;
/// Programs that do nothing; each is a name that can be executed.
const PROGRAMS: [&str; 4] = ["pa", "pb", "pc", "pd"];
/// Who runs scripts where this test is run by root.
const NOBODY: u32 = 65534;
/// Programs that scripts run others with.
const TOOLS: &str = "env timeout nice nohup setsid stdbuf xargs find cat echo true sh bash";

#[test]
fn what_a_real_shell_executes_was_found_or_was_not_allowed() {
    let needed = ["/usr/bin/strace", "/bin/bash", "/usr/bin/timeout", "/usr/bin/setpriv"];
    if !needed.into_iter().all(is_there) {
        eprintln!("SKIPPED: the differential oracle needs strace, bash, timeout and setpriv");
        return;
    }
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (scripts, seed) = (number("HAFT_ORACLE_SCRIPTS", SCRIPTS as u64), number("HAFT_ORACLE_SEED", 1));
    let bench = Bench::new();
    let narrow = rules(&["*: deny", "pa *: allow", "pb *: allow", "echo *: allow", "cat *: allow"]);
    let denying = rules(&["*: allow", "pd: deny", "pd *: deny"]);
    let (mut executed_something, mut narrowly_allowed, mut wrong) = (0, 0, Vec::new());
    for at in 0..scripts {
        let script = Generator::new(seed, at).script();
        let Some(executed) = bench.executed(&script) else { continue };
        executed_something += usize::from(!executed.is_empty());
        let target = CommandTarget::new(&bench.workspace, &script, None, None).unwrap();
        let commands = &target.analysis().commands;
        let found: BTreeSet<&str> = commands.iter().filter_map(|command| command.name()).collect();
        let unknown = commands.iter().any(|command| command.is_opaque || command.sort == Sort::Unread);
        let missed: Vec<&String> = executed.iter().filter(|name| !found.contains(name.as_str())).collect();
        if !unknown && !missed.is_empty() {
            wrong.push(format!("{missed:?} executed and not found in {script:?}"));
        }
        if decided(&bench.workspace, &narrow, &script) == Effect::Allow {
            narrowly_allowed += 1;
            if executed.iter().any(|name| !matches!(name.as_str(), "pa" | "pb" | "cat" | "echo")) {
                wrong.push(format!("allowed by rules for others: {script:?}"));
            }
        }
        if executed.contains("pd") && decided(&bench.workspace, &denying, &script) == Effect::Allow {
            wrong.push(format!("denied and run: {script:?}"));
        }
    }
    let first: Vec<&String> = wrong.iter().take(20).collect();
    assert!(wrong.is_empty(), "{} of {scripts}: {first:#?}", wrong.len());
    eprintln!(
        "{executed_something} of {scripts} executed something, {narrowly_allowed} were allowed by narrow rules"
    );
    // A run that executes nothing, or allows nothing, tests nothing.
    assert!(
        executed_something * 3 > scripts as usize,
        "only {executed_something} of {scripts} executed anything"
    );
    assert!(narrowly_allowed > 0, "no script was allowed");
}

fn is_there(path: &str) -> bool {
    Path::new(path).exists()
}

/// What the kernel started, by the log of strace. A call during which another process makes one stands in two lines, with
/// what it is about in the first and whether it succeeded in the second.
fn paths_executed(log: &str) -> Vec<&str> {
    let (mut begun, mut executed) = (HashMap::new(), Vec::new());
    for (process, rest) in log.lines().filter_map(|line| line.split_once(' ')) {
        let path = || rest.split_once("execve(\"")?.1.split_once('"').map(|(path, _)| path);
        if rest.ends_with("<unfinished ...>") {
            begun.extend(path().map(|path| (process, path)));
        } else if rest.ends_with("= 0") {
            executed.extend(path().or_else(|| begun.remove(process)));
        }
    }
    executed
}

#[test]
fn a_log_in_which_calls_are_torn_is_read() {
    let log = r#"10 execve("/bin/bash", ["bash"], 0x1) = 0
11 execve("/bin/pa", ["pa"], 0x1 <unfinished ...>
12 execve("/x/pb", ["pb"], 0x1) = -1 ENOENT (No such file or directory)
12 execve("/bin/pb", ["pb"], 0x1 <unfinished ...>
11 <... execve resumed>)                   = 0
12 <... execve resumed>)                   = -1 EACCES (Permission denied)
13 execve("/bin/pc", ["pc"], 0x1)          = 0
"#;
    assert_eq!(paths_executed(log), ["/bin/bash", "/bin/pa", "/bin/pc"]);
}

/// A directory in which scripts run, with programs that do nothing.
struct Bench {
    place: Place,
    workspace: Workspace,
    programs: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let place = Place::new();
        let programs = place.outside().join("bin");
        fs::create_dir(&programs).unwrap();
        // Copies: a script that writes to one of them must not write to the machine's own.
        let copy = |from: &Path, to: PathBuf| assert!(fs::copy(from, to).is_ok());
        PROGRAMS.iter().for_each(|name| copy(Path::new("/bin/true"), programs.join(name)));
        // Nothing else is within reach, because what other programs execute is their own affair.
        for name in TOOLS.split(' ') {
            let real = ["/usr/bin", "/bin"].iter().map(|directory| Path::new(directory).join(name));
            real.filter(|path| path.exists()).take(1).for_each(|path| copy(&path, programs.join(name)));
        }
        let workspace = place.workspace.clone();
        copy(Path::new("/bin/true"), place.outside().join("ws/pd"));
        if rustix::process::geteuid().is_root() {
            let (nobody, outside) = (format!("{NOBODY}:{NOBODY}"), place.outside());
            let give = |whom: &str, what: &Path| {
                Command::new("chown").args(["-R", whom]).arg(what).status().is_ok_and(|given| given.success())
            };
            // A program that a script has written to would be another one from then on.
            assert!(give(&nobody, outside) && give("0:0", &programs) && give("0:0", &outside.join("ws/pd")));
        }
        Bench { place, workspace, programs }
    }

    /// The names of what was executed besides the shell itself; nothing, if the script did not end by itself.
    fn executed(&self, script: &str) -> Option<BTreeSet<String>> {
        let log = self.place.outside().join("log");
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-s", "KILL", "5"]);
        // Nobody knows what these scripts do, so they have no rights to do it with.
        if rustix::process::geteuid().is_root() {
            command.arg("/usr/bin/setpriv").arg("--clear-groups");
            command.args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")]);
        }
        let status = command
            .args(["/usr/bin/strace", "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o"])
            .arg(&log)
            .args(["/bin/bash", "-c", script])
            .current_dir(self.workspace.directory())
            .env_clear()
            .env("PATH", &self.programs)
            .env("FUNCNEST", "20")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let log = fs::read_to_string(&log).unwrap_or_default();
        let names = paths_executed(&log).into_iter().skip(1);
        let names = names.map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
        status.code().map(|_| names.collect())
    }
}
