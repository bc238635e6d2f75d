//! `haft completions` and `haft man`: what shells and readers of manuals need, from the command line's definition.

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

pub(crate) fn completions(terminal: Terminal, shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "haft", &mut script);
    terminal.data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}

pub(crate) fn man(terminal: Terminal) -> Result<Exit, Failure> {
    let mut pages = Vec::new();
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut pages)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let title = format!("haft-{}", sub.get_name());
        clap_mangen::Man::new(sub.clone()).title(title).render(&mut pages)?;
    }
    terminal.data(&String::from_utf8_lossy(&pages))?;
    Ok(Exit::Ok)
}
