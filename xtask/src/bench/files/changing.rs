//! `read` of a page far down in a large file against `sed`, and `edit` against the same writing done bare.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::Programs;
use super::searching::timed;
use crate::bench::contest::{Contestant, compete};
use crate::bench::disk;
use crate::bench::settler::Program;

const RUNS: usize = 9;
const EDITS: usize = 31;
const MISSES: usize = 5;
const EDITED_BYTES: usize = 1 << 20;
const LINE: &str = "    let value = self.parse(token)?; // as any other line\n";

/// Lines 1,000,000 to 1,000,100 of the large file.
pub(super) fn read(programs: &Programs, large: &Path) -> Result<()> {
    let path = large.to_str().context("the target directory is not UTF-8")?;
    let directory = large.parent().context("a file lies in a directory")?;
    let input = json!({"filePath": path, "offset": 1_000_000, "limit": 101});
    println!(
        "\nreading lines 1,000,000 to 1,000,100 of 1 GiB, median (p10–p90) of {RUNS} runs, milliseconds"
    );
    println!("{:24}{:>22}{:>22}{:>8}", "", "haft, settled", "sed -n", "ratio");
    let evicted = evict(large);
    if let Err(error) = &evicted {
        println!("cold: NOT MEASURED, the page cache keeps the file: {error:#}");
    }
    for (what, cold) in [("warm", false), ("cold", true)] {
        if cold && evicted.is_err() {
            continue;
        }
        let prepare = || if cold { evict(large) } else { Ok(()) };
        let mut settler = programs.settler.start(directory)?;
        let mut sed = Command::new("sed");
        sed.args(["-n", "1000000,1000100p;1000100q", path]);
        let [haft, sed] = compete(
            RUNS,
            [
                Box::new(|| {
                    prepare()?;
                    let settled = settler.settle("read", &input)?;
                    ensure!(settled.completed && settled.text.contains("1000100: "), "{}", settled.text);
                    Ok(settled.milliseconds)
                }),
                Box::new(|| {
                    prepare()?;
                    timed(&mut sed)
                }),
            ],
        )?;
        println!("{what:24}{:>22}{:>22}{:>8.2}", haft.to_string(), sed.to_string(), haft.median / sed.median);
    }
    Ok(())
}

/// Takes a file out of the page cache, and looks whether that worked.
fn evict(file: &Path) -> Result<()> {
    let mut dd = Command::new("dd");
    let dd = dd.arg(format!("if={}", file.display())).args(["iflag=nocache", "count=0", "status=none"]);
    ensure!(dd.status()?.success(), "dd could not do it");
    let cached =
        Command::new("fincore").args(["--bytes", "--noheadings", "--output=res"]).arg(file).output()?;
    let cached = String::from_utf8(cached.stdout)?.trim().parse::<u64>().context("fincore gave no number")?;
    // The kernel keeps a few large pages that it has not yet sorted in.
    ensure!(cached < 16 << 20, "{cached} bytes of it are still there");
    Ok(())
}

/// An exact match in a file of one mebibyte, with everything recorded on disk.
pub(super) fn edit(program: &Program, scratch: &Path) -> Result<()> {
    let directory = scratch.join("edited");
    fs::create_dir_all(&directory)?;
    let bare = directory.join("bare.rs");
    let place = |number: usize| format!("fn place_{number:08}() {{}}");
    let content = |number: usize| {
        let half = LINE.repeat(EDITED_BYTES / LINE.len() / 2);
        format!("{half}{}\n{half}", place(number))
    };
    // No content comes again: what was kept before is not kept twice, and would cost less.
    let edits = |file: PathBuf| -> Result<_> {
        fs::write(&file, content(0))?;
        let mut number = 0;
        Ok(move || {
            number += 1;
            json!({"filePath": file, "oldString": place(number - 1), "newString": place(number)})
        })
    };
    let counted = edits(directory.join("counted.rs"))?;
    let work = disk::counted(program, &scratch.join("counted"), &directory, "edit", counted)?;
    println!("\nediting 1 MiB, median (p10–p90) of {EDITS} runs, milliseconds");
    println!("one edit writes {work}; the bare one as much");
    let mut settler = program.storing(&scratch.join("kept")).start(&directory)?;
    let mut next = edits(directory.join("file.rs"))?;
    let mut written = 0;
    let contestants: [Contestant<'_>; 2] = [
        Box::new(|| {
            let settled = settler.settle("edit", &next())?;
            ensure!(settled.completed, "{}", settled.text);
            Ok(settled.milliseconds)
        }),
        Box::new(|| {
            let text = content(written);
            written += 1;
            let started = Instant::now();
            disk::replace(&bare, text.as_bytes(), work)?;
            Ok(started.elapsed().as_secs_f64() * 1e3)
        }),
    ];
    let [haft, plain] = compete(EDITS, contestants)?;
    println!("{:24}{:>22}{:>22}{:>8}", "", "haft, settled", "bare", "ratio");
    let ratio = haft.median / plain.median;
    println!("{:24}{:>22}{:>22}{ratio:>8.2}", "edit, exact match", haft.to_string(), plain.to_string());
    misses(program, scratch)
}

/// The price of finding nothing, and of saying what comes nearest.
fn misses(program: &Program, scratch: &Path) -> Result<()> {
    println!("\nan edit that matches nowhere, median (p10–p90) of {MISSES} runs, milliseconds");
    let directory = scratch.join("missed");
    fs::create_dir_all(&directory)?;
    for lines in [1_000, 10_000, 20_000, 100_000] {
        let file = directory.join(format!("{lines}.rs"));
        let text: String =
            (0..lines).map(|n| format!("    let value_{n} = parse(token_{});\n", n % 97)).collect();
        fs::write(&file, text)?;
        let old =
            "    let valu_500 = parse(tokn_15);\n    let nothing = here;\n    let valu_502 = parse(tokn_17);";
        let input = json!({"filePath": file, "oldString": old, "newString": "x"});
        let mut settler = program.start(&directory)?;
        let [missed] = compete(
            MISSES,
            [Box::new(|| {
                let settled = settler.settle("edit", &input)?;
                ensure!(!settled.completed, "the edit was not to match");
                Ok(settled.milliseconds)
            })],
        )?;
        println!("{:24}{:>22}", format!("{lines} lines"), missed.to_string());
    }
    Ok(())
}
