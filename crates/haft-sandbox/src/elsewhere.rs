//! Systems other than Linux: nothing is confined, and nothing is run by this crate.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::report::{Level, Mechanism, Report, State};
use crate::spec::{Heard, Spec};

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

pub(crate) fn level(_helper: &Path, _bubblewrap: Option<&Path>) -> Level {
    Level::None
}

pub(crate) fn report(_helper: &Path, level: Level, _bubblewrap: Option<&Path>) -> Report {
    let why = "only Linux is supported".to_owned();
    Report { level, mechanisms: vec![Mechanism { name: "namespaces", state: State::Missing(why) }] }
}

pub(crate) fn is_remembered(_file: &Path, _helper: &Path) -> bool {
    false
}

pub(crate) fn remember(_file: &Path, _helper: &Path) {}

pub(crate) fn forget(_file: &Path) {}

pub(crate) fn idle(_helper: &Path) -> io::Result<(Command, Idle)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Cannot be made.
#[derive(Debug)]
pub(crate) struct Idle(Infallible);

impl Idle {
    pub(crate) fn instruct(self, _spec: &Spec) -> io::Result<Watch> {
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
