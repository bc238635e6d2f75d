//! A name for what files hold: another one as soon as any of them changes. Build scripts name builds by it, so that two
//! programs can tell whether they were made of the same.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Names these files, everything below those that are directories, and how it is all built. Cargo is told to build anew when
/// one of them changes.
pub(crate) fn fingerprint(workspace: &Path, parts: &[PathBuf]) -> io::Result<u64> {
    let mut files = Vec::new();
    // Not there where a crate is built by somebody else's workspace.
    let lock = workspace.join("Cargo.lock");
    files.extend(lock.exists().then_some(lock));
    parts.iter().try_for_each(|part| collect(part, &mut files))?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    ["TARGET", "PROFILE", "OPT_LEVEL"].map(|name| env::var(name).unwrap_or_default()).hash(&mut hasher);
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        // Where the sources lie makes no difference.
        file.strip_prefix(workspace).unwrap_or(file).hash(&mut hasher);
        fs::read(file)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_dir(path)?.try_for_each(|entry| collect(&entry?.path(), files))
}
