//! The small program that sets the sandbox up for a command and supervises it. haft could start itself for that, and
//! does where this file is missing, but a small program starts sooner.

use std::process::ExitCode;

fn main() -> ExitCode {
    haft_sandbox::maybe_become_helper();
    eprintln!("haft-helper (build {}) is started by haft itself; run haft instead", haft_sandbox::build());
    ExitCode::from(2)
}
