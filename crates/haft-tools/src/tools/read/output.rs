//! Retained outputs, read like files by their address.

use haft::{ToolContext, ToolError};

use super::page::{PageError, Window, page};
use super::{Body, Output, Read};
use crate::blocking::blocking;
use crate::retained::Retained;

impl Read {
    /// Reads a part of a retained output.
    pub(super) async fn retained(
        &self,
        id: &str,
        window: Window,
        context: &ToolContext,
    ) -> Result<Output, ToolError> {
        let Retained { address, reader } =
            Retained::open(&*self.outputs, &self.gate, context, id, Vec::new()).await?;
        let shown = blocking(move |stop| page(reader, window, stop));
        match shown.await {
            Ok(page) => Ok(Output {
                path: address.clone(),
                name: address,
                body: Body::File(page),
                loaded: Vec::new(),
            }),
            Err(error @ (PageError::OutOfRange { .. } | PageError::TooFar { .. } | PageError::Changed)) => {
                Err(ToolError::Failure(error.to_string()))
            }
            Err(PageError::Io(error)) => {
                Err(ToolError::Failure(format!("could not read {address}: {error}")))
            }
        }
    }
}
