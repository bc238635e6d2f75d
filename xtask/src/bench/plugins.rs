//! Tools in TypeScript: a cold call against opencode and bun, a warm one, a start with many files, and memory.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Scratch;
use super::contest::{Contestant, Times, compete};
use super::sessions::agents::{Agent, Agents};
use super::settler::{Program, built};
use crate::cargo::run as run_command;

const COLD: usize = 11;
const WARM: usize = 2001;
const STARTS: usize = 41;
const FILES: usize = 50;
/// So many plugins more than one.
const MORE: usize = 8;
const BUN: [&str; 2] = ["bun@1.3.2", "zod@4.1.8"];
/// How long a call is waited for that says when it has begun.
const PATIENCE: Duration = Duration::from_secs(20);

/// The tool that is called: arguments by a schema, and a result that shows that they were decoded.
const TOOL: &str = r#"import { tool } from "@opencode-ai/plugin"

interface Pot { name: string; count: number }

export default tool({
  description: "Counts pots",
  args: { name: tool.schema.string().describe("Of whom"), count: tool.schema.number().int().default(3) },
  async execute(args: Pot): Promise<string> { return `${args.name} has ${args.count} pots` },
})
"#;
/// The same as a script.
const SCRIPT: &str = r#"import { z } from "zod"

interface Pot { name: string; count: number }

const schema = z.object({ name: z.string().describe("Of whom"), count: z.number().int().default(3) })
const run = async (args: Pot): Promise<string> => `${args.name} has ${args.count} pots`
console.log(await run(schema.parse(JSON.parse(process.argv[2]))))
"#;
/// A tool that says that it is there, and stays.
const STAYS: &str = r#"import { tool } from "@opencode-ai/plugin"
import { writeFileSync } from "node:fs"

export default tool({
  description: "Stays", args: { name: tool.schema.string() },
  async execute(args) { writeFileSync(args.name, ""); await new Promise((done) => setTimeout(done, 60_000)); return "" },
})
"#;
/// With everything in it: opencode leaves it to the model to know defaults.
const INPUT: &str = r#"{"name":"Ada","count":3}"#;
const ANSWER: &str = "Ada has 3 pots";

pub(super) fn run() -> Result<()> {
    let haft = built(&["build", "--release", "-p", "haft-cli", "--bins"], "haft")?;
    let (program, kept) = Program::built()?;
    // Away from what was built: haft does not use programs beside it that commands of the project could change.
    let scratch = Scratch::new()?;
    let bench = Bench { haft: installed(&haft, &scratch.0)?, root: scratch.0.clone() };
    cold(&bench, &kept)?;
    warm(&bench, &program)?;
    starts(&bench)?;
    memory(&bench)
}

/// A copy of what was built, as an installation makes one: what a linker has just written lies in the page cache in small
/// pieces, and takes two milliseconds longer to start than any program that people have installed, peers among them.
fn installed(built: &Path, root: &Path) -> Result<PathBuf> {
    let directory = root.join("bin");
    fs::create_dir(&directory)?;
    for name in ["haft", "haft-helper", "haft-host"] {
        let copy = directory.join(name);
        fs::copy(built.with_file_name(name), &copy).with_context(|| format!("{name} was not built"))?;
        // What is not on the disk yet would count as memory that its processes have written to.
        fs::File::open(&copy)?.sync_all()?;
    }
    Ok(directory.join("haft"))
}

struct Bench {
    haft: PathBuf,
    root: PathBuf,
}

impl Bench {
    /// A project with these tools.
    fn project(&self, name: &str, tools: &[(String, &str)]) -> Result<PathBuf> {
        let directory = self.root.join(name);
        let folder = directory.join(".opencode/tool");
        fs::create_dir_all(&folder)?;
        for (file, text) in tools {
            fs::write(folder.join(file), text)?;
        }
        Ok(directory)
    }

    fn haft(&self, directory: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.haft);
        command.args(args).current_dir(directory).env_remove("LD_LIBRARY_PATH");
        command.env("HAFT_HOME", self.root.join("home")).env("HAFT_TRUST", "1");
        command
    }
}

/// Runs a command to its end, sees that it said the right thing, and tells the milliseconds it took.
fn timed(command: &mut Command, answer: &str) -> Result<f64> {
    let started = Instant::now();
    let output = command.output()?;
    let took = started.elapsed().as_secs_f64() * 1e3;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success() && said.contains(answer),
        "{command:?} said {said:?} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(took)
}

/// One call in a process that does not exist yet. What haft and opencode know of the file they know already.
fn cold(bench: &Bench, kept: &Path) -> Result<()> {
    let pots = [("pots.ts".to_owned(), TOOL)];
    let (ours, theirs) = (bench.project("haft", &pots)?, bench.project("opencode", &pots)?);
    let agents = Agents::find(bench.haft.clone(), kept, &bench.root)?;
    let bun = bun(kept)?;
    let script = kept.join("bun/script.ts");
    fs::write(&script, SCRIPT)?;
    let contestants: [Contestant<'_>; 3] = [
        Box::new(|| timed(&mut bench.haft(&ours, &["call", "pots", INPUT]), ANSWER)),
        Box::new(|| {
            let mut command = agents.alone(Agent::OpenCode)?;
            command.args(["debug", "agent", "build", "--tool", "pots", "--params", INPUT]);
            timed(command.current_dir(&theirs).stdin(Stdio::null()), ANSWER)
        }),
        Box::new(|| timed(Command::new(&bun).arg("run").arg(&script).arg(INPUT), ANSWER)),
    ];
    let [haft, opencode, bun] = compete(COLD, contestants)?;
    println!("\na cold call of a tool in TypeScript, median (p10–p90) of {COLD} runs, milliseconds");
    let row = |name: &str, times: &Times, aim: &str| {
        println!("{name:32}{:>26}{:>8.1}x{aim:>14}", times.to_string(), times.median / haft.median);
    };
    row("haft call", &haft, "");
    row("opencode debug agent --tool", &opencode, "aim 20x");
    row("bun run of a script, with zod", &bun, "aim 2x");
    Ok(())
}

