//! What is done after files were changed: a list of steps, each of which may finish a file or find something about it.
//!
//! A step is given time and cannot fail the call: the change stands, and the result says what came of the step.

use haft::{BoxFuture, Presented};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::workspace::LeftFile;

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
        match (&self.error, self.changed, self.diff.is_empty()) {
            (_, true, false) => {
                Some(format!("The {step} {name} then changed {file}:\n{}", self.diff.trim_end()))
            }
            (_, true, true) => {
                Some(format!("The {step} {name} then changed {file}; read it before you edit it again."))
            }
            (Some(error), false, _) => Some(format!("The {step} {name} left {file} as it is: {error}")),
            (None, false, _) => None,
        }
    }
}

/// What the model is told of all of them, to stand at the end of a result.
pub(crate) fn told(remarks: &[Remark]) -> String {
    remarks.iter().filter_map(Remark::told).map(|told| format!("\n\n{told}")).collect()
}

/// A result with what people are told of the only file.
pub(crate) fn shown(presented: Presented, remarks: &[Remark]) -> Presented {
    remarks.iter().fold(presented, |presented, remark| presented.with(&remark.step, remark.metadata()))
}

/// A result with what people are told of each of several files: a list by step.
pub(crate) fn shown_by_file(presented: Presented, remarks: &[Remark]) -> Presented {
    let mut steps: Vec<&str> = Vec::new();
    for remark in remarks {
        if !steps.contains(&remark.step.as_str()) {
            steps.push(&remark.step);
        }
    }
    steps.into_iter().fold(presented, |presented, step| {
        let of_step = remarks.iter().filter(|remark| remark.step == step);
        let by_file = of_step.map(|remark| {
            let mut metadata = remark.metadata();
            metadata["file"] = remark.file.as_str().into();
            metadata
        });
        presented.with(step, by_file.collect::<Vec<_>>())
    })
}

#[cfg(test)]
mod tests;
