//! Names the build of the plugin host: what it is made of. haft knows that name and the host carries it where it can be
//! read without running it, so that none of another build is used, see `plugins/host_program.rs`.

#[path = "../haft-sandbox/build/fingerprint.rs"]
mod fingerprint;

use std::path::PathBuf;
use std::{env, io};

/// What the host is made of, besides what the lock file names.
const PARTS: [&str; 7] = [
    "crates/haft/Cargo.toml",
    "crates/haft/src",
    "crates/haft-cli/src/bin",
    "crates/haft-plugin/Cargo.toml",
    "crates/haft-plugin/build.rs",
    "crates/haft-plugin/js",
    "crates/haft-plugin/src",
];

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let workspace = own.ancestors().nth(2).unwrap_or(&own);
    let build = fingerprint::fingerprint(workspace, &PARTS.map(|part| workspace.join(part)))?;
    println!("cargo::rustc-env=HAFT_HOST_BUILD={build:016x}");
    // Linkers elsewhere have no such option, and haft serves plugins itself there.
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-link-arg-bin=haft-host=-Wl,--build-id=0x{build:016x}");
    }
    Ok(())
}
