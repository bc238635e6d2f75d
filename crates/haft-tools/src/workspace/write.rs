//! Writing: the target that is approved holds the exact bytes, so what was shown is what happens.

use std::sync::PoisonError;

use haft::permission::{Ask, Permit, Question, Reach, Showing};
use haft::{Action, Intent};

use super::Workspace;
use super::ask::questions;
use super::commit::commit;
use super::digest::Digest;
use super::error::WorkspaceError;
use super::place::Place;
use super::protected::Protection;
use crate::blocking::blocking;

/// A file that is to be written, with what is to be in it.
#[derive(Debug)]
pub struct WriteTarget {
    place: Place,
    protection: Protection,
    action: Action,
    bytes: Vec<u8>,
    digest: Digest,
    expected: Option<Digest>,
    diff: String,
}

/// A file that cannot be written, whatever is to be in it. It is asked about all the same: what stands in the way is
/// told only to those who may write there.
#[derive(Debug)]
pub struct BlockedTarget {
    place: Place,
    protection: Protection,
    action: Action,
}

impl Ask for BlockedTarget {
    fn questions(&self) -> Vec<Question> {
        questions(&self.place, self.protection, &self.action)
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing { title: format!("write {}", self.place.shown()), detail: String::new() }
    }
}

/// A file that was written.
#[derive(Debug)]
pub struct Written {
    /// Where.
    pub place: Place,
    /// The digest of what is in it now.
    pub digest: Digest,
}

impl WriteTarget {
    pub(super) fn new(
        place: Place,
        protection: Protection,
        action: Action,
        bytes: Vec<u8>,
        expected: Option<Digest>,
        diff: String,
    ) -> WriteTarget {
        WriteTarget { digest: Digest::of(&bytes), place, protection, action, bytes, expected, diff }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What the change does to the text, as a unified diff.
    pub fn diff(&self) -> &str {
        &self.diff
    }

    /// The digest of what was there when the change was planned; `None` if nothing was.
    pub fn expected(&self) -> Option<&Digest> {
        self.expected.as_ref()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What is announced before anything is touched, and what temporary files are named by.
    pub(super) fn intent(&self) -> Intent {
        Intent {
            path: self.place.real().to_owned(),
            before: self.expected.as_ref().map(Digest::to_string),
            after: Some(self.digest.to_string()),
        }
    }
}

impl Ask for WriteTarget {
    fn questions(&self) -> Vec<Question> {
        questions(&self.place, self.protection, &self.action)
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }

    fn intents(&self) -> Vec<Intent> {
        vec![self.intent()]
    }

    fn show(&self) -> Showing {
        let verb = if self.expected.is_some() { "replace" } else { "create" };
        Showing { title: format!("{verb} {}", self.place.shown()), detail: self.diff.clone() }
    }
}

impl Workspace {
    /// A target for a place where nothing can be written.
    pub fn blocked(&self, place: Place, action: Action) -> BlockedTarget {
        BlockedTarget { protection: self.protection(&place), place, action }
    }

    /// Writes what was approved, if what it replaces is still what it was planned on. A file is replaced as a whole:
    /// whoever reads it meanwhile, and whoever reads it after a crash, finds the old content or the new one.
    pub async fn write(&self, permit: Permit<WriteTarget>) -> Result<Written, WorkspaceError> {
        let workspace = self.clone();
        // Once begun it is not stopped: a commit is done or not done.
        blocking(move |_| {
            let target = permit.into_target();
            let _alone = workspace.0.commits.lock().unwrap_or_else(PoisonError::into_inner);
            let (root, relative) = workspace.root_of(target.place.real());
            commit(root, &relative, &target)?;
            Ok(Written { place: target.place, digest: target.digest })
        })
        .await
    }
}
