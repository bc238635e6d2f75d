//! Lines that begin with a slash: a custom command, or a sentence about a path.

use std::path::Path;

use haft_tools::Workspace;

use super::arguments::Arguments;
use super::draft::Draft;
use crate::config::{CommandError, Config, CustomCommand};
use crate::exit::{Exit, Failure};

/// What a person types to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Something to say.
    Prompt(Draft),
    /// Something that has a name.
    Command(Box<Invocation>),
}

/// A custom command that is to be performed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) command: CustomCommand,
    pub(crate) arguments: Arguments,
    /// What the person typed, or would have.
    pub(crate) line: String,
    /// Files that the person names besides.
    pub(crate) files: Vec<String>,
    /// What was piped in.
    pub(crate) stdin: Option<String>,
}

impl Typed {
    /// Tells a command from a prompt.
    pub(crate) fn read(
        config: &Config,
        workspace: &Workspace,
        text: String,
        files: &[String],
        stdin: Option<String>,
    ) -> Result<Typed, Failure> {
        match Invocation::typed(config, &text)? {
            Some(invocation) => {
                let files = files.to_vec();
                Ok(Typed::Command(Box::new(Invocation { files, stdin, ..invocation })))
            }
            None => Draft::new(workspace, text, files, stdin).map(Typed::Prompt),
        }
    }

    /// The model that it is to be answered by, if it names one. What came of a task is told by whoever is spoken to.
    pub(crate) fn model(&self, config: &Config) -> Option<&str> {
        match self {
            Typed::Prompt(_) => None,
            Typed::Command(invocation) if config.is_task(&invocation.command) => None,
            Typed::Command(invocation) => invocation.command.model.as_deref(),
        }
    }
}

impl Invocation {
    /// The command of this name, with its words.
    pub(crate) fn named(config: &Config, name: &str, words: Vec<String>) -> Result<Invocation, Failure> {
        let command = config.command(name).map_err(refused)?;
        let arguments = Arguments::given(words);
        let line = format!("/{name} {}", arguments.typed).trim_end().to_owned();
        Ok(Invocation { command, arguments, line, files: Vec::new(), stdin: None })
    }

    /// What a person typed, if it is a command: its first word is a slash and a name. A word that no command has is a
    /// mistake, unless it may well be a path.
    fn typed(config: &Config, text: &str) -> Result<Option<Invocation>, Failure> {
        let Some((name, typed)) = parts(text) else { return Ok(None) };
        match config.command(name) {
            Ok(command) => {
                let (arguments, line) = (Arguments::typed(typed), text.trim_end().to_owned());
                Ok(Some(Invocation { command, arguments, line, files: Vec::new(), stdin: None }))
            }
            Err(error @ (CommandError::Untrusted { .. } | CommandError::Faulty { .. })) => {
                Err(refused(error))
            }
            Err(CommandError::Unknown { nearest, .. }) if is_of_a_path(name, nearest.is_some()) => Ok(None),
            Err(error @ CommandError::Unknown { .. }) => {
                Err(refused(error).hint("write a space before the slash where no command is meant"))
            }
        }
    }
}

fn refused(error: CommandError) -> Failure {
    Failure::new(Exit::Usage, error).hint("haft commands lists those there are")
}

/// The name and what follows it, if a text begins with a slash and a word.
fn parts(text: &str) -> Option<(&str, &str)> {
    let after = text.strip_prefix('/')?;
    let end = after.find(char::is_whitespace).unwrap_or(after.len());
    (end > 0).then(|| after.split_at(end))
}

/// Whether a word after a slash is rather part of a sentence: something is there under this path, it looks like no
/// name that anybody types, or it leads through directories and no command is called anything like it.
fn is_of_a_path(name: &str, is_near: bool) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let looks_like_name =
        !name.starts_with('-') && name.split('/').all(|part| !part.is_empty() && part.chars().all(is_plain));
    let is_there = || Path::new("/").join(name).exists();
    !looks_like_name || (name.contains('/') && !is_near) || is_there()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_from_its_arguments() {
        assert_eq!(parts("/a/b  c d\ne"), Some(("a/b", "  c d\ne")));
        assert_eq!(parts("/a"), Some(("a", "")));
        for none in ["", "/", "/ a", " /a", "a /b", "// a"] {
            assert!(parts(none).is_none_or(|(name, _)| name == "/"), "{none:?}");
        }
    }

    #[test]
    fn paths_are_part_of_a_sentence() {
        for path in ["etc/hosts", "etc", "tmp", "api/v1/users", "index.html", "a,", "*", "-x", "usr/"] {
            assert!(is_of_a_path(path, false), "{path}");
        }
        for name in ["reveiw", "help", "no-such_name"] {
            assert!(!is_of_a_path(name, false), "{name}");
        }
        assert!(!is_of_a_path("git/comit", true));
        assert!(is_of_a_path("etc/passwd", true), "what is there is meant");
    }
}
