//! What is done after files were changed: a list of steps, each of which may finish a file or find something about it.
//!
//! A step is given time and cannot fail the call: the change stands, and the result says what came of the step.

use std::time::Duration;

use haft::{BoxFuture, Presented};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::workspace::LeftFile;

/// No step is given more time than this, so that its end can always be reckoned.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(3600);

/// Something that is done after files were changed.
pub trait AfterChange: Send + Sync {
    /// What it is, by which results speak of it.
    fn name(&self) -> &'static str;

    /// Looks at the files that a call has just changed, in bounded time. It changes none of them: what one is to hold
    /// instead is returned. Files that it has nothing to do with are passed over.
    fn follow<'a>(&'a self, files: &'a [LeftFile]) -> BoxFuture<'a, Vec<Aftermath>>;
}

/// What a step makes of a file.
#[derive(Debug)]
pub struct Aftermath {
    /// The file, by its place in the list.
    pub file: usize,
    /// Who did it: the names of formatters.
    pub by: String,
    /// What the file is to hold instead; `None` if it is good as it is.
    pub text: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// What is wrong with the file; `None` if that was not looked for.
    pub verdict: Option<Verdict>,
}

/// What is wrong with a file since it was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The problems that were not there before, or the first of them.
    pub problems: Vec<Problem>,
    /// So many more there are.
    pub more: usize,
    /// Whether some of them may have been there before, because that could not be found out.
    pub may_be_old: bool,
}

/// A problem in a file. Lines and characters are counted from one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The line it begins in.
    pub line: u32,
    /// The character it begins at.
    pub character: u32,
    /// The line it ends in.
    pub end_line: u32,
    /// The character it ends before.
    pub end_character: u32,
    /// What is wrong, in the words of whoever found it.
    pub message: String,
    /// What it is known as.
    pub code: Option<String>,
    /// Who found it.
    pub source: Option<String>,
}

impl Problem {
    /// For people, as the protocol of language servers writes it.
    fn metadata(&self) -> Value {
        let place = |line: u32, character: u32| json!({ "line": line.saturating_sub(1), "character": character.saturating_sub(1) });
        let range = json!({
            "start": place(self.line, self.character),
            "end": place(self.end_line, self.end_character),
        });
        let mut metadata = json!({ "range": range, "severity": 1, "message": self.message });
        for (key, word) in [("code", &self.code), ("source", &self.source)] {
            if let Some(word) = word {
                metadata[key] = word.as_str().into();
            }
        }
        metadata
    }
}

/// What there is to say of a file after a step.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Remark {
    /// The step.
    pub(crate) step: String,
    /// The file.
    pub(crate) file: String,
    /// Who did it.
    pub(crate) name: String,
    /// Whether it changed the file.
    pub(crate) changed: bool,
    /// What it changed, as a unified diff, if that is short and may be read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) diff: String,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What is wrong with the file now, if the step looked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<Verdict>,
    /// The absolute path of the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
}

impl Remark {
    /// For people.
    pub(crate) fn metadata(&self) -> Value {
        let mut metadata = json!({ "name": self.name, "changed": self.changed });
        if let Some(error) = &self.error {
            metadata["error"] = error.as_str().into();
        }
        metadata
    }

    /// For the model: what its next change has to fit. Nothing, if the file is as it left it.
    pub(crate) fn told(&self) -> Option<String> {
        let Remark { step, file, name, .. } = self;
        if let Some(verdict) = &self.verdict {
            return self.judged(verdict);
        }
        let but =
            self.error.as_ref().map_or_else(String::new, |error| format!("\nNot all went well: {error}"));
        match (&self.error, self.changed, self.diff.is_empty()) {
            (_, true, false) => {
                Some(format!("The {step} {name} then changed {file}:\n{}{but}", self.diff.trim_end()))
            }
            (_, true, true) => {
                Some(format!("The {step} {name} then changed {file}; read it before you edit it again.{but}"))
            }
            (Some(error), false, _) => Some(format!("The {step} {name} left {file} as it is: {error}")),
            (None, false, _) => None,
        }
    }

    /// What is wrong with the file, or why that is not known. Nothing, if nothing is.
    fn judged(&self, verdict: &Verdict) -> Option<String> {
        let Remark { file, name, .. } = self;
        let Verdict { problems, more, may_be_old } = verdict;
        let unknown = self.error.as_ref().map(|error| {
            format!("Whether {file} has LSP errors now is not known, because {name} was of no help: {error}")
        });
        if problems.is_empty() {
            return unknown;
        }
        let heading = match may_be_old {
            false => format!("LSP errors detected in {file}, please fix:"),
            true => format!(
                "LSP errors detected in {file}; some may have been there before. Please fix what is new:"
            ),
        };
        let mut lines: Vec<String> = problems
            .iter()
            .map(|found| format!("ERROR [{}:{}] {}", found.line, found.character, found.message))
            .collect();
        if *more > 0 {
            lines.push(format!("... and {more} more"));
        }
        let path = haft::visible(&self.path);
        let block = format!("{heading}\n<diagnostics file=\"{path}\">\n{}\n</diagnostics>", lines.join("\n"));
        Some(unknown.into_iter().fold(block, |block, unknown| format!("{block}\n{unknown}")))
    }
}

/// What the model is told of all of them, to stand at the end of a result.
pub(crate) fn told(remarks: &[Remark]) -> String {
    remarks.iter().filter_map(Remark::told).map(|told| format!("\n\n{told}")).collect()
}

/// A result with what people are told of the only file.
pub(crate) fn shown(presented: Presented, remarks: &[Remark]) -> Presented {
    let made = remarks.iter().filter(|remark| remark.verdict.is_none());
    let presented = made.fold(presented, |presented, remark| presented.with(&remark.step, remark.metadata()));
    with_verdicts(presented, remarks)
}

/// A result with what people are told of each of several files: a list by step.
pub(crate) fn shown_by_file(presented: Presented, remarks: &[Remark]) -> Presented {
    let made = || remarks.iter().filter(|remark| remark.verdict.is_none());
    let mut steps: Vec<&str> = Vec::new();
    for remark in made() {
        if !steps.contains(&remark.step.as_str()) {
            steps.push(&remark.step);
        }
    }
    let presented = steps.into_iter().fold(presented, |presented, step| {
        let of_step = made().filter(|remark| remark.step == step);
        let by_file = of_step.map(|remark| {
            let mut metadata = remark.metadata();
            metadata["file"] = remark.file.as_str().into();
            metadata
        });
        presented.with(step, by_file.collect::<Vec<_>>())
    });
    with_verdicts(presented, remarks)
}

/// A result with what is wrong with files: a list by path, as opencode has it, and by path why that is not known.
fn with_verdicts(presented: Presented, remarks: &[Remark]) -> Presented {
    let (mut found, mut unknown) = (Map::new(), Map::new());
    for remark in remarks {
        let Some(verdict) = &remark.verdict else { continue };
        let problems: Vec<Value> = verdict.problems.iter().map(Problem::metadata).collect();
        found.insert(remark.path.clone(), problems.into());
        if let Some(error) = &remark.error {
            unknown.insert(remark.path.clone(), error.as_str().into());
        }
    }
    let of = |presented: Presented, key: &str, by_path: Map<String, Value>| match by_path.is_empty() {
        true => presented,
        false => presented.with(key, Value::Object(by_path)),
    };
    of(of(presented, "diagnostics", found), "diagnosticsUnknown", unknown)
}

#[cfg(test)]
mod tests;
