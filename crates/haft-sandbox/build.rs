//! Names the build: what this crate and all it is built with are made of. A helper of another build is not used, see
//! `linux/helper.rs`.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let mut files = vec![own.join("Cargo.toml")];
    collect(&own.join("src"), &mut files)?;
    // Not there where the crate is built by somebody else's workspace.
    let lock = own.join("../../Cargo.lock");
    files.extend(lock.exists().then_some(lock));
    files.sort();
    let mut hasher = DefaultHasher::new();
    ["TARGET", "PROFILE", "OPT_LEVEL"].map(|name| env::var(name).unwrap_or_default()).hash(&mut hasher);
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        // Where the sources lie makes no difference.
        file.strip_prefix(&own).unwrap_or(file).hash(&mut hasher);
        fs::read(file)?.hash(&mut hasher);
    }
    println!("cargo::rustc-env=HAFT_SANDBOX_BUILD={:016x}", hasher.finish());
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
