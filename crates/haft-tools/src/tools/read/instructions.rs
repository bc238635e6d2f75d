//! Instructions that a project keeps beside its files: given to a session once, with the first file read below them.

use std::io::Read as _;
use std::path::Path;

use haft::permission::{Ask, Effect, strictest};
use haft::{Action, ToolContext, ToolError, Topic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ACTION, Read};
use crate::blocking::blocking;
use crate::encoding::{Encoding, Extent, recognize};
use crate::workspace::{Kind, Opened, Place, ReadTarget};

/// In each directory the first of these counts.
const NAMES: &[&str] = &["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
/// Longer instructions are cut, and say so.
const BYTES_MAX: u64 = 32 << 10;

/// Instructions, with the file they stand in.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Instructions {
    /// The absolute path of the file.
    pub(super) path: String,
    /// What it says.
    pub(super) content: String,
}

impl Read {
    /// The instructions between a file and the working directory, nearest first, that the session was not given yet.
    pub(super) async fn instructions(
        &self,
        read: &Place,
        context: &ToolContext,
    ) -> Result<Vec<Instructions>, ToolError> {
        let root = self.workspace.directory().to_owned();
        let below = |directory: &&Path| directory.starts_with(&root) && *directory != root;
        let directories = read.real().ancestors().skip(1).take_while(below);
        let mut loaded = Vec::new();
        for place in directories.filter_map(|directory| self.kept_in(directory)) {
            if place.real() != read.real() {
                loaded.extend(self.load(place, context).await?);
            }
        }
        Ok(loaded)
    }

    /// The instructions of one directory. A link that leads out of the workspace is none.
    fn kept_in(&self, directory: &Path) -> Option<Place> {
        let mut candidates = NAMES.iter().filter_map(|name| {
            let path = directory.join(name);
            self.workspace.resolve(path.to_str()?).ok()
        });
        candidates.find(|place| place.kind() == Kind::File && place.is_inside())
    }

    /// Reads instructions, if that needs nobody's consent and the session has not seen them.
    async fn load(&self, place: Place, context: &ToolContext) -> Result<Option<Instructions>, ToolError> {
        let path = place.spelled_text();
        let topic = Topic::new("instructions", path.as_str());
        if self.memory.recall(&context.session, &topic).await?.is_some() {
            return Ok(None);
        }
        let target = ReadTarget::new(place, Action::new(ACTION));
        for question in target.questions() {
            if strictest(&self.gate.decisions(context, &question).await?) != Effect::Allow {
                return Ok(None);
            }
        }
        let permit = self.gate.grant(context, target).await?;
        // Instructions that cannot be read are as good as none: the file that was asked for was read.
        let Ok(Opened::File(file)) = self.workspace.read(permit).await else { return Ok(None) };
        let Some(content) = blocking(move |_| content_of(file.into_file())).await else { return Ok(None) };
        // Of two calls that come here at once, only one finds nothing remembered.
        let before = self.memory.remember(&context.session, &topic, &Value::Bool(true)).await?;
        Ok(before.is_none().then_some(Instructions { path, content }))
    }
}

fn content_of(file: std::fs::File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    let is_cut = bytes.len() as u64 > BYTES_MAX;
    bytes.truncate(BYTES_MAX as usize);
    let encoding = recognize(&bytes, if is_cut { Extent::Start } else { Extent::Whole });
    let mut content = Encoding::without_bom(&encoding.show(&bytes).0).to_owned();
    if is_cut {
        content.push_str("\n(The rest is left out; read the file for it.)");
    }
    Some(content)
}
