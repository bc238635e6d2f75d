//! A place to run haft in: a project, a home and a store that go away, and a clean environment.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// The user that tests of permissions run as when the tests themselves run as root.
const NOBODY: u32 = 65534;

pub(crate) struct Place {
    root: tempfile::TempDir,
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        let root = tempfile::tempdir().unwrap();
        for name in ["ws", "home", "outside"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        Place { root }
    }

    /// The root of everything, with every link resolved.
    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn ws(&self) -> PathBuf {
        self.root().join("ws")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.root().join("outside")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home().join("haft/data")
    }

    /// Writes a file below the project.
    pub(crate) fn file(&self, path: &str, content: &str) -> PathBuf {
        let path = self.ws().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.ws().join(path)).unwrap()
    }

    /// The person's own configuration.
    pub(crate) fn global_config(&self, content: &str) {
        let dir = self.home().join("haft/config");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("haft.jsonc"), content).unwrap();
    }

    /// haft, ready to be run with arguments.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(HAFT);
        command.args(args).current_dir(self.ws()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home()).env("HAFT_HOME", self.home().join("haft")).env("LANG", "C.UTF-8");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // A haft that refuses early does not read the rest.
        let feeder = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        ran(output)
    }

    /// Runs as somebody who has no rights beyond their own.
    pub(crate) fn run_unprivileged(&self, args: &[&str]) -> Ran {
        let binary = self.root().join("haft-copy");
        if !is_root() {
            return self.run(args);
        }
        std::fs::copy(HAFT, &binary).unwrap();
        chown(&self.root());
        let mut command = Command::new(&binary);
        let plain = self.command(args);
        command.args(args).current_dir(self.ws()).env_clear().stdin(Stdio::null());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.uid(NOBODY).gid(NOBODY);
        // A test beside this one may have forked while the copy was open for writing; that passes.
        loop {
            match command.output() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                output => return ran(output.unwrap()),
            }
        }
    }

    /// The calls on record, oldest first.
    pub(crate) fn log(&self) -> Vec<Value> {
        let ran = self.run(&["log", "--json", "-n", "10000"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Ran {
    /// The JSON document that was printed.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.out, self.err))
    }
}

pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn chown(path: &Path) {
    let status =
        Command::new("chown").arg("-R").arg(format!("{NOBODY}:{NOBODY}")).arg(path).status().unwrap();
    assert!(status.success());
}
