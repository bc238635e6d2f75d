//! `haft "do this"` for `haft run "do this"`, and `haft` alone on a terminal for a conversation.
//!
//! A word that is no command is a mistake, and is told so with the nearest command. Only what no command could be is
//! taken for a prompt: a text with a space in it.

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::{Cli, Command};

/// Reads the command line.
pub(crate) fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let streams =
        [std::io::stdin().is_terminal(), std::io::stdout().is_terminal(), std::io::stderr().is_terminal()];
    read(words, streams.iter().all(|is_terminal| *is_terminal))
}

fn read(words: Vec<OsString>, on_terminal: bool) -> Result<Cli, clap::Error> {
    let error = match Cli::try_parse_from(&words) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    let may_be_run = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            invalid(&error).is_some_and(|word| word.contains(char::is_whitespace))
        }
        // Options of `run` without the word.
        ErrorKind::UnknownArgument => true,
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => on_terminal,
        _ => false,
    };
    if !may_be_run || words.is_empty() {
        return Err(error);
    }
    let mut longer = words;
    longer.insert(1, "run".into());
    match Cli::try_parse_from(longer) {
        Ok(cli) if is_plausible(&cli, on_terminal) => Ok(cli),
        // What was written first is what the mistake is about.
        Ok(_) | Err(_) => Err(error),
    }
}

/// Whether it was meant: a prompt has a space in it, and a conversation needs a terminal.
fn is_plausible(cli: &Cli, on_terminal: bool) -> bool {
    match &cli.command {
        Command::Run(args) => match &args.prompt {
            _ if args.command.is_some() => true,
            Some(prompt) => prompt.contains(char::is_whitespace),
            None => on_terminal,
        },
        _ => false,
    }
}

fn invalid(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(line: &[&str], on_terminal: bool) -> Result<Option<String>, ErrorKind> {
        let words = std::iter::once("haft").chain(line.iter().copied()).map(OsString::from).collect();
        match read(words, on_terminal).map_err(|error| error.kind())?.command {
            Command::Run(args) => Ok(args.prompt),
            _ => Ok(Some("another command".to_owned())),
        }
    }

    #[test]
    fn only_what_no_command_could_be_is_a_prompt() {
        assert_eq!(prompt(&["fix the tests"], false), Ok(Some("fix the tests".to_owned())));
        assert_eq!(prompt(&["-m", "a/b", "fix the tests"], false), Ok(Some("fix the tests".to_owned())));
        assert_eq!(prompt(&["-C", "/", "fix it now", "--auto"], false), Ok(Some("fix it now".to_owned())));
        assert_eq!(prompt(&["cal"], true), Err(ErrorKind::InvalidSubcommand));
        assert_eq!(prompt(&["fix", "the", "tests"], true), Err(ErrorKind::InvalidSubcommand));
        assert_eq!(prompt(&["run", "fix"], false), Ok(Some("fix".to_owned())));
        assert_eq!(prompt(&["doctor"], true), Ok(Some("another command".to_owned())));
        assert_eq!(prompt(&["doctor", "--auto"], true), Err(ErrorKind::UnknownArgument));
    }

    #[test]
    fn nothing_at_all_is_a_conversation_on_a_terminal() {
        assert_eq!(prompt(&[], true), Ok(None));
        assert_eq!(prompt(&["-c"], true), Ok(None));
        assert_eq!(prompt(&[], false), Err(ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand));
    }
}
