//! Pages: HTML to Markdown against turndown on node, in the same run.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Scratch;
use super::contest::{Contestant, compete};
use super::measure::peak_kib;
use super::settler::built;
use crate::cargo::{root, run as run_command};

const RUNS: usize = 15;
const PAGE_BYTES: usize = 1 << 20;
const TURNDOWN: &str = "turndown@7.2.5";

pub(super) fn run() -> Result<()> {
    let example =
        built(&["build", "--release", "-p", "haft-tools", "--example", "bench_page"], "bench_page")?;
    let target = example.ancestors().nth(3).context("an example lies in the target directory")?;
    let kept = target.join("bench");
    fs::create_dir_all(&kept)?;
    let script = turndown(&kept)?;
    let scratch = Scratch::within(&kept)?;
    let page = scratch.0.join("page.html");
    fs::write(&page, made_up_page())?;

    let haft = |mode: &[&str]| command(&example, &[], &page, mode);
    let node = |mode: &[&str]| command(Path::new("node"), &[&script], &page, mode);
    let (mut ours, mut theirs) = (Converter::start(haft(&[]))?, Converter::start(node(&[]))?);
    let contestants: [Contestant<'_>; 2] = [Box::new(|| ours.convert()), Box::new(|| theirs.convert())];
    let [haft_times, node_times] = compete(RUNS, contestants)?;
    let size = fs::metadata(&page)?.len();
    let memory = |with: Command, without: Command| -> Result<f64> {
        let more = peak_kib(&with, &scratch.0)?.saturating_sub(peak_kib(&without, &scratch.0)?);
        Ok(more as f64 * 1024.0 / size as f64)
    };
    let ours = memory(haft(&["once"]), haft(&["none"]))?;
    let theirs = memory(node(&["once"]), node(&["none"]))?;
    println!("\na page of {size} bytes to Markdown, median (p10–p90) of {RUNS} runs, milliseconds");
    println!(
        "memory is what a process holds more at its peak than one that only reads the page, in sizes of the page"
    );
    println!("{:24}{:>22}{:>22}{:>8}", "", "haft", TURNDOWN, "ratio");
    let ratio = node_times.median / haft_times.median;
    println!("{:24}{:>22}{:>22}{ratio:>7.1}x", "time", haft_times.to_string(), node_times.to_string());
    println!("{:24}{ours:>22.1}{theirs:>22.1}", "memory");
    Ok(())
}

fn command(program: &Path, before: &[&Path], page: &Path, mode: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(before).arg(page).args(mode);
    command
}

/// Turndown with its script, installed beside what was built if it is not there.
fn turndown(kept: &Path) -> Result<PathBuf> {
    let directory = kept.join("turndown");
    fs::create_dir_all(&directory)?;
    if !directory.join("node_modules/turndown").exists() {
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
        install.arg(&directory).arg(TURNDOWN);
        run_command(&mut install).context("turndown could not be installed; node and npm are needed")?;
    }
    let script = directory.join("turndown.js");
    fs::copy(root().join("xtask/src/bench/turndown.js"), &script)?;
    Ok(script)
}

/// A process that converts the page each time it is told to.
struct Converter {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Converter {
    fn start(mut command: Command) -> Result<Converter> {
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("could not start it")?;
        let to = process.stdin.take().context("it has no input")?;
        let from = BufReader::new(process.stdout.take().context("it has no output")?);
        Ok(Converter { process, to, from })
    }

    fn convert(&mut self) -> Result<f64> {
        self.to.write_all(b"\n")?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        let (time, length) = line.trim().split_once(' ').context("it gave no figures")?;
        ensure!(length.parse::<usize>()? > PAGE_BYTES / 10, "it made only {length} bytes of the page");
        Ok(time.parse()?)
    }
}

impl Drop for Converter {
    fn drop(&mut self) {
        // It ends with the benchmark, whether it has ended already or not.
        let _ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// A page as a generator of documentation would write it: chapters with text, links, code, lists and tables.
fn made_up_page() -> String {
    let mut page =
        "<!doctype html><html><head><title>Kilns</title><style>p { margin: 0 }</style></head><body>\
                    <nav><ul><li><a href=\"#a\">Start</a></li></ul></nav><main>"
            .to_owned();
    let mut chapter = 0;
    while page.len() < PAGE_BYTES {
        chapter += 1;
        page.push_str(&format!(
            "<section id=\"c{chapter}\"><h2 class=\"anchor\">Chapter {chapter}<a class=\"headerlink\" href=\"#c{chapter}\">¶</a></h2>\n\
             <p>Each pot has <em>one</em> owner; see <a href=\"/docs/{chapter}.html\" title=\"More\">chapter <code>n{chapter}</code></a> \
             for what happens to pots that were given away &amp; came back, which is <strong>rarely</strong> what was meant.</p>\n\
             <div class=\"highlight-rust\"><pre><code class=\"language-rust\"><span class=\"kw\">let</span> pot = Pot::<span \
             class=\"fn\">new</span>({chapter});\n<span class=\"kw\">let</span> theirs = give(pot)?;</code></pre></div>\n\
             <ul><li>It cannot be <b>used</b>,</li><li>nor given again,<ol><li>by hand</li><li>or by post</li></ol></li></ul>\n\
             <table><thead><tr><th>Way</th><th>Cost</th></tr></thead><tbody><tr><td><code>give</code></td><td>none</td></tr>\
             <tr><td>copy</td><td>a new pot, fired at {chapter} degrees</td></tr></tbody></table>\n\
             <blockquote><p>Let it cool <i>slowly</i>.</p></blockquote><script>track({chapter})</script></section>\n"
        ));
    }
    page.push_str("</main></body></html>");
    page
}
