//! How every tool that changes files does it: plan on what stands there, ask, commit, and plan anew if somebody else
//! was quicker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::permission::{Ask, Effect, Gate, Question};
use haft::{Action, Memory, ToolContext, ToolError};

use crate::seen;
use crate::services::ToolServices;
use crate::workspace::{ChangeSet, Draft, Place, Workspace, WorkspaceError};

/// Every tool that changes files asks under this action.
const ACTION: &str = "edit";
/// If somebody else changes a file in between, a change that nobody is asked about is planned anew, so many times.
const ATTEMPTS_MAX: usize = 64;

/// How much of a file a draft holds.
#[derive(Clone, Copy)]
pub(crate) enum Hold {
    /// What a difference can be shown of.
    Enough,
    /// All of it, or the file is refused.
    Whole,
}

fn paths(changes: &ChangeSet) -> impl Iterator<Item = &Path> {
    changes.files().iter().map(|file| file.place().real())
}

/// Changes files of one location.
pub(crate) struct Changing {
    pub(crate) workspace: Workspace,
    pub(crate) gate: Gate,
    memory: Arc<dyn Memory>,
    require_read: bool,
}

impl Changing {
    pub(crate) fn new(services: &ToolServices) -> Changing {
        let ToolServices { workspace, gate, memory, require_read, .. } = services.clone();
        Changing { workspace, gate, memory, require_read }
    }

    pub(crate) fn action(&self) -> Action {
        Action::new(ACTION)
    }

    /// What stands at a place, if the session may change it: what it saw last must still be there.
    pub(crate) async fn draft(
        &self,
        place: &Place,
        hold: Hold,
        context: &ToolContext,
    ) -> Result<Draft, ToolError> {
        // What another call of this session is just writing is not yet known to have been seen.
        let _alone = self.workspace.alone().await;
        let draft = match hold {
            Hold::Enough => self.workspace.draft(place.clone()).await?,
            Hold::Whole => self.workspace.draft_whole(place.clone()).await?,
        };
        if let Some(standing) = draft.standing() {
            seen::check(&*self.memory, context, draft.place(), &standing.digest, self.require_read).await?;
        }
        Ok(draft)
    }

    /// Makes the changes that are planned, after consent. The plan is made anew if a file changed in between, unless a
    /// person agreed to exactly the plan that no longer holds.
    pub(crate) async fn make<T, F>(
        &self,
        context: &ToolContext,
        plan: impl Fn() -> F + Send + Sync,
    ) -> Result<T, ToolError>
    where
        F: Future<Output = Result<(ChangeSet, T), ToolError>> + Send,
        T: Send,
    {
        let mut attempt = 1;
        let (mut changes, mut outcome) = plan().await?;
        loop {
            let questions = changes.questions();
            let announced: Vec<PathBuf> = paths(&changes).map(Path::to_owned).collect();
            let changed = match self.commit(changes, context).await? {
                Ok(()) => return Ok(outcome),
                Err(changed) => changed,
            };
            if attempt == ATTEMPTS_MAX || !self.is_allowed(&questions, context).await? {
                return Err(changed.into());
            }
            (changes, outcome) = plan().await?;
            // The journal holds what was announced: a call that completes has changed all of it.
            if !announced.iter().all(|path| paths(&changes).any(|planned| planned == path)) {
                return Err(changed.into());
            }
            attempt += 1;
        }
    }

    /// Says what is in the way of changing a place, after consent: whoever may not change a file learns nothing of it.
    pub(crate) async fn tell(
        &self,
        place: &Place,
        in_the_way: impl Into<ToolError>,
        context: &ToolContext,
    ) -> ToolError {
        let blocked = self.workspace.blocked(place.clone(), self.action());
        match self.gate.grant(context, blocked).await {
            Ok(_) => in_the_way.into(),
            Err(refused) => refused,
        }
    }

    /// Whether nobody would have to be asked.
    pub(crate) async fn is_allowed(
        &self,
        questions: &[Question],
        context: &ToolContext,
    ) -> Result<bool, ToolError> {
        for question in questions {
            let decisions = self.gate.decisions(context, question).await?;
            if decisions.iter().any(|decision| decision.effect != Effect::Allow) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Asks, and makes the changes that were agreed to; within, that a file changed since they were planned.
    async fn commit(
        &self,
        changes: ChangeSet,
        context: &ToolContext,
    ) -> Result<Result<(), WorkspaceError>, ToolError> {
        let permit = self.gate.grant(context, changes).await?;
        let _alone = self.workspace.alone().await;
        let changed = match self.workspace.change(permit).await {
            Err(changed @ WorkspaceError::Changed { .. }) => return Ok(Err(changed)),
            changed => changed?,
        };
        for file in changed {
            if let Some(digest) = &file.digest {
                seen::note(&*self.memory, context, &file.place, digest).await?;
            }
        }
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::testing::{Bench, run};

    #[test]
    fn a_plan_made_anew_without_a_file_that_was_announced_is_not_carried_out() {
        let bench = Bench::new();
        bench.file("a.txt", "a");
        bench.file("b.txt", "b");
        let (changing, context) = (Changing::new(&bench.services), bench.context());
        let attempts = AtomicUsize::new(0);
        let plan = || async {
            let is_first = attempts.fetch_add(1, Ordering::Relaxed) == 0;
            let mut files = Vec::new();
            for name in if is_first { &["a.txt", "b.txt"][..] } else { &["b.txt"] } {
                let place = changing.workspace.resolve(name)?;
                let draft = changing.draft(&place, Hold::Enough, &context).await?;
                files.push(draft.replace("new")?);
            }
            if is_first {
                bench.file("a.txt", "somebody else's");
            }
            Ok::<_, ToolError>((ChangeSet::new(changing.action(), files), ()))
        };
        let made = run(changing.make(&context, plan));
        assert!(matches!(made, Err(ToolError::Failure(why)) if why.contains("a.txt")));
        assert_eq!((bench.text("b.txt").as_str(), attempts.into_inner()), ("b", 2));
    }
}
