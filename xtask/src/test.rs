//! The one command that passes the tests.
//! Everything is built once; then each suite runs alone, so that its time is its own, and a failing one
//! does not keep the others from running.

mod board;
mod prerequisites;
mod suites;

use anyhow::{Result, bail};

use crate::cargo::{Artifact, Kind, build};
use crate::check;
use board::Board;
use prerequisites::{Install, Prerequisite};
use suites::Environment;

/// How much is tested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything that must pass before a change is merged.
    Full,
    /// The tests alone, for the minutes between two edits: no check, no doc tests, no shuttle, no installing.
    Fast,
}

/// Runs what `extent` covers and prints a table of it; an error if any suite failed.
pub(crate) fn run(extent: Extent) -> Result<()> {
    let mut board = Board::new();
    let install = match extent {
        Extent::Full => Install::WhereAllowed,
        Extent::Fast => Install::Never,
    };
    let missing = prerequisites::provide(install)?;
    if extent == Extent::Full {
        for (name, step) in check::STEPS {
            board.run(name, step);
        }
    }
    // What did not compile has nothing to run.
    if let Some(built) = board.run("build", || build(&["test", "--workspace", "--no-run"])) {
        run_suites(&mut board, extent, &missing, &Environment::new(&missing, &built), &built);
    }
    for prerequisite in &missing {
        board.skip(prerequisite.suite);
    }
    board.print();
    if board.has_failed() {
        bail!("the tests did not pass");
    }
    Ok(())
}

fn run_suites(
    board: &mut Board,
    extent: Extent,
    missing: &[&Prerequisite],
    environment: &Environment,
    built: &[Artifact],
) {
    run_built(board, environment, built, Kind::Unit);
    if extent == Extent::Full {
        board.run("doc tests", || suites::doc(environment));
    }
    run_built(board, environment, built, Kind::Integration);
    bubblewrap(board, missing, environment, built);
    javascript(board, missing, built);
    if extent == Extent::Full && suites::has_shuttle() {
        board.run("haft shuttle", || suites::shuttle(environment));
    }
}

/// The sandbox once more, in the way that is for hosts where only bubblewrap may make namespaces.
fn bubblewrap(board: &mut Board, missing: &[&Prerequisite], environment: &Environment, built: &[Artifact]) {
    if is_missing(missing, "bwrap") {
        return;
    }
    let environment = environment.with("HAFT_TEST_LEVEL", "bubblewrap");
    let sandboxed = |artifact: &&Artifact| {
        artifact.kind == Kind::Integration
            && suites::BY_BUBBLEWRAP.contains(&suites::title(artifact).as_str())
    };
    for artifact in built.iter().filter(sandboxed) {
        let title = format!("{} by bubblewrap", suites::title(artifact));
        board.run(&title, || suites::run(&environment, artifact));
    }
}

fn is_missing(missing: &[&Prerequisite], program: &str) -> bool {
    missing.iter().any(|prerequisite| prerequisite.program == program)
}

/// The JavaScript of plugins, each part against what it stands in for.
fn javascript(board: &mut Board, missing: &[&Prerequisite], built: &[Artifact]) {
    if is_missing(missing, "node") {
        return;
    }
    board.run("haft-plugin checks on node", || suites::checks(&[]));
    board.run("haft-plugin checks on our JavaScript", || suites::checks(&["--ours".as_ref()]));
    if let Some(host) = suites::plugin_host(built) {
        board.run("haft-plugin checks in the engine", || {
            suites::checks(&["--engine".as_ref(), host.as_os_str()])
        });
    }
    if !is_missing(missing, "zod") {
        board.run("haft-plugin zod against the package", suites::zod);
    }
}

fn run_built(board: &mut Board, environment: &Environment, built: &[Artifact], kind: Kind) {
    let mut of_kind: Vec<&Artifact> = built.iter().filter(|artifact| artifact.kind == kind).collect();
    of_kind.sort_by_key(|artifact| (artifact.package(), &artifact.target));
    for artifact in of_kind.into_iter().filter(|artifact| !suites::is_shuttle(artifact)) {
        board.run(&suites::title(artifact), || suites::run(environment, artifact));
    }
}
