//! What a call makes the disk do, counted by strace, and the same done by a plain program.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::settler::Program;

/// The first call of a process does what later ones need not do again.
const BEFORE: usize = 2;
const COUNTED: usize = 4;
const TRACED: &str = "trace=fsync,fdatasync,rename,renameat,renameat2,write,writev,pwrite64,pwritev";

/// What one call makes the disk do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) bytes: usize,
    pub(super) syncs: usize,
    pub(super) renames: usize,
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} KiB, {} fsync and {} rename", self.bytes >> 10, self.syncs, self.renames)
    }
}

/// Counts what one call does. The calls are made in a process of their own, with a store of its own in `data`.
pub(super) fn counted(
    program: &Program,
    data: &Path,
    directory: &Path,
    tool: &str,
    mut input: impl FnMut() -> Value,
) -> Result<Work> {
    let mut few = traced(program, data, directory, (0..BEFORE).map(|_| (tool, input())))?;
    let many = traced(program, data, directory, (0..BEFORE + COUNTED).map(|_| (tool, input())))?;
    // Opening a store that is there already is less work than making it.
    few = few.min(traced(program, data, directory, (0..BEFORE).map(|_| (tool, input())))?);
    let each = |many: usize, few: usize| (many.saturating_sub(few) + COUNTED / 2) / COUNTED;
    Ok(Work {
        bytes: each(many.bytes, few.bytes),
        syncs: each(many.syncs, few.syncs),
        renames: each(many.renames, few.renames),
    })
}

impl Work {
    fn min(self, other: Work) -> Work {
        if other.syncs < self.syncs { other } else { self }
    }
}

fn traced<'t>(
    program: &Program,
    data: &Path,
    directory: &Path,
    calls: impl Iterator<Item = (&'t str, Value)>,
) -> Result<Work> {
    let settler = program.storing(data).command(directory);
    let log = data.with_extension("strace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", TRACED, "-e", "signal=none", "-o"]).arg(&log);
    strace.arg(settler.get_program()).args(settler.get_args());
    let mut child =
        strace.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("strace is needed")?;
    let mut asked = child.stdin.take().context("strace has no stdin")?;
    for (tool, input) in calls {
        writeln!(asked, "{}", json!({"tool": tool, "input": input}))?;
    }
    drop(asked);
    let output = child.wait_with_output()?;
    let answers = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success() && !answers.contains("\"completed\":false"), "{answers}");
    Ok(added_up(&fs::read_to_string(&log)?))
}

/// Adds up the lines of strace. Those of the standard streams are no work for the disk.
fn added_up(log: &str) -> Work {
    let mut work = Work { bytes: 0, syncs: 0, renames: 0 };
    for line in log.lines() {
        let call = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        // A call that another thread interrupted is on two lines; the second one has the result.
        let (name, rest) = match call.strip_prefix("<... ") {
            Some(resumed) => resumed.split_once(' ').unwrap_or((resumed, "")),
            None if call.ends_with("<unfinished ...>") => continue,
            None => call.split_once('(').unwrap_or((call, "")),
        };
        let result = line.rsplit_once("= ").and_then(|(_, result)| result.trim().parse::<usize>().ok());
        let is_stream = ["0, ", "1, ", "2, "].iter().any(|stream| rest.starts_with(stream));
        match (name, result) {
            ("fsync" | "fdatasync", Some(_)) => work.syncs += 1,
            ("rename" | "renameat" | "renameat2", Some(_)) => work.renames += 1,
            (name, Some(bytes)) if name.contains("write") && !is_stream => work.bytes += bytes,
            _ => {}
        }
    }
    work
}

/// What every safe replacement has to do: a new file, on disk, in the place of the old one, on disk too. Then comes
/// what else is to be done, into a file beside it.
pub(super) fn replace(path: &Path, content: &[u8], work: Work) -> Result<()> {
    let directory = File::open(path.parent().context("a file lies in a directory")?)?;
    let draft = path.with_extension("draft");
    let mut file = File::create(&draft)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    directory.sync_all()?;
    let rest = Work {
        bytes: work.bytes.saturating_sub(content.len()),
        syncs: work.syncs.saturating_sub(2),
        renames: work.renames.saturating_sub(1),
    };
    record(&path.with_extension("record"), content, rest)
}

/// Writes bytes to a new file and waits for the disk, as often as that; renames it, as often as that.
pub(super) fn record(path: &Path, source: &[u8], work: Work) -> Result<()> {
    if work.syncs == 0 {
        return Ok(());
    }
    let mut file = File::create(path)?;
    let mut left = work.bytes;
    for at in 0..work.syncs {
        // The first has whatever the others have not: a journal keeps a whole file first, then speaks of it.
        let mut piece = if at == 0 { left - left.min(PIECE_BYTES * (work.syncs - 1)) } else { PIECE_BYTES };
        piece = piece.min(left);
        left -= piece;
        while piece > 0 {
            let written = &source[..piece.min(source.len())];
            file.write_all(written)?;
            piece -= written.len();
        }
        file.sync_data()?;
    }
    let aside = path.with_extension("aside");
    for at in 0..work.renames {
        let (from, to) = if at % 2 == 0 { (path, &*aside) } else { (&*aside, path) };
        fs::rename(from, to)?;
    }
    Ok(())
}

/// About what a commit of a database writes.
const PIECE_BYTES: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_once_also_if_they_were_interrupted() {
        let log = "12 write(1, \"x\", 5) = 5\n12 write(7, \"x\", 100) = 100\n\
            12 pwrite64(9, \"y\", 4096, 0 <unfinished ...>\n13 fsync(7) = 0\n12 <... pwrite64 resumed>) = 4096\n\
            13 fdatasync(7 <unfinished ...>\n13 <... fdatasync resumed>) = 0\n\
            13 renameat(8, \"a\", 8, \"b\") = 0\n13 renameat2(8, \"a\", 8, \"b\", 1) = -1 EEXIST (File exists)\n";
        assert_eq!(added_up(log), Work { bytes: 4196, syncs: 2, renames: 1 });
    }
}
