//! A host in Node or Bun, a folder with the files it serves, and one of our own engine for its TypeScript.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The runtimes of this machine; that Bun is not among them is said.
pub(crate) fn runtimes() -> Vec<PathBuf> {
    let found = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    let node = found("node").expect("these tests need node on the PATH: install Node 20 or newer");
    let bun = found("bun");
    if bun.is_none() {
        eprintln!("SKIPPED for Bun, which is not on the PATH: only Node is driven");
    }
    [Some(node), bun].into_iter().flatten().collect()
}

/// A process that is spoken to in lines.
pub(crate) struct Talk {
    process: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    fn start(command: &mut Command) -> Talk {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Talk { process, input, lines }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn next(&mut self) -> Option<Value> {
        let line = self.lines.next()?.unwrap();
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}")))
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) struct Host {
    folder: tempfile::TempDir,
    talk: Talk,
    stripper: Option<Talk>,
    orders: u64,
    /// What came that answered nothing: logs, metadata, questions.
    pub(crate) said: Vec<Value>,
    answers: Box<dyn Fn(&Value) -> Value>,
}

impl Host {
    /// Starts a host next to these files: `(path, text)`.
    pub(crate) fn with(runtime: &Path, files: &[(&str, &str)]) -> Host {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let options: &[&str] =
            if runtime.ends_with("bun") { &["--no-install"] } else { &["--input-type=module"] };
        let (program, args) = haft_plugin::host_command(runtime, options);
        let talk = Talk::start(Command::new(program).args(args).current_dir(folder.path()));
        let answers = Box::new(|ask: &Value| json!({ "error": { "name": "Error", "message": ask["op"] } }));
        Host { folder, talk, stripper: None, orders: 0, said: Vec::new(), answers }
    }

    /// A host that has loaded `tool.ts` with this text as a tool.
    pub(crate) fn tool(runtime: &Path, text: &str) -> Host {
        let mut host = Host::with(runtime, &[("tool.ts", text)]);
        let answer = host.load("tool.ts", "tool");
        assert!(answer.get("ok").is_some(), "{answer}");
        host
    }

    pub(crate) fn answering(mut self, answers: impl Fn(&Value) -> Value + 'static) -> Host {
        self.answers = Box::new(answers);
        self
    }

    pub(crate) fn text(&self, file: &str) -> String {
        let folder = std::fs::canonicalize(self.folder.path()).unwrap();
        folder.join(file).to_str().unwrap().to_owned()
    }

    pub(crate) fn load(&mut self, file: &str, kind: &str) -> Value {
        let input = json!({ "directory": self.text(""), "worktree": "/w", "project": { "id": "p" } });
        let file = self.text(file);
        self.order(
            json!({ "do": "load", "file": file, "as": kind, "options": { "level": 3 }, "input": input }),
        )
    }

    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Value {
        let id = self.begin(tool, args);
        self.answer_to(id)
    }

    /// The output of a call that is expected to work.
    pub(crate) fn output(&mut self, args: Value) -> String {
        let answer = self.call("default", args);
        answer["ok"]["output"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Sends a call and does not wait.
    pub(crate) fn begin(&mut self, tool: &str, args: Value) -> u64 {
        let context = json!({ "sessionID": "ses_1", "callID": "cal_1", "directory": self.text("") });
        self.send_order(json!({ "do": "call", "tool": tool, "args": args, "context": context }))
    }

    pub(crate) fn hook(&mut self, name: &str, input: Value, output: Value) -> Value {
        self.order(json!({ "do": "hook", "name": name, "input": input, "output": output }))
    }

    pub(crate) fn order(&mut self, order: Value) -> Value {
        let id = self.send_order(order);
        self.answer_to(id)
    }

    fn send_order(&mut self, mut order: Value) -> u64 {
        self.orders += 1;
        order["id"] = self.orders.into();
        self.talk.send(&order);
        self.orders
    }

    pub(crate) fn abort(&mut self, id: u64) {
        self.talk.send(&json!({ "do": "abort", "id": id }));
    }

    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        self.until(|line| line["id"] == id)
    }

    /// Waits for something said; answers what is asked meanwhile.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.talk.next().expect("the host ended without an answer");
            if wanted(&line) {
                return line;
            }
            if line.get("ask").is_some() {
                let mut answer = self.answered(&line);
                answer["answer"] = line["ask"].clone();
                self.talk.send(&answer);
            }
            self.said.push(line);
        }
    }

    /// Answers what haft answers by itself, as it does, and everything else as the test wants.
    fn answered(&mut self, ask: &Value) -> Value {
        match ask["op"].as_str() {
            Some("module") => {
                json!({ "ok": haft_plugin::own_modules(ask["with"]["name"].as_str().unwrap()) })
            }
            Some("strip") => {
                let start = || Talk::start(&mut Command::new(env!("CARGO_BIN_EXE_haft-plugin-host")));
                let stripper = self.stripper.get_or_insert_with(start);
                let mut order = ask["with"].clone();
                order["do"] = "strip".into();
                order["id"] = 1.into();
                stripper.send(&order);
                json!({ "ok": stripper.next().unwrap()["ok"] })
            }
            _ => (self.answers)(ask),
        }
    }

    pub(crate) fn logs(&self) -> String {
        let logs = self.said.iter().filter(|line| line["say"] == "log");
        logs.map(|line| line["text"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    }

    /// Closes its input, and waits for its end.
    pub(crate) fn close(&mut self) {
        drop(self.talk.input.take());
        self.talk.process.wait().unwrap();
    }
}

/// A tool file with this body of `execute(args, ctx)`.
pub(crate) fn execute(body: &str) -> String {
    format!(
        "export default {{ description: \"t\", args: {{}}, async execute(args: any, ctx: any) {{ {body} }} }}"
    )
}
