//! Retained outputs, opened by their address. What a session made it may look at; anything else lies outside.

use std::sync::{Mutex, PoisonError};

use haft::permission::{Ask, Gate, Question, Reach, Resource, Showing};
use haft::{ADDRESS, Action, OpenOutput, OutputId, OutputStore, Readable, ToolContext, ToolError};

/// A retained output that may be read.
pub(crate) struct Retained {
    /// Its address.
    pub(crate) address: String,
    /// Its bytes.
    pub(crate) reader: Box<dyn Readable>,
}

impl Retained {
    /// Opens an output, once leaving the session (if it is another's) and whatever else is asked was agreed to.
    pub(crate) async fn open(
        outputs: &dyn OutputStore,
        gate: &Gate,
        context: &ToolContext,
        id: &str,
        also: Vec<Question>,
    ) -> Result<Retained, ToolError> {
        let address = format!("{ADDRESS}{id}");
        let gone = || ToolError::Failure(format!("there is no output {id:?}: it is gone or has expired"));
        let id = OutputId::parse(id).map_err(|_| gone())?;
        let opened = outputs.open(&context.session, &id).await?;
        let OpenOutput { is_own, reader, .. } = opened.ok_or_else(gone)?;
        let target = OutputTarget { address, is_own, also, reader: Mutex::new(reader) };
        let OutputTarget { address, reader, .. } = gate.grant(context, target).await?.into_target();
        Ok(Retained { address, reader: reader.into_inner().unwrap_or_else(PoisonError::into_inner) })
    }
}

/// A retained output that is to be read.
struct OutputTarget {
    address: String,
    is_own: bool,
    also: Vec<Question>,
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
        (!self.is_own).then(leaving).into_iter().chain(self.also.iter().cloned()).collect()
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        let whose = if self.is_own { "an output" } else { "the output of another session" };
        Showing { title: format!("read {whose}, {}", self.address), detail: String::new() }
    }
}
