//! Language servers: what haft adds to a server's own answer, and to its findings.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Scratch;
use super::contest::{Contestant, compete};
use super::measure::percentile;
use super::settler::{Program, built};

const REQUESTS: usize = 301;
const CHANGES: usize = 101;
const TYPED: usize = 31;
/// The files whose servers say when they told, and what is special about each of them.
const CHANGED: [(&str, &str); 3] = [
    ("a.timed", "one that names versions"),
    ("a.at-once", "one that names none and tells at once"),
    ("a.later", "one that names none and reads on meanwhile"),
];
const TYPESCRIPT: &str = "typescript-language-server";
const SOURCE: &str = "int add(int a, int b) { return a + b; }\nint main(void) { return add(1, 2); }\n";

pub(super) fn run() -> Result<()> {
    let (program, kept) = Program::built()?;
    let server =
        built(&["build", "--release", "-p", "haft-cli", "--example", "timed_server"], "timed_server")?;
    let scratch = Scratch::within(&kept)?;
    let program = program.serving(&server);
    for (file, _) in CHANGED {
        fs::write(scratch.0.join(file), SOURCE)?;
    }
    fs::write(scratch.0.join("a.c"), SOURCE)?;
    println!("\nhover, median (p10–p90) of {REQUESTS} runs, milliseconds");
    println!("{:24}{:>22}{:>22}{:>12}", "", "haft, settled", "bare", "added");
    asked(&program, &scratch.0, "a.timed", &server)?;
    let is_clangd_there = Command::new("clangd").arg("--version").stdout(Stdio::null()).status().is_ok();
    if is_clangd_there {
        asked(&program, &scratch.0, "a.c", Path::new("clangd"))?;
    } else {
        println!("clangd is not there (apt-get install clangd)");
    }
    println!(
        "\nan edit ends so many milliseconds after the server told what it found, of {CHANGES} edits (aim 50)"
    );
    println!("{:44}{:>8}{:>8}{:>8}{:>8}", "", "median", "p10", "p90", "most");
    for (file, server) in CHANGED {
        changed(&program, &scratch.0, file, server)?;
    }
    match Command::new(TYPESCRIPT).arg("--version").stdout(Stdio::null()).status() {
        Ok(_) => without_versions(&program, &scratch.0),
        Err(_) => {
            println!("{TYPESCRIPT} is not there (npm install -g {TYPESCRIPT} typescript)");
            Ok(())
        }
    }
}

/// One question, asked through haft and asked bare.
fn asked(program: &Program, directory: &Path, file: &str, server: &Path) -> Result<()> {
    let mut settler = program.start(directory)?;
    let mut bare = Bare::start(&mut Command::new(server), directory, &directory.join(file), "c", SOURCE)?;
    let input = json!({"operation": "hover", "filePath": file, "line": 2, "character": 25});
    let contestants: [Contestant<'_>; 2] = [
        Box::new(|| {
            let settled = settler.settle("lsp", &input)?;
            ensure!(settled.completed, "{}", settled.text);
            Ok(settled.milliseconds)
        }),
        Box::new(|| bare.hover()),
    ];
    let [haft, bare] = compete(REQUESTS, contestants)?;
    let name = server.file_name().context("a program has a name")?.to_string_lossy();
    let (settled, alone) = (format!("{:.2}", haft.median), format!("{:.2}", bare.median));
    println!("{name:24}{settled:>22}{alone:>22}{:>12.2}", haft.median - bare.median);
    Ok(())
}

/// How long after the server told what it found an edit is settled.
fn changed(program: &Program, directory: &Path, file: &str, server: &str) -> Result<()> {
    let mut settler = program.start(directory)?;
    let mut after = Vec::new();
    for at in 0..=CHANGES {
        let (old, new) = (format!("int add{}", name(at)), format!("int add{}", name(at + 1)));
        let settled =
            settler.settle("edit", &json!({"filePath": file, "oldString": old, "newString": new}))?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos();
        let told = settled.text.split("told at ").nth(1).with_context(|| settled.text.clone())?;
        let told: u128 = told.split_whitespace().next().context("a time")?.parse()?;
        // The first one starts the server.
        if at > 0 {
            after.push((now - told) as f64 / 1e6);
        }
    }
    after.sort_by(f64::total_cmp);
    let most = after.last().context("there were edits")?;
    let [median, low, high] = [50, 10, 90].map(|rank| percentile(&after, rank));
    println!("{server:44}{median:>8.2}{low:>8.2}{high:>8.2}{most:>8.2}");
    Ok(())
}

