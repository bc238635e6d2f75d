//! Retained outputs, read like files by their address.

use std::sync::{Mutex, PoisonError};

use haft::permission::{Ask, Question, Reach, Resource, Showing};
use haft::{ADDRESS, Action, OpenOutput, OutputId, Readable, ToolContext, ToolError};

use super::page::{PageError, Window, page};
use super::{Body, Output, Read};
use crate::blocking::blocking;

/// A retained output that is to be read.
struct OutputTarget {
    address: String,
    is_own: bool,
    /// Behind a lock only because consent may be asked for from any thread.
    reader: Mutex<Box<dyn Readable>>,
}

impl Ask for OutputTarget {
    /// What a session made it may read. Anything else lies outside its workspace.
    fn questions(&self) -> Vec<Question> {
        let leaving = || {
            Question::new(Action::new("external_directory"), Resource::new(&self.address))
                .saving(&self.address)
        };
        (!self.is_own).then(leaving).into_iter().collect()
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing {
            title: format!("read the output of another session, {}", self.address),
            detail: String::new(),
        }
    }
}

impl Read {
    /// Reads a part of a retained output.
    pub(super) async fn retained(
        &self,
        id: &str,
        window: Window,
        context: &ToolContext,
    ) -> Result<Output, ToolError> {
        let address = format!("{ADDRESS}{id}");
        let gone = || ToolError::Failure(format!("there is no output {id:?}: it is gone or has expired"));
        let id = OutputId::parse(id).map_err(|_| gone())?;
        let opened = self.outputs.open(&context.session, &id).await?;
        let OpenOutput { is_own, reader, .. } = opened.ok_or_else(gone)?;
        let target = OutputTarget { address: address.clone(), is_own, reader: Mutex::new(reader) };
        let permit = self.gate.grant(context, target).await?;
        let shown = blocking(move |stop| {
            let reader = permit.into_target().reader.into_inner().unwrap_or_else(PoisonError::into_inner);
            page(reader, window, stop)
        });
        match shown.await {
            Ok(page) => Ok(Output {
                path: address.clone(),
                name: address,
                body: Body::File(page),
                loaded: Vec::new(),
            }),
            Err(error @ (PageError::OutOfRange { .. } | PageError::TooFar { .. })) => {
                Err(ToolError::Failure(error.to_string()))
            }
            Err(PageError::Io(error)) => {
                Err(ToolError::Failure(format!("could not read {address}: {error}")))
            }
        }
    }
}
