//! Names the build: what this crate and all it is built with are made of. A helper of another build is not used, see
//! `linux/helper.rs`.

#[path = "build/fingerprint.rs"]
mod fingerprint;

use std::path::PathBuf;
use std::{env, io};

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let workspace = own.ancestors().nth(2).unwrap_or(&own);
    let build = fingerprint::fingerprint(workspace, &["Cargo.toml", "src"].map(|part| own.join(part)))?;
    println!("cargo::rustc-env=HAFT_SANDBOX_BUILD={build:016x}");
    Ok(())
}