/// How long an edit takes with a server that names no versions, and when that server tells by itself what it found.
fn without_versions(program: &Program, directory: &Path) -> Result<()> {
    let text = |at: usize| format!("export const word: string = {at};\n");
    let file = directory.join("a.ts");
    fs::write(directory.join("tsconfig.json"), "{}")?;
    fs::write(&file, text(0))?;
    let mut settler = program.start(directory)?;
    let mut bare =
        Bare::start(Command::new(TYPESCRIPT).arg("--stdio"), directory, &file, "typescript", &text(0))?;
    bare.published()?;
    let mut at = (0, 0);
    let contestants: [Contestant<'_>; 2] = [
        Box::new(|| {
            let (old, new) = (text(at.0), text(at.0 + 1));
            at.0 += 1;
            let settled =
                settler.settle("edit", &json!({"filePath": "a.ts", "oldString": old, "newString": new}))?;
            ensure!(settled.completed && !settled.text.contains("not known"), "{}", settled.text);
            Ok(settled.milliseconds)
        }),
        Box::new(|| {
            at.1 += 1;
            bare.change(at.1 + 1, &text(at.1))
        }),
    ];
    let [haft, bare] = compete(TYPED, contestants)?;
    println!(
        "{TYPESCRIPT}: an edit takes {:.1} ms with what it broke; the server tells by itself {:.1} ms after a change, of {TYPED} edits",
        haft.median, bare.median
    );
    Ok(())
}

fn name(at: usize) -> String {
    if at == 0 { String::new() } else { format!("_{at}") }
}

/// A server that is spoken to with nothing in between.
struct Bare {
    child: Child,
    says: ChildStdin,
    hears: BufReader<ChildStdout>,
    file: String,
}

impl Bare {
    fn start(
        command: &mut Command,
        directory: &Path,
        file: &Path,
        language: &str,
        text: &str,
    ) -> Result<Bare> {
        command.current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let says = child.stdin.take().context("it has no stdin")?;
        let hears = BufReader::new(child.stdout.take().context("it has no stdout")?);
        let uri = format!("file://{}", file.display());
        let mut bare = Bare { child, says, hears, file: uri.clone() };
        let capabilities = json!({"textDocument": {"publishDiagnostics": {}}});
        bare.ask("initialize", &json!({"processId": null, "rootUri": null, "capabilities": capabilities}))?;
        bare.say(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}))?;
        let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        let params = json!({"textDocument": document});
        bare.say(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params}))?;
        Ok(bare)
    }

    fn hover(&mut self) -> Result<f64> {
        let started = Instant::now();
        let params = json!({"textDocument": {"uri": self.file}, "position": {"line": 1, "character": 24}});
        self.ask("textDocument/hover", &params)?;
        Ok(started.elapsed().as_secs_f64() * 1e3)
    }

    /// Changes the file, and waits until the server tells what it found.
    fn change(&mut self, version: usize, text: &str) -> Result<f64> {
        let started = Instant::now();
        let document = json!({"uri": self.file, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.say(&json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}))?;
        self.published()?;
        Ok(started.elapsed().as_secs_f64() * 1e3)
    }

    fn published(&mut self) -> Result<()> {
        while self.hear()?["method"] != "textDocument/publishDiagnostics" {}
        Ok(())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<()> {
        self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))?;
        while self.hear()?["id"] != 1 {}
        Ok(())
    }

    fn say(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string();
        self.says.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
        Ok(())
    }

    fn hear(&mut self) -> Result<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            ensure!(self.hears.read_line(&mut line)? > 0, "the server ended");
            match line.trim_end().split_once(": ") {
                Some((_, value)) => length = value.parse()?,
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.hears.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait().map(drop)) {
            eprintln!("the server could not be ended: {error}");
        }
    }
}