/// Bun with zod, installed beside what was built if they are not there.
fn bun(kept: &Path) -> Result<PathBuf> {
    let directory = kept.join("bun");
    let program = directory.join("node_modules/.bin/bun");
    if !program.exists() {
        fs::create_dir_all(&directory)?;
        let mut install = Command::new("npm");
        install
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(&directory)
            .args(BUN);
        run_command(&mut install).context("bun could not be installed; npm is needed")?;
    }
    Ok(program)
}

/// A call of a tool in a host that is there, against one of a built-in tool that does nothing, both settled.
fn warm(bench: &Bench, program: &Program) -> Result<()> {
    let directory = bench.project("warm", &[("pots.ts".to_owned(), TOOL)])?;
    let settler = RefCell::new(program.with_plugins().start(&directory)?);
    let settle = |tool: &str, input: &Value, answer: &str| {
        let settled = settler.borrow_mut().settle(tool, input)?;
        ensure!(settled.completed && settled.text.contains(answer), "{}", settled.text);
        Ok(settled.milliseconds)
    };
    let pots: Value = serde_json::from_str(INPUT)?;
    let invalid = json!({ "tool": "pots", "error": "none" });
    let contestants: [Contestant<'_>; 2] =
        [Box::new(|| settle("pots", &pots, ANSWER)), Box::new(|| settle("invalid", &invalid, "none"))];
    let [ours, builtin] = compete(WARM, contestants)?;
    let (ours, builtin) = (ours.median * 1e3, builtin.median * 1e3);
    println!(
        "\na warm call of it, settled: {ours:.0} µs, a built-in tool that does nothing {builtin:.0} µs: {:.0} µs more (aim 200), of {WARM} calls",
        ours - builtin
    );
    Ok(())
}

/// What many files cost that are not called, once it is known what they offer.
fn starts(bench: &Bench) -> Result<()> {
    let none = bench.project("none", &[])?;
    let tools: Vec<(String, &str)> = (0..FILES).map(|at| (format!("pots{at}.ts"), TOOL)).collect();
    let many = bench.project("many", &tools)?;
    let contestants: [Contestant<'_>; 2] = [
        Box::new(|| timed(&mut bench.haft(&none, &["tools", "list"]), "read")),
        Box::new(|| timed(&mut bench.haft(&many, &["tools", "list"]), "pots49")),
    ];
    let [none, many] = compete(STARTS, contestants)?;
    println!(
        "\n`haft tools list`: {none} ms without tools of others, {many} ms with {FILES} files: {:.1} ms more (aim 10)",
        many.median - none.median
    );
    Ok(())
}

/// What one more plugin adds to the memory of a machine on which others are loaded already, with all of its processes.
/// Pages of the program that they have in common count once.
fn memory(bench: &Bench) -> Result<()> {
    let (one, many) = (held(bench, 1)?, held(bench, 1 + MORE)?);
    println!(
        "\nmemory that one more loaded plugin takes: {:.1} MB, with all its processes (aim 3); of its engine alone, private and written to: {:.1} MB",
        (many.shared - one.shared) as f64 / 1024.0 / MORE as f64,
        one.written as f64 / 1024.0
    );
    Ok(())
}

/// What processes hold, in KiB.
struct Held {
    /// Of all of them, each page by the part that a process has in it.
    shared: u64,
    /// By the one that has most, for itself.
    written: u64,
}

/// What the processes behind so many tools that stay hold, haft apart.
fn held(bench: &Bench, tools: usize) -> Result<Held> {
    let names: Vec<String> = (0..tools).map(|at| format!("stays{at}")).collect();
    let files: Vec<(String, &str)> = names.iter().map(|name| (format!("{name}.ts"), STAYS)).collect();
    let directory = bench.project(&format!("memory{tools}"), &files)?;
    let call = |name: &String| json!({ "tool": name, "parameters": { "name": name } });
    let calls = json!({ "tool_calls": names.iter().map(call).collect::<Vec<_>>() }).to_string();
    let mut haft = bench.haft(&directory, &["call", "batch", &calls]).stdout(Stdio::null()).spawn()?;
    let begun = Instant::now();
    while !names.iter().all(|name| directory.join(name).exists()) {
        ensure!(begun.elapsed() < PATIENCE, "the tools do not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    let below = descendants(haft.id())?;
    let each: Vec<(u64, u64)> = below.iter().map(|id| memory_of(*id)).collect::<Result<_>>()?;
    haft.kill()?;
    haft.wait()?;
    Ok(Held {
        shared: each.iter().map(|(shared, _)| shared).sum(),
        written: each.iter().map(|(_, written)| *written).max().unwrap_or_default(),
    })
}

fn descendants(of: u32) -> Result<Vec<u32>> {
    let mut found = vec![of];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        for task in fs::read_dir(format!("/proc/{parent}/task"))?.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
        at += 1;
    }
    Ok(found.split_off(1))
}

/// The part that a process has in its pages, and what it alone has written to, in KiB.
fn memory_of(process: u32) -> Result<(u64, u64)> {
    let told = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let of = |key: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Ok((of("Pss:").unwrap_or(0), of("Private_Dirty:").unwrap_or(0)))
}
