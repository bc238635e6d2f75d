//! Runs the binary: in a session of its own, against a deadline, its output in files so that nothing blocks.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, geteuid, kill_process_group};
use serde_json::{Map, Value};

use crate::workspace::Workspace;

const DEADLINE_S: f64 = 60.0;
/// The user and group that own nothing.
const NOBODY: &str = "65534";

/// The binary under test.
pub(crate) struct Haft {
    pub(crate) program: PathBuf,
    pub(crate) deadline: Duration,
    setsid: Option<PathBuf>,
}

/// One run of the binary.
pub(crate) struct Run<'a> {
    pub(crate) workspace: &'a Workspace,
    /// What the case adds to the environment.
    pub(crate) env: &'a Map<String, Value>,
    pub(crate) user: User,
    pub(crate) arguments: &'a [&'a OsStr],
    pub(crate) stdin: &'a str,
}

/// As whom the binary runs.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum User {
    Ourselves,
    Nobody,
}

/// What the binary said.
pub(crate) struct Answer {
    pub(crate) json: Value,
    pub(crate) elapsed: Duration,
}

impl Haft {
    pub(crate) fn new(program: PathBuf, deadline: Duration) -> Haft {
        Haft { program, deadline, setsid: on_path("setsid") }
    }

    /// Takes the binary cargo built, or the one `HAFT_BIN` names.
    pub(crate) fn from_env() -> anyhow::Result<Haft> {
        let program = env::var_os("HAFT_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_haft").into());
        let program = fs::canonicalize(&program)
            .with_context(|| format!("there is no binary at {}", program.to_string_lossy()))?;
        let seconds = match env::var("HAFT_CASE_TIMEOUT") {
            Ok(text) => text.parse().context("HAFT_CASE_TIMEOUT is a number of seconds")?,
            Err(_) => DEADLINE_S,
        };
        Ok(Haft::new(program, Duration::try_from_secs_f64(seconds).context("HAFT_CASE_TIMEOUT")?))
    }

    /// Runs the binary in a workspace and returns the one JSON document it printed.
    pub(crate) fn ask(&self, run: &Run<'_>) -> anyhow::Result<Answer> {
        let argv = self.argv(run)?;
        let (out, err) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let started = Instant::now();
        let mut command = Command::new(&argv[0]);
        command
            .args(&argv[1..])
            .current_dir(&run.workspace.cwd)
            .env_clear()
            .envs(run.workspace.environment(run.env)?)
            .stdin(Stdio::piped())
            .stdout(out.try_clone()?)
            .stderr(err.try_clone()?);
        if self.setsid.is_none() {
            command.process_group(0);
        }
        let mut child = command.spawn().with_context(|| format!("could not run {}", argv[0].display()))?;
        feed(&mut child, run.stdin);
        let status = self.wait(child)?;
        let elapsed = started.elapsed();
        let (out, err) = (contents(&out)?, contents(&err)?);
        match document(out.trim()) {
            Some(json) => Ok(Answer { json, elapsed }),
            None => bail!("no JSON on stdout ({status}) stdout={:?} stderr={:?}", end(&out), end(&err)),
        }
    }

    /// Puts in front of the binary what gives it its own session, and another user where one is wanted.
    fn argv(&self, run: &Run<'_>) -> anyhow::Result<Vec<OsString>> {
        // Without a terminal to reach, nothing a case starts can wait for the person who runs the tests.
        let mut argv: Vec<OsString> = self.setsid.iter().map(OsString::from).collect();
        match run.user {
            User::Ourselves => argv.push(self.program.clone().into()),
            User::Nobody => {
                // The build directory may be closed to others, so the binary comes along.
                let copy = run.workspace.root.join("haft");
                fs::copy(&self.program, &copy).context("could not copy the binary")?;
                give_away(&run.workspace.root)?;
                argv.push(on_path("setpriv").context("there is no setpriv")?.into());
                argv.extend([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")].map(OsString::from));
                argv.extend(["--clear-groups".into(), "--".into(), copy.into()]);
            }
        }
        argv.extend(run.arguments.iter().map(OsString::from));
        Ok(argv)
    }

    /// Waits for the end, and past the deadline kills everything the call started.
    fn wait(&self, mut child: Child) -> anyhow::Result<ExitStatus> {
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a child has a pid")?;
        let (ended, end) = mpsc::channel();
        let waiter = thread::spawn(move || ended.send(child.wait()));
        let status = match end.recv_timeout(self.deadline) {
            Ok(status) => status.context("could not wait for the binary")?,
            Err(_) => {
                kill_process_group(group, Signal::KILL).context("could not kill the process group")?;
                waiter.join().ok();
                bail!("timed out after {:.0?}", self.deadline);
            }
        };
        Ok(status)
    }
}

/// Tells whether we are root, for whom some refusals of the system never happen.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// Finds a program as a shell would.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file())
}

fn give_away(root: &Path) -> anyhow::Result<()> {
    let owner = format!("{NOBODY}:{NOBODY}");
    let status = Command::new("chown").args(["-R", "-h", &owner]).arg(root).status();
    ensure!(status.context("could not run chown")?.success(), "chown did not succeed");
    Ok(())
}

/// Writes from a thread of its own: a binary that never reads must not block the runner.
fn feed(child: &mut Child, text: &str) {
    let text = text.to_owned();
    if let Some(mut stdin) = child.stdin.take() {
        // An answer that needs no input may come before all of it is read, so a closed pipe is no failure.
        thread::spawn(move || stdin.write_all(text.as_bytes()));
    }
}

fn contents(file: &File) -> anyhow::Result<String> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len())?];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Parses all of it, or else the last line that is JSON: log lines before the answer are tolerated.
fn document(text: &str) -> Option<Value> {
    let whole = serde_json::from_str(text).ok();
    whole.or_else(|| text.lines().rev().find_map(|line| serde_json::from_str(line).ok()))
}

fn end(text: &str) -> &str {
    const END_CHARS: usize = 300;
    let start = text.trim().char_indices().rev().nth(END_CHARS - 1).map_or(0, |(at, _)| at);
    &text.trim()[start..]
}
