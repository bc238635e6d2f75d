//! Text that is sent to a job. A job may be a shell or another interpreter, so this is as much as to run a script.

use std::io;
use std::sync::Arc;

use haft::permission::{Allowed, Ask, Permit, Question, Reach, Resource, Showing};
use haft::visible;

use super::Job;
use crate::blocking::blocking;

/// Text for a job. Whoever agrees to it agrees that the job is sent exactly this.
pub(crate) struct Typed {
    job: Arc<Job>,
    text: String,
    closes: bool,
}

/// What came of sending.
pub(crate) struct Sent {
    /// So many bytes were taken.
    pub(crate) bytes: usize,
}

impl Typed {
    pub(crate) fn new(job: Arc<Job>, text: String, closes: bool) -> Typed {
        Typed { job, text, closes }
    }

    /// Sends what was agreed to.
    pub(crate) async fn send(permit: Permit<Typed>) -> io::Result<Sent> {
        let Typed { job, text, closes } = permit.into_target();
        blocking(move |_| {
            let bytes = job.send(text.as_bytes())?;
            // What was not taken would be cut off.
            if closes && bytes == text.len() {
                job.close_input()?;
            }
            Ok(Sent { bytes })
        })
        .await
    }
}

impl Ask for Typed {
    /// Nobody knows what the program makes of it, nor what was sent before it: no pattern but `*` allows it, and a rule
    /// that denies some command might mean it.
    fn questions(&self) -> Vec<Question> {
        let resource = Resource::new(&self.text).allowed(Allowed::ByEverythingOnly).beginning("");
        vec![Question::new(crate::shell::action(), resource)]
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }

    fn show(&self) -> Showing {
        let title = format!("send to {}: {}", self.job.id(), visible(self.job.command()));
        Showing { title, detail: self.text.clone() }
    }
}
