//! The binary `haft`: reads the command line, wires what it needs, and leaves with an exit code that says what happened.

mod agency;
mod arguments;
mod asked;
mod choice;
mod cli;
mod commands;
mod config;
mod environment;
mod exit;
mod history;
mod instructions;
mod location;
mod models;
mod paths;
mod plugins;
mod probe;
mod report;
mod run;
mod searches;
mod setting;
mod shorthand;
mod skills;
mod terminal;
mod trust;
mod trusted;

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

fn main() -> ExitCode {
    haft_sandbox::maybe_become_helper();
    if let Some(code) = haft_plugin::maybe_become_host() {
        return code;
    }
    haft_sandbox::share_memory_among_threads();
    // Others of the same user may not look into this process; where the kernel has no such thing, they may.
    let _open = haft_sandbox::harden_this_process();
    let cli = match shorthand::parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let terminal = Terminal::new(&cli.globals);
    let result =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::from).and_then(
            |runtime| {
                let result = runtime.block_on(run(cli, terminal));
                // A thread that waits for a line on the terminal must not keep the process alive.
                runtime.shutdown_background();
                result
            },
        );
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            terminal.failure(&failure);
            failure.exit.into()
        }
    }
}

async fn run(cli: Cli, terminal: Terminal) -> Result<Exit, Failure> {
    // A write beyond a file size limit is an error to report, not a reason to die.
    let _xfsz = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ));
    let Cli { globals, command } = cli;
    match command {
        Command::Call(args) => commands::call::run(&globals, terminal, args).await,
        Command::Run(args) => commands::run::run(&globals, terminal, args).await,
        Command::Tools { command } => commands::tools::run(&globals, terminal, command).await,
        Command::Log(args) => commands::log::run(&globals, terminal, args).await,
        Command::Output(args) => commands::output::run(&globals, terminal, &args).await,
        Command::Permission { command } => commands::permission::run(&globals, terminal, command).await,
        Command::Agents { name } => commands::agents::run(&globals, terminal, name).await,
        Command::Commands { name } => commands::custom::run(&globals, terminal, name.as_deref()),
        Command::Skill { command } => commands::skill::run(&globals, terminal, command).await,
        Command::Session { command } => commands::session::run(&globals, terminal, command).await,
        Command::Trust { command, directory, force } => {
            commands::trust::run(&globals, terminal, command, directory, force)
        }
        Command::Undo(args) => commands::undo::run(&globals, terminal, &args).await,
        Command::Gc(args) => commands::gc::run(&globals, terminal, &args).await,
        Command::Auth { command } => commands::auth::run(&globals, terminal, command).await,
        Command::Models { provider } => commands::models::run(&globals, terminal, provider.as_deref()).await,
        Command::New { kind, name, global } => commands::new::run(&globals, terminal, kind, &name, global),
        Command::Doctor => commands::doctor::run(&globals, terminal).await,
        Command::Completions { shell } => commands::shell::completions(terminal, shell),
        Command::Man => commands::shell::man(terminal),
        Command::Probe { kind } => commands::probe::run(&globals, terminal, &kind).await,
    }
}

/// The signal for a file that grew beyond its limit, on Linux and the BSDs.
const SIGXFSZ: i32 = 25;

/// A command line that cannot be read, or one that asks for help.
fn usage(error: &clap::Error) -> ExitCode {
    // Whether it can be printed changes nothing about how to leave.
    let _gone = error.print();
    match error.kind() {
        clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion => Exit::Ok.into(),
        _ => Exit::Usage.into(),
    }
}
