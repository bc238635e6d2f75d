//! A script that is to run: what consent is asked for, and what a person is shown.

use std::path::PathBuf;

use haft::permission::{Ask, Question, Reach, Ruleset, Showing};
use haft::visible;

use super::analysis::{Analysis, analyse};
use super::command::{Command, Sort};
use super::effects::Touch;
use super::files::{Held, held};
use super::questions::{agreed_outside, agreed_protected, perhaps_outside, questions, withheld};
use super::surroundings::Surroundings;
use crate::workspace::{Place, ResolveError, Workspace};

/// A script with the directory it would run in. Whoever holds the permit for it runs exactly this.
#[derive(Debug)]
pub struct CommandTarget {
    script: String,
    workdir: Place,
    analysis: Analysis,
    questions: Vec<Question>,
}

impl CommandTarget {
    /// Analyses a script; `home` is what `~` will stand for when it runs. Nothing is opened and nothing runs.
    pub fn new(
        workspace: &Workspace,
        script: &str,
        workdir: Option<&str>,
        home: Option<PathBuf>,
    ) -> Result<CommandTarget, ResolveError> {
        let workdir = workspace.resolve(workdir.filter(|path| !path.is_empty()).unwrap_or("."))?;
        let surroundings = Surroundings { directory: workdir.real().to_owned(), home };
        let analysis = analyse(script, &surroundings);
        let questions = questions(workspace, &analysis, &workdir);
        Ok(CommandTarget { script: script.to_owned(), workdir, analysis, questions })
    }

    /// The script, as it was given.
    pub fn script(&self) -> &str {
        &self.script
    }

    /// The directory it would run in. Whether one is there, its kind says.
    pub fn workdir(&self) -> &Place {
        &self.workdir
    }

    /// The directories outside the workspace that it may use once it is agreed to, and what it does to them.
    pub(crate) fn outside(&self, workspace: &Workspace) -> Vec<(PathBuf, Touch)> {
        agreed_outside(workspace, &self.analysis)
    }

    /// Whether it may be run at all, whoever agrees.
    ///
    /// # Errors
    /// Where it names a file that no command may have.
    pub fn check(&self, workspace: &Workspace) -> Result<(), ResolveError> {
        let workdir = self.workdir.real();
        let is_there = workspace.is_withheld(workdir).then(|| workdir.to_owned());
        match is_there.or_else(|| withheld(workspace, &self.analysis)) {
            Some(path) => Err(ResolveError::Withheld { path: visible(&path.to_string_lossy()) }),
            None => Ok(()),
        }
    }

    /// What rules for file tools say about the files that it names. Only those that deny count here: consent to a command
    /// is consent to what it does.
    pub fn held(&self, workspace: &Workspace, rules: &Ruleset) -> Held {
        held(workspace, &self.analysis, &self.workdir, rules)
    }

    /// The protected paths that it may change once it is agreed to.
    pub(crate) fn protected(&self, workspace: &Workspace) -> Vec<PathBuf> {
        agreed_protected(workspace, &self.analysis)
    }

    /// What it would do.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }
}

impl Ask for CommandTarget {
    fn questions(&self) -> Vec<Question> {
        self.questions.clone()
    }

    /// Where it leads is not known of every word beforehand.
    fn perhaps(&self) -> Vec<Question> {
        perhaps_outside(&self.analysis).into_iter().collect()
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }

    /// The script itself, whole, and below it why a rule about one of its commands would not do.
    fn show(&self) -> Showing {
        let mut detail = self.script.clone();
        let is_told = |command: &&Command| !command.is_plain() && command.sort != Sort::Setting;
        let reasons = self.analysis.commands.iter().filter(is_told);
        for (at, command) in reasons.enumerate() {
            let why: Vec<&str> = command.why.iter().map(|why| why.as_str()).collect();
            let heading = if at == 0 { "\n\n" } else { "\n" };
            detail.push_str(&format!("{heading}# {}: {}", visible(&command.text), why.join("; ")));
        }
        Showing { title: format!("run in {}", self.workdir.shown()), detail }
    }
}
