//! A workspace, a place outside of it, and a way to run scripts confined.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "these are tests, though not in test functions")]

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use haft_sandbox::{Finished, Level, Profile, Program, Sandbox, SandboxError};
use tempfile::TempDir;

/// The program that serves as the helper, and as a parent to kill.
pub(crate) const HELPER: &str = env!("CARGO_BIN_EXE_haft-sandboxed");

/// This machine, tried once. Says loudly what it is.
pub(crate) fn machine() -> &'static Sandbox {
    static MACHINE: OnceLock<Sandbox> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let sandbox = Sandbox::with_helper(Path::new(HELPER));
        // To try another way on a machine that has several.
        let level = std::env::var("HAFT_TEST_LEVEL").map(|name| match name.as_str() {
            "bubblewrap" => Level::Bubblewrap,
            other => panic!("HAFT_TEST_LEVEL can be bubblewrap, not {other}"),
        });
        let sandbox = sandbox.at_most(level.unwrap_or(Level::Namespaces));
        eprintln!("SANDBOX LEVEL OF THIS MACHINE: {}", sandbox.report());
        sandbox
    })
}

/// Whether everything can be held here. Where it cannot, a test that needs it has nothing to show.
pub(crate) fn is_full() -> bool {
    let level = machine().level();
    if level < Level::Bubblewrap {
        eprintln!("NOT TESTED: this machine offers only: {level}");
    }
    level >= Level::Bubblewrap
}

/// Whether namespaces are our own, which also gives caches, exact statuses and signals.
pub(crate) fn is_ours() -> bool {
    is_full() && machine().level() == Level::Namespaces
}

/// A workspace in `ws`, what must not be touched in `out`, a home in `home`.
pub(crate) struct World {
    _dir: TempDir,
    pub(crate) ws: PathBuf,
    pub(crate) out: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) env: Vec<(String, String)>,
}

/// How a script ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Both streams.
    pub(crate) output: String,
    pub(crate) finished: Finished,
}

impl Ran {
    /// Protected paths that something was taken away from.
    pub(crate) fn removed(&self) -> Vec<PathBuf> {
        self.finished.removed.iter().map(|removed| removed.path.clone()).collect()
    }
}

impl World {
    pub(crate) fn new() -> World {
        // Commands have temporary directories of their own, so this must not be in one.
        let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let is_private =
            ["/tmp", "/var/tmp", "/run", "/dev"].iter().any(|private| target.starts_with(private));
        let base = if is_private { std::env::home_dir().unwrap() } else { target };
        let dir = tempfile::Builder::new().prefix(".haft-sandbox-").tempdir_in(base).unwrap();
        let at = |name: &str| {
            let path = dir.path().canonicalize().unwrap().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let (ws, out, home) = (at("ws"), at("out"), at("home"));
        fs::write(out.join("file"), "old\n").unwrap();
        World { _dir: dir, ws, out, home, env: Vec::new() }
    }

    /// The workspace may be changed, what is outside can be seen.
    pub(crate) fn profile(&self) -> Profile {
        Profile::workspace_write([&self.ws]).with_home(&self.home)
    }

    pub(crate) fn run(&self, profile: &Profile, script: &str) -> Ran {
        self.try_run(machine(), profile, script, None).unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    pub(crate) fn try_run(
        &self,
        sandbox: &Sandbox,
        profile: &Profile,
        script: &str,
        stdin: Option<OwnedFd>,
    ) -> Result<Ran, SandboxError> {
        use std::os::unix::process::ExitStatusExt;
        let program = self.program(script);
        let confined = match stdin {
            Some(stdin) => sandbox.command_reading(stdin, profile, &program),
            None => sandbox.command(profile, &program),
        };
        let (mut command, watch) = confined?.into_parts();
        let (mut output, writer) = std::io::pipe().unwrap();
        let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
        drop(command);
        let mut text = Vec::new();
        output.read_to_end(&mut text).unwrap();
        let status = child.wait().unwrap();
        let finished = watch.finish()?;
        let output = String::from_utf8_lossy(&text).into_owned();
        Ok(Ran { code: status.code(), signal: status.signal(), output, finished })
    }

    pub(crate) fn program(&self, script: &str) -> Program {
        let kept = ["PATH", "RUSTUP_HOME", "PYENV_ROOT", "LANG"];
        let kept = kept.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        let own = [("HOME", &self.home), ("OUT", &self.out), ("WS", &self.ws)];
        let own = own.iter().map(|(name, path)| ((*name).into(), path.as_os_str().to_owned()));
        let more = self.env.iter().map(|(name, value)| (name.into(), value.into()));
        Program {
            program: "bash".into(),
            args: vec!["-c".into(), script.into()],
            env: kept.chain(own).chain(more).collect(),
            cwd: self.ws.clone(),
        }
    }
}

/// Everything below a directory: names, kinds, modes, times and sizes.
pub(crate) fn listing(path: &Path) -> String {
    let format = "%P %y %m %n %T@ %s %l\n";
    let found = Command::new("find").arg(path).args(["-mindepth", "1", "-printf", format]).output().unwrap();
    let mut lines: Vec<_> = String::from_utf8_lossy(&found.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines.join("\n")
}

/// Runs a script as it is, to prepare something.
pub(crate) fn prepare(world: &World, script: &str) {
    let program = world.program(script);
    let status = Command::new("bash")
        .args(&program.args)
        .env_clear()
        .envs(program.env)
        .current_dir(&world.ws)
        .status();
    assert!(status.unwrap().success(), "{script}");
}

/// Whether any process of this machine has this text in its command line.
pub(crate) fn is_running(text: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).contains(text))
}

/// Waits until something is so; panics when it has not become so in a long time.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("never: {what}");
}
