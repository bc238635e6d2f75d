//! How each suite is run.
//! Built tests are started directly: `cargo test -p NAME` would choose other features than the build of
//! the whole workspace did, and compile its dependencies a second time.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::prerequisites::{Prerequisite, modules};
use crate::cargo::{Artifact, Kind, cargo, root, run as run_command};

/// The suites that say the same of the sandbox however it is made.
pub(super) const BY_BUBBLEWRAP: [&str; 2] = ["haft-sandbox escape", "haft-sandbox lifetime"];

const SHUTTLE: &str = "shuttle";
/// Tells tests which programs are absent, separated by spaces; unset when there are all.
const MISSING: &str = "HAFT_TEST_MISSING";

/// The variables that suites see.
pub(super) struct Environment(Vec<(String, OsString)>);

impl Environment {
    pub(super) fn new(missing: &[&Prerequisite], built: &[Artifact]) -> Environment {
        let binaries = built.iter().filter(|artifact| artifact.kind == Kind::Binary);
        let mut variables: Vec<(String, OsString)> = binaries
            .map(|binary| (format!("CARGO_BIN_EXE_{}", binary.target), binary.executable.clone().into()))
            .collect();
        if !missing.is_empty() {
            let programs: Vec<&str> = missing.iter().map(|prerequisite| prerequisite.program).collect();
            variables.push((MISSING.to_owned(), programs.join(" ").into()));
        }
        Environment(variables)
    }

    /// The same with one variable more.
    pub(super) fn with(&self, name: &str, value: &str) -> Environment {
        let more = std::iter::once((name.to_owned(), value.into()));
        Environment(self.0.iter().cloned().chain(more).collect())
    }

    fn give(&self, command: &mut Command) {
        command.envs(self.0.iter().map(|(name, value)| (name, value)));
    }
}

/// The name of a built suite in the table: its package, and what of it is tested.
pub(super) fn title(artifact: &Artifact) -> String {
    match artifact.kind {
        Kind::Unit if artifact.target == artifact.package().replace('-', "_") => {
            format!("{} unit", artifact.package())
        }
        Kind::Unit => format!("{} unit ({})", artifact.package(), artifact.target),
        Kind::Integration | Kind::Binary | Kind::Other => {
            format!("{} {}", artifact.package(), artifact.target)
        }
    }
}

/// Runs a built suite the way cargo does: in the directory of its package.
pub(super) fn run(environment: &Environment, artifact: &Artifact) -> Result<()> {
    let mut command = Command::new(&artifact.executable);
    command.current_dir(&artifact.directory).env("CARGO_MANIFEST_DIR", &artifact.directory);
    environment.give(&mut command);
    run_command(&mut command).with_context(|| format!("again with `{}`", again(artifact)))
}

/// What a person types to run one suite again.
fn again(artifact: &Artifact) -> String {
    let package = artifact.package();
    match artifact.kind {
        Kind::Integration => format!("cargo test -p {package} --test {}", artifact.target),
        Kind::Unit | Kind::Binary | Kind::Other => format!("cargo test -p {package}"),
    }
}

/// Runs the examples in the documentation of every library, those that must not compile included.
pub(super) fn doc(environment: &Environment) -> Result<()> {
    let mut command = cargo(&["test", "--workspace", "--doc"]);
    environment.give(&mut command);
    run_command(&mut command)
}

/// Explores interleavings of the core with its locks swapped for shuttle's.
pub(super) fn shuttle(environment: &Environment) -> Result<()> {
    // Of the whole workspace, so that dependencies are those that were built for the other suites.
    let mut command = cargo(&["test", "--workspace", "--features", "haft/shuttle", "--test", SHUTTLE]);
    environment.give(&mut command);
    run_command(&mut command)
}

/// Runs the checks of our JavaScript as these arguments say: on Node itself, on ours, or in the engine.
pub(super) fn checks(args: &[&OsStr]) -> Result<()> {
    let script = root().join("crates/haft-plugin/tests/shims/run.mjs");
    run_command(Command::new("node").arg(script).args(args))
}

/// Compares our zod with the package.
pub(super) fn zod() -> Result<()> {
    let script = root().join("crates/haft-plugin/tests/zod/compare.mjs");
    run_command(Command::new("node").arg(script).arg("--real").arg(modules()))
}

/// The engine by itself, which the checks run in.
pub(super) fn plugin_host(built: &[Artifact]) -> Option<&PathBuf> {
    let is_host =
        |artifact: &&Artifact| artifact.kind == Kind::Binary && artifact.target == "haft-plugin-host";
    built.iter().find(is_host).map(|artifact| &artifact.executable)
}

pub(super) fn has_shuttle() -> bool {
    shuttle_source().exists()
}

/// Whether this is the shuttle suite built without its feature, where it has nothing to explore.
pub(super) fn is_shuttle(artifact: &Artifact) -> bool {
    artifact.kind == Kind::Integration && artifact.target == SHUTTLE
}

fn shuttle_source() -> PathBuf {
    root().join("crates/haft/tests").join(SHUTTLE).with_extension("rs")
}
