//! What can be judged without running a test: format, lints, house rules.

use anyhow::{Result, bail};

use crate::cargo::{cargo, run as run_command};
use crate::tidy;

type Step = (&'static str, fn() -> Result<()>);

/// The steps, cheapest to explain first. `cargo xtask test` begins with the same ones.
pub(crate) const STEPS: &[Step] = &[("fmt", fmt), ("clippy", clippy), ("tidy", tidy::run)];

/// Takes every step even when an earlier one fails, so that one run shows all there is to mend.
pub(crate) fn run() -> Result<()> {
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        if let Err(error) = step() {
            eprintln!("{name}: {error:#}");
            failed.push(*name);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn fmt() -> Result<()> {
    run_command(&mut cargo(&["fmt", "--all", "--", "--check"]))
}

fn clippy() -> Result<()> {
    run_command(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}
