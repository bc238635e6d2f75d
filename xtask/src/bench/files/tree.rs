//! The files that are searched: always the same, made once, kept in the target directory.
//!
//! 50,000 files of up to 12 KiB in 2,000 directories, a tenth of them ignored or hidden or binary. Which words stand in
//! which file follows from the file's number alone.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

/// Part of the directory's name: what was made by other rules is not taken for this.
const VERSION: u32 = 1;
const FILES: u64 = 50_000;
const FILES_PER_DIRECTORY: u64 = 25;
/// The file that is read by line numbers.
const LARGE_BYTES: u64 = 1 << 30;
const LARGE_LINE: &str = "a line of the large file, neither long nor short, as many are\n";

/// Stands in nearly every file.
pub(super) const COMMON: &str = "config";
/// Stands in one file of ten thousand.
pub(super) const RARE: &str = "quetzalcoatlus";
/// Stands nowhere.
pub(super) const ABSENT: &str = "archaeopteryx";

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "let", "config", "value", "return", "match", "self", "error", "path", "open", "read", "write", "token", "parse",
    "buffer", "result", "option", "string", "vector", "index", "count", "first", "last", "name", "kind", "state",
];
const ENDINGS: &[&str] = &["rs", "ts", "py", "md", "json", "toml", "c", "go"];

/// Where the tree lies, made if it is not there yet.
pub(super) fn searched(under: &Path) -> Result<PathBuf> {
    made(&under.join(format!("tree-{VERSION}")), grow)
}

/// Where the large file lies, made if it is not there yet.
pub(in crate::bench) fn large(under: &Path) -> Result<PathBuf> {
    let directory = made(&under.join(format!("large-{VERSION}")), |directory| {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(directory.join("large.txt"))?);
        (0..LARGE_BYTES / LARGE_LINE.len() as u64).try_for_each(|_| file.write_all(LARGE_LINE.as_bytes()))?;
        file.into_inner()?.sync_all()?;
        Ok(())
    })?;
    Ok(directory.join("large.txt"))
}

/// Makes a directory as a whole or not at all.
fn made(directory: &Path, fill: impl Fn(&Path) -> Result<()>) -> Result<PathBuf> {
    if directory.exists() {
        return Ok(directory.to_owned());
    }
    eprintln!("making {}", directory.display());
    let unfinished = directory.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    fs::create_dir_all(&unfinished)?;
    fill(&unfinished)?;
    fs::rename(&unfinished, directory).with_context(|| format!("could not make {}", directory.display()))?;
    Ok(directory.to_owned())
}

fn grow(root: &Path) -> Result<()> {
    // It is a repository of its own, so what lies above it does not matter.
    fs::create_dir_all(root.join(".git/objects"))?;
    fs::write(root.join(".git/objects/pack"), format!("{RARE} {COMMON}\n"))?;
    fs::write(root.join(".gitignore"), "out/\n*.log\n!keep.log\n/generated\n")?;
    for directory in 0..FILES / FILES_PER_DIRECTORY {
        let at = root.join(directory_name(directory));
        fs::create_dir_all(&at)?;
        if directory % 40 == 0 {
            fs::write(at.join(".gitignore"), "*.tmp\n/private/\n")?;
        }
        for number in (0..FILES_PER_DIRECTORY).map(|n| directory * FILES_PER_DIRECTORY + n) {
            let path = at.join(file_name(number));
            fs::write(&path, content(number))?;
            // The order of the newest must not depend on how quickly the tree was made.
            let age = Duration::from_secs(number * 7919 % FILES);
            let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000) + age;
            File::options().write(true).open(&path)?.set_modified(modified)?;
        }
    }
    Ok(())
}

fn directory_name(number: u64) -> String {
    let (top, middle) = (number % 20, number / 20 % 10);
    let last = match number % 50 {
        7 => "out".to_owned(),
        8 => format!(".hidden{number}"),
        _ => format!("part{number}"),
    };
    format!("crate{top}/module{middle}/{last}")
}

fn file_name(number: u64) -> String {
    let ending = ENDINGS[(number % ENDINGS.len() as u64) as usize];
    match number % 100 {
        3 => format!("file{number}.log"),
        4 => format!(".file{number}.{ending}"),
        _ => format!("file{number}.{ending}"),
    }
}

fn content(number: u64) -> Vec<u8> {
    let mut random = Random(number);
    let lines = random.below(320);
    let mut text = String::new();
    for line in 0..lines {
        let words = 2 + random.below(8);
        text.push_str(&" ".repeat(4 * (line as usize % 4)));
        for _ in 0..words {
            text.push_str(WORDS[random.below(WORDS.len() as u64) as usize]);
            text.push(if random.below(5) == 0 { '_' } else { ' ' });
        }
        text.push_str(&format!("{}\n", random.below(1000)));
    }
    if number % 10_000 == 1234 {
        text.push_str(&format!("// here lived {RARE}, once\n"));
    }
    let mut content = text.into_bytes();
    if number % 50 == 9 {
        content.insert(0, 0);
    }
    content
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
