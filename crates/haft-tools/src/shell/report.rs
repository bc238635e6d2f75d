//! What was parsed, in opencode's terms: as a list of commands that are asked about as they stand.

use std::path::PathBuf;

use super::analysis::Analysis;
use super::arity::prefix;
use super::command::{Command, MOVING, Sort};
use super::questions::outside;
use crate::workspace::{Place, Workspace};

/// The commands of a script as opencode reports them. What wrappers run is not in it; what is decided rests on the
/// analysis, not on this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The names of the commands, in order.
    pub names: Vec<String>,
    /// The texts that are asked about.
    pub patterns: Vec<String>,
    /// What an "always" would allow.
    pub always: Vec<String>,
    /// Directories outside the workspace.
    pub dirs: Vec<PathBuf>,
}

/// Reports an analysis.
pub fn report(workspace: &Workspace, analysis: &Analysis, workdir: &Place) -> Report {
    let simple = || {
        analysis.commands.iter().filter(|command| {
            command.sort == Sort::Simple && command.depth == 0 && !command.tokens.is_empty()
        })
    };
    let asked = || simple().filter(|command| !MOVING.contains(&command.tokens[0].as_str()));
    let mut dirs = outside(workspace, analysis);
    if !workdir.is_inside() && !dirs.iter().any(|known| known == workdir.surroundings()) {
        dirs.push(workdir.surroundings().to_owned());
    }
    Report {
        names: simple().map(name).collect(),
        patterns: unique(asked().map(|command| command.text.clone())),
        always: unique(asked().map(|command| format!("{} *", prefix(&command.tokens).join(" ")))),
        dirs,
    }
}

fn name(command: &Command) -> String {
    let word = command.words.first().and_then(|word| word.known());
    word.unwrap_or(&command.tokens[0]).to_owned()
}

fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}
