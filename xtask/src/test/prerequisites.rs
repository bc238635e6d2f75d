//! The programs that tests need besides cargo: provided where we may, named loudly where we may not.

use std::process::Command;

use anyhow::{Result, bail};

use crate::cargo::run;

/// A program, the Debian package that has it, and what cannot be tested without it.
#[derive(Debug)]
pub(super) struct Prerequisite {
    pub(super) program: &'static str,
    pub(super) package: &'static str,
    pub(super) suite: &'static str,
}

#[rustfmt::skip]
const PREREQUISITES: &[Prerequisite] = &[
    Prerequisite { program: "git",     package: "git",        suite: "tidy, and tools inside a repository" },
    Prerequisite { program: "setpriv", package: "util-linux", suite: "files that an unprivileged user may not touch" },
    Prerequisite { program: "strace",  package: "strace",     suite: "durable before visible, and what scripts execute, seen from the kernel" },
    Prerequisite { program: "sqlite3", package: "sqlite3",    suite: "the store, seen from outside" },
    Prerequisite { program: "tmux",    package: "tmux",       suite: "conversations on a real terminal" },
];

/// Whether missing programs may be installed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Install {
    WhereAllowed,
    Never,
}

/// Returns what is still missing after installing what could be; on CI nothing may be missing.
pub(super) fn provide(install: Install) -> Result<Vec<&'static Prerequisite>> {
    let mut missing = absent();
    if !missing.is_empty() && install == Install::WhereAllowed && is_root() && is_present("apt-get") {
        if let Err(error) = apt_get(&missing) {
            println!("could not install: {error:#}");
        }
        missing = absent();
    }
    for Prerequisite { program, package, suite } in &missing {
        println!("SKIPPED SUITE {suite}: needs {program} (apt-get install {package})");
    }
    if !missing.is_empty() && std::env::var("CI").is_ok_and(|value| value == "true") {
        bail!("on CI no suite may be skipped");
    }
    Ok(missing)
}

fn absent() -> Vec<&'static Prerequisite> {
    PREREQUISITES.iter().filter(|prerequisite| !is_present(prerequisite.program)).collect()
}

fn apt_get(missing: &[&Prerequisite]) -> Result<()> {
    let apt_get =
        |args: &[&str]| run(Command::new("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive"));
    apt_get(&["update"])?;
    for prerequisite in missing {
        apt_get(&["install", "-y", "--no-install-recommends", prerequisite.package])?;
    }
    Ok(())
}

fn is_present(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
