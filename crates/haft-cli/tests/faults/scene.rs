//! A deed, and a place to do it in again and again, each time from the same beginning.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

/// Far longer than any deed takes.
const PATIENCE: Duration = Duration::from_secs(30);

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// What files hold; `None` for one that is not there.
pub(crate) type State = &'static [(&'static str, Option<&'static str>)];

/// Something that is done to files.
pub(crate) struct Deed<'a> {
    /// What is done first, without faults; the files then are the old ones. Nothing if it is empty.
    pub(crate) prepare: &'a [&'a str],
    /// The deed.
    pub(crate) command: &'a [&'a str],
    pub(crate) old: State,
    pub(crate) new: State,
    /// A formatter for texts: a script that is given the file. Files it has not come to may hold what is `unformatted`.
    pub(crate) formatter: Option<&'a str>,
    pub(crate) unformatted: State,
}

impl Deed<'_> {
    /// One that is not prepared for, and that no formatter follows.
    pub(crate) const PLAIN: Deed<'static> =
        Deed { prepare: &[], command: &[], old: &[], new: &[], formatter: None, unformatted: &[] };
}

/// What is found in the files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Old,
    New,
    /// As the deed left them, before the formatter.
    Unformatted,
    /// Something else, in words.
    Torn(String),
}

pub(crate) struct Scene<'a> {
    deed: &'a Deed<'a>,
    root: TempDir,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(deed: &'a Deed<'a>) -> Scene<'a> {
        let scene = Scene { deed, root: tempfile::tempdir().unwrap() };
        fs::create_dir(scene.path("live")).unwrap();
        fs::create_dir(scene.path("live/ws")).unwrap();
        let begun = if deed.prepare.is_empty() { deed.old } else { deed.new };
        for (name, content) in begun.iter().filter_map(|(name, content)| Some((name, (*content)?))) {
            fs::write(scene.path("live/ws").join(name), content).unwrap();
        }
        if let Some(script) = deed.formatter {
            let command = ["sh", "-c", script, "sh", "$FILE"];
            let formatter = json!({ "mine": { "command": command, "extensions": [".txt"] } });
            fs::create_dir_all(scene.path("live/haft/config")).unwrap();
            let config = json!({ "formatter": formatter, "sandbox": "off" }).to_string();
            fs::write(scene.path("live/haft/config/haft.jsonc"), config).unwrap();
        }
        let first = if deed.prepare.is_empty() { &["log"] } else { deed.prepare };
        let done = scene.haft(first);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(scene.found(), Found::Old);
        copy(&scene.path("live"), &scene.path("beginning"));
        scene
    }

    /// Makes everything as it was at the beginning.
    pub(crate) fn reset(&self) {
        fs::remove_dir_all(self.path("live")).unwrap();
        copy(&self.path("beginning"), &self.path("live"));
    }

    pub(crate) fn haft(&self, args: &[&str]) -> Output {
        self.command(HAFT).args(args).output().unwrap()
    }

    /// Does the deed under strace. Returns also what strace saw; no output if it never ended.
    pub(crate) fn traced(&self, options: &[&str]) -> (Option<Output>, String) {
        let log = self.path("strace.log");
        let mut command = self.command("strace");
        command
            .args(["-f", "-qq", "-o"])
            .arg(&log)
            .args(options)
            .arg(HAFT)
            .args(self.deed.command)
            .arg("--json");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = command.spawn().unwrap();
        let group = rustix::process::Pid::from_child(&child);
        let (tell, ended) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || tell.send(child.wait_with_output()));
        let output = ended.recv_timeout(PATIENCE).ok().map(Result::unwrap);
        if output.is_none() {
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        }
        waiting.join().unwrap().ok();
        (output, fs::read_to_string(log).unwrap_or_default())
    }

    /// Whether the files are as before the deed, as after it, or neither.
    pub(crate) fn found(&self) -> Found {
        let read = |name: &str| fs::read_to_string(self.path("live/ws").join(name)).ok();
        let is = |state: State| state.iter().all(|(name, content)| read(name).as_deref() == *content);
        let is_unformatted = self.deed.formatter.is_some() && is(self.deed.unformatted);
        match (is(self.deed.old), is(self.deed.new)) {
            (true, _) => Found::Old,
            (_, true) => Found::New,
            (false, false) if is_unformatted => Found::Unformatted,
            (false, false) => {
                let found: Vec<_> = self.deed.old.iter().map(|(name, _)| (*name, read(name))).collect();
                Found::Torn(format!("{found:?}"))
            }
        }
    }

    /// Whether each single file is old or new.
    pub(crate) fn is_whole(&self) -> bool {
        let read = |name: &str| fs::read_to_string(self.path("live/ws").join(name)).ok();
        let states = [self.deed.old, self.deed.new, self.deed.unformatted];
        self.deed.old.iter().all(|(name, _)| {
            let found = (*name, read(name));
            states
                .iter()
                .copied()
                .flatten()
                .any(|(name, content)| (*name, *content) == (found.0, found.1.as_deref()))
        })
    }

    /// Temporary files and empty directories that are still there.
    pub(crate) fn residue(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.path("live/ws")];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                if entry.file_name().to_string_lossy().contains(".haft-tmp-") {
                    found.push(entry.path());
                } else if entry.file_type().unwrap().is_dir() {
                    if fs::read_dir(entry.path()).unwrap().next().is_none() {
                        found.push(entry.path());
                    }
                    open.push(entry.path());
                }
            }
        }
        found
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path("live/ws")).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C.UTF-8");
        command.env("HAFT_TRUST", "1");
        command.env("HOME", self.path("live")).env("HAFT_HOME", self.path("live/haft"));
        command
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
