//! The tool `read`: text with line numbers, directories, images and documents, retained outputs.

mod body;
mod image;
mod index;
mod indexes;
mod instructions;
mod kind;
mod listing;
mod missing;
mod model;
mod output;
mod page;
mod scan;
mod show;

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::Gate;
use haft::{ADDRESS, Action, Encoded, Executor, Memory, OutputStore, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::seen;
use crate::services::ToolServices;
use crate::workspace::{Opened, OpenedDirectory, OpenedFile, Place, ReadTarget, Workspace};
use body::Reading;
use indexes::Indexes;
use instructions::Instructions;
use listing::Listing;
use page::{Page, Window};

pub(crate) use image::{ImageLimits, Scale, fitting};
pub(crate) use kind::media_type;
pub(crate) use model::check_pages;

const ACTION: &str = "read";

/// Reads a file or a directory.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The path of the file or directory to read: absolute, or relative to the working directory.
    file_path: String,
    /// The line, or entry of a directory, to start from. The first is 1.
    offset: Option<u64>,
    /// How many lines or entries to read at most; 2000 if left out.
    limit: Option<u64>,
}

impl Input {
    fn window(&self) -> Window {
        Window::new(self.offset, self.limit)
    }
}

/// What was read.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// The absolute path as it was spelled, or the address of a retained output.
    path: String,
    /// The path relative to the root of the project.
    name: String,
    /// What was there.
    body: Body,
    /// Instructions that hold for files beside the one that was read, and that the session had not been given.
    loaded: Vec<Instructions>,
}

/// What was found at a path.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Body {
    /// A part of a text.
    File(Page),
    /// A part of a directory's entries.
    Directory(Listing),
    /// An image or a document.
    Media {
        /// Its media type.
        mime: String,
        /// Its bytes, in base64.
        data: String,
        /// How large an image is, and how large it is shown.
        scale: Option<Scale>,
    },
}

pub(crate) struct Read {
    workspace: Workspace,
    gate: Gate,
    outputs: Arc<dyn OutputStore>,
    memory: Arc<dyn Memory>,
    images: ImageLimits,
    indexes: Arc<Indexes>,
}

impl Read {
    pub(crate) fn new(services: &ToolServices) -> Read {
        let ToolServices { workspace, gate, outputs, memory, .. } = services.clone();
        let images = ImageLimits { bytes_max: services.media_bytes_max, side_max: services.image_side_max };
        let indexes = Arc::new(Indexes::new(services.cache.as_deref()));
        Read { workspace, gate, outputs, memory, images, indexes }
    }

    async fn file(&self, file: OpenedFile, window: Window, cx: &ToolContext) -> Result<Output, ToolError> {
        let place = file.place().clone();
        let (images, indexes) = (self.images, self.indexes.clone());
        let (body, digest) =
            blocking(move |stop| Reading { window, images, indexes: &indexes, stop }.body(file)).await?;
        if let Some(digest) = digest {
            seen::note(&*self.memory, cx, &place, &digest).await?;
        }
        let loaded = self.instructions(&place, cx).await?;
        Ok(found(&place, body, loaded))
    }
}

async fn directory(opened: OpenedDirectory, window: Window) -> Result<Output, ToolError> {
    let place = opened.place().clone();
    let listing = blocking(move |_| opened.entries().map(|entries| Listing::of(&entries, window))).await?;
    Ok(found(&place, Body::Directory(listing), Vec::new()))
}

fn found(place: &Place, body: Body, loaded: Vec<Instructions>) -> Output {
    Output { path: place.spelled_text(), name: place.name().to_owned(), body, loaded }
}

impl Executor for Read {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("path", "filePath"), ("file_path", "filePath"), ("filepath", "filePath")];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("read.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        if let Some(id) = input.file_path.strip_prefix(ADDRESS) {
            return self.retained(id, input.window(), context).await;
        }
        let place = self.workspace.resolve(&input.file_path)?;
        let permit = self.gate.grant(context, ReadTarget::new(place, Action::new(ACTION))).await?;
        match self.workspace.read(permit).await? {
            Opened::File(file) => self.file(file, input.window(), context).await,
            Opened::Directory(opened) => directory(opened, input.window()).await,
            Opened::Missing { place, neighbours } => {
                Err(ToolError::Failure(missing::message(&input.file_path, &place, &neighbours)))
            }
        }
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        show::present(output)
    }
}

#[cfg(test)]
mod tests;
