//! Systems other than Linux: nothing is confined, and nothing is run by this crate.

use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::report::{Level, Mechanism, Report, State};
use crate::spec::{Content, Heard, Spec};

pub(crate) const BUILD: &str = env!("HAFT_SANDBOX_BUILD");

/// Cannot be made: nothing is known of who may have changed a program.
#[derive(Debug)]
pub struct Beside(Infallible);

impl Beside {
    /// There is none.
    pub fn find(_name: &str) -> Result<Beside, String> {
        Err("only Linux is supported".to_owned())
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Its first bytes.
    pub fn beginning(&self, _bytes: usize) -> io::Result<Vec<u8>> {
        match self.0 {}
    }
}

/// Nothing is watched, so nobody needs to hear of it.
#[derive(Debug)]
pub struct Vouching(());

impl Vouching {
    /// Says nothing.
    pub fn begin(_custody: &Path, _paths: Vec<PathBuf>) -> io::Result<Vouching> {
        Ok(Vouching(()))
    }

    /// Says nothing.
    pub fn finish(self, _files: &[(PathBuf, Content)]) -> io::Result<()> {
        Ok(())
    }
}

/// There is nothing.
pub fn remove_taken(_thing: &Path) -> io::Result<()> {
    Ok(())
}

/// There is nothing.
pub fn taken(_custody: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// There is none.
pub(crate) struct Helpers;

impl Helpers {
    pub(crate) fn of_this_program() -> Helpers {
        Helpers
    }

    pub(crate) fn only(_program: &Path) -> Helpers {
        Helpers
    }
}

/// Stands for none.
#[derive(Debug, Clone)]
pub(crate) struct Helper;

pub(crate) fn become_helper() {}

pub(crate) fn harden() -> io::Result<()> {
    Ok(())
}

pub(crate) fn share_memory() {}

pub(crate) fn half_of_memory() -> Option<u64> {
    None
}

pub(crate) fn bubblewrap() -> Option<PathBuf> {
    None
}

pub(crate) fn strongest(_helpers: &Helpers, _bubblewrap: Option<&Path>) -> (Level, Helper) {
    (Level::None, Helper)
}

pub(crate) fn report(_helper: &Helper, level: Level, _bubblewrap: Option<&Path>) -> Report {
    let why = "only Linux is supported".to_owned();
    Report { level, mechanisms: vec![Mechanism { name: "namespaces", state: State::Missing(why) }] }
}

pub(crate) fn recalled(_file: &Path, _helpers: &Helpers) -> Option<Helper> {
    None
}

pub(crate) fn remember(_file: &Path, _helpers: &Helpers, _worked: &Helper) {}

pub(crate) fn forget(_file: &Path) {}

pub(crate) fn idle(_helper: &Helper) -> io::Result<(Command, Idle)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Cannot be made.
#[derive(Debug)]
pub(crate) struct Idle(Infallible);

impl Idle {
    pub(crate) fn instruct(self, _spec: &Spec, _input: Option<OwnedFd>) -> io::Result<Watch> {
        match self.0 {}
    }
}

/// Cannot be made.
#[derive(Debug)]
pub(crate) struct Watch(Infallible);

impl Watch {
    pub(crate) fn end(&self) {
        match self.0 {}
    }

    pub(crate) fn told(self) -> io::Result<Heard> {
        match self.0 {}
    }
}
