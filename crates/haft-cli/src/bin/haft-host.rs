//! The small program that runs the code of one plugin. haft could start itself for that, and does where this file is
//! missing, but a small program starts sooner and holds less memory.

use std::process::ExitCode;

fn main() -> ExitCode {
    haft_plugin::maybe_become_host().unwrap_or_else(|| {
        eprintln!("haft-host is started by haft itself; run haft instead");
        ExitCode::from(2)
    })
}
