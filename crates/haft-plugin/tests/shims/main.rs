//! The checks of our JavaScript, run in the real engine. The same files run on Node (`node run.mjs`), which proves
//! that each states Node's behaviour, so a failure here is ours. `checks/net.mjs` needs a web server and runs by
//! `node run.mjs --engine` only.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Host {
    folder: tempfile::TempDir,
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Host {
    /// A host that serves one file of checks as two tools: `names`, and `run`, which runs the check at an index.
    fn serving(checks: &str) -> Host {
        let folder = tempfile::tempdir().unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shims/checks").join(checks);
        let tool = format!(
            r#"import list from {file:?};
export const names = {{ description: "", args: {{}}, execute: async () => JSON.stringify(list.map(([name]) => name)) }};
export const run = {{ description: "", args: {{}}, async execute({{ index }}) {{
  try {{ await list[index][1](); return "ok"; }} catch (error) {{ return `${{error?.message ?? error}} ${{error?.stack ?? ""}}`; }}
}} }};"#
        );
        std::fs::write(folder.path().join("tool.mjs"), tool).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_haft-plugin-host"))
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut host = Host { folder, process, input, output };
        let place = host.folder.path().to_str().unwrap().to_owned();
        host.order(&json!({
            "do": "load", "file": format!("{place}/tool.mjs"), "as": "tool",
            "input": { "directory": place, "worktree": place, "project": { "id": "p" }, "serverUrl": "http://localhost:1" },
        }));
        host
    }

    fn call(&mut self, tool: &str, args: &Value) -> String {
        let place = self.folder.path().to_str().unwrap().to_owned();
        let context = json!({
            "sessionID": "s", "messageID": "m", "agent": "a", "callID": "c", "directory": place, "worktree": place,
            "extra": {},
        });
        let answer = self.order(&json!({ "do": "call", "tool": tool, "args": args, "context": context }));
        answer["output"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Sends one order and waits for its answer; what the host logs meanwhile is of no interest here.
    fn order(&mut self, order: &Value) -> Value {
        let mut order = order.clone();
        order["id"] = json!(1);
        writeln!(self.input, "{order}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the host ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == 1 {
                assert!(answer.get("ok").is_some(), "{answer}");
                return answer["ok"].clone();
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn all_hold(checks: &str) {
    let mut host = Host::serving(checks);
    let names: Vec<String> = serde_json::from_str(&host.call("names", &json!({}))).unwrap();
    let mut failed = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let said = host.call("run", &json!({ "index": index }));
        if said != "ok" {
            failed.push(format!("{name}: {said}"));
        }
    }
    assert!(failed.is_empty(), "{} of {} fail:\n{}", failed.len(), names.len(), failed.join("\n"));
}

#[test]
fn buffers() {
    all_hold("buffer.mjs");
}

#[test]
fn bun() {
    all_hold("bun.mjs");
}

#[test]
fn bun_quoting() {
    all_hold("bun-quoting.mjs");
}

#[test]
fn events() {
    all_hold("events.mjs");
}

#[test]
fn files() {
    all_hold("fs.mjs");
}

#[test]
fn languages() {
    all_hold("intl.mjs");
}

#[test]
fn small_modules() {
    all_hold("node.mjs");
}

#[test]
fn paths() {
    all_hold("path.mjs");
}

#[test]
fn processes() {
    all_hold("process.mjs");
}

#[test]
fn streams() {
    all_hold("stream.mjs");
}

#[test]
fn utilities() {
    all_hold("util.mjs");
}

#[test]
fn web() {
    all_hold("web.mjs");
}
