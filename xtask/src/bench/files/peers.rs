//! The programs that are compared with, installed where that is possible.

use std::process::{Command, Stdio};

use anyhow::Result;

/// A peer, by the names it goes by, and the package it comes in on Debian.
struct Peer {
    names: &'static [&'static str],
    package: &'static str,
}

const RIPGREP: Peer = Peer { names: &["rg"], package: "ripgrep" };
const FD: Peer = Peer { names: &["fdfind", "fd"], package: "fd-find" };

pub(super) struct Peers {
    pub(super) rg: String,
    pub(super) fd: String,
}

pub(super) fn find() -> Result<Peers> {
    Ok(Peers { rg: RIPGREP.found()?, fd: FD.found()? })
}

impl Peer {
    fn found(&self) -> Result<String> {
        if let Some(name) = self.present() {
            return Ok(name);
        }
        eprintln!("{} is not installed; trying apt-get install {}", self.names[0], self.package);
        let installed =
            Command::new("apt-get").args(["install", "-y", self.package]).stdout(Stdio::null()).status();
        self.present().ok_or_else(|| {
            anyhow::anyhow!(
                "THERE IS NOTHING TO COMPARE WITH: {} is not installed, and apt-get could not install it ({}); \
                 install {} as root and run this again",
                self.names[0],
                installed.map_or_else(|error| error.to_string(), |status| status.to_string()),
                self.package
            )
        })
    }

    fn present(&self) -> Option<String> {
        let answers =
            |name: &&&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
        self.names.iter().find(answers).map(|name| (*name).to_owned())
    }
}
