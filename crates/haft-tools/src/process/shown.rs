//! What a model is shown of what a command printed.

use haft::Presented;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capture::{Captured, Whole};

/// What is shown, and where the whole is if that is more.
pub(crate) struct Shown {
    pub(crate) output: String,
    pub(crate) retained: Option<Retained>,
}

/// The whole of an output.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Retained {
    /// Its id.
    id: String,
    /// Its size.
    bytes: u64,
    /// Its lines.
    lines: u64,
    /// The file that holds it, where outputs are local files.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl From<Captured> for Shown {
    fn from(captured: Captured) -> Shown {
        let Captured { text, bytes, whole, is_binary } = captured;
        let output = match is_binary {
            true => described(bytes, &whole),
            false => text,
        };
        let retained = match whole {
            Whole::Shown => None,
            Whole::Retained(output) => Some(Retained {
                id: output.id.to_string(),
                bytes: output.bytes,
                lines: output.lines,
                path: output.path.map(|path| path.to_string_lossy().into_owned()),
            }),
        };
        Shown { output, retained }
    }
}

impl Retained {
    /// Says of what is presented where the whole is. So many bytes of it are shown.
    pub(crate) fn present(&self, presented: Presented, shown: usize) -> Presented {
        let presented = presented.with("originalSize", self.bytes).with("truncatedSize", shown);
        let presented = match &self.path {
            Some(path) => presented.with("outputPath", path.as_str()),
            None => presented,
        };
        match haft::OutputId::parse(&self.id) {
            Ok(id) => presented.retaining(haft::Output {
                id,
                bytes: self.bytes,
                lines: self.lines,
                path: self.path.as_ref().map(Into::into),
            }),
            Err(_) => presented,
        }
    }
}

/// Binary output is not shown; it is said where it is.
fn described(bytes: u64, whole: &Whole) -> String {
    match whole {
        Whole::Shown => format!("(binary output, {bytes} bytes)"),
        Whole::Retained(output) => format!("(binary output, {bytes} bytes, saved to: {})", output.address()),
    }
}
