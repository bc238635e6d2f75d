//! A host in a process of its own, and a folder with the files it serves.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Only so that a broken host fails a test and does not hang it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Host {
    folder: tempfile::TempDir,
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    orders: u64,
    /// What came that answered nothing: logs, metadata.
    pub(crate) said: Vec<Value>,
    /// What the host asks is answered by this.
    answers: Box<dyn Fn(&Value) -> Value>,
}

impl Host {
    /// Starts a host next to these files: `(path, text)`.
    pub(crate) fn with(files: &[(&str, &str)]) -> Host {
        Host::limited(files, 256)
    }

    pub(crate) fn limited(files: &[(&str, &str)], memory_mib: usize) -> Host {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut process = Command::new(env!("CARGO_BIN_EXE_haft-plugin-host"))
            .current_dir(folder.path())
            .env("HAFT_PLUGIN_MEMORY_MIB", memory_mib.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"));
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let answers = Box::new(|ask: &Value| json!({ "error": { "name": "Error", "message": ask["op"] } }));
        Host { folder, process, input, lines, orders: 0, said: Vec::new(), answers }
    }

    /// A host that has loaded `tool.ts` with this text as a tool.
    pub(crate) fn tool(text: &str) -> Host {
        let mut host = Host::with(&[("tool.ts", text)]);
        host.loaded("tool.ts");
        host
    }

    pub(crate) fn answering(mut self, answers: impl Fn(&Value) -> Value + 'static) -> Host {
        self.answers = Box::new(answers);
        self
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        std::fs::canonicalize(self.folder.path()).unwrap().join(file)
    }

    pub(crate) fn text(&self, file: &str) -> String {
        self.path(file).to_str().unwrap().to_owned()
    }

    pub(crate) fn load(&mut self, file: &str, kind: &str) -> Value {
        let order = json!({
            "do": "load", "file": self.text(file), "as": kind, "options": { "level": 3 },
            "input": { "directory": self.text(""), "worktree": "/w", "project": { "id": "p" }, "serverUrl": "http://localhost:4096" },
        });
        self.order(order)
    }

    /// Loads a file as a tool and expects that to work.
    pub(crate) fn loaded(&mut self, file: &str) -> Value {
        let answer = self.load(file, "tool");
        assert!(answer.get("ok").is_some(), "{answer}");
        answer["ok"].clone()
    }

    pub(crate) fn call(&mut self, args: Value) -> Value {
        self.call_named("default", args)
    }

    pub(crate) fn call_named(&mut self, tool: &str, args: Value) -> Value {
        let id = self.begin(tool, args);
        self.answer_to(id)
    }

    /// The output of a call that is expected to work.
    pub(crate) fn output(&mut self, args: Value) -> String {
        let answer = self.call(args);
        answer["ok"]["output"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Sends a call and does not wait.
    pub(crate) fn begin(&mut self, tool: &str, args: Value) -> u64 {
        let context = json!({
            "sessionID": "ses_1", "messageID": "msg_1", "agent": "build", "callID": "cal_1",
            "directory": self.text(""), "worktree": "/w", "extra": { "a": 1 },
        });
        self.send_order(json!({ "do": "call", "tool": tool, "args": args, "context": context }))
    }

    pub(crate) fn hook(&mut self, name: &str, input: Value, output: Value) -> Value {
        self.order(json!({ "do": "hook", "name": name, "input": input, "output": output }))
    }

    pub(crate) fn order(&mut self, order: Value) -> Value {
        let id = self.send_order(order);
        self.answer_to(id)
    }

    pub(crate) fn send_order(&mut self, mut order: Value) -> u64 {
        self.orders += 1;
        order["id"] = self.orders.into();
        self.send(&order);
        self.orders
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn abort(&mut self, id: u64) {
        self.send(&json!({ "do": "abort", "id": id }));
    }

    /// Waits for the answer to an order; answers what is asked meanwhile.
    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        self.until(|line| line["id"] == id)
            .unwrap_or_else(|| panic!("the host ended without an answer to {id}"))
    }

    /// Waits for something said.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).ok()?;
            if wanted(&line) {
                return Some(line);
            }
            if let Some(ask) = line["ask"].as_u64() {
                let mut answer = (self.answers)(&line);
                answer["answer"] = ask.into();
                self.send(&answer);
                self.said.push(line);
            } else {
                self.said.push(line);
            }
        }
    }

    pub(crate) fn logs(&self) -> String {
        let logs = self.said.iter().filter(|line| line["say"] == "log");
        logs.map(|line| line["text"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    }

    /// Closes its input, and waits for its end.
    pub(crate) fn close(&mut self) {
        drop(self.input.take());
        self.process.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A tool file with this body of `execute(args, ctx)`.
pub(crate) fn execute(body: &str) -> String {
    format!(
        "export default {{ description: \"t\", args: {{}}, async execute(args: any, ctx: any) {{ {body} }} }}"
    )
}
