//! How every tool that changes files does it: plan on what stands there, ask, commit, and plan anew if somebody else
//! was quicker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::permission::{Ask, Consent, Effect, Gate, Question};
use haft::{Action, Memory, ToolContext, ToolError};

use crate::after::{AfterChange, Aftermath, Remark, Verdict};
use crate::blocking::blocking;
use crate::seen;
use crate::services::ToolServices;
use crate::workspace::{
    ChangeSet, Draft, FileChange, Hold, LeftFile, Place, ReadTarget, Workspace, WorkspaceError,
};

/// Every tool that changes files asks under this action.
const ACTION: &str = "edit";
/// If somebody else changes a file in between, a change that nobody is asked about is planned anew, so many times.
const ATTEMPTS_MAX: usize = 64;
/// What is shown of a file is shown under this action.
const READ_ACTION: &str = "read";
/// The model is shown what a later step changed if it is no longer than this; otherwise it reads the file.
const SHOWN_DIFF_BYTES_MAX: usize = 2 << 10;

fn paths(changes: &ChangeSet) -> impl Iterator<Item = &Path> {
    changes.files().iter().map(|file| file.place().real())
}

/// Changes files of one location.
pub(crate) struct Changing {
    pub(crate) workspace: Workspace,
    pub(crate) gate: Gate,
    memory: Arc<dyn Memory>,
    require_read: bool,
    after: Arc<[Arc<dyn AfterChange>]>,
}

/// What came of changes that were agreed to.
enum Committed {
    Made,
    /// They stand, but may not last, or it could not be noted that the session knows of them.
    Doubtful(ToolError),
    NotMade(WorkspaceError),
}

/// What was changed, and what came after.
pub(crate) struct Made<T> {
    /// What the plan says of it.
    pub(crate) outcome: T,
    /// What there is to say of the steps that followed.
    pub(crate) remarks: Vec<Remark>,
    /// What was changed in all, as a unified diff, of each file that a step has changed further; by canonical path.
    pub(crate) diffs: Vec<(PathBuf, String)>,
}

impl Changing {
    pub(crate) fn new(services: &ToolServices) -> Changing {
        let ToolServices { workspace, gate, memory, require_read, after, .. } = services.clone();
        Changing { workspace, gate, memory, require_read, after }
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
        self.draft_and(place, hold, context, |draft| draft).await
    }

    /// The same, and what can be planned on it; where the file is read, so that no thread has to be changed for it.
    pub(crate) async fn draft_and<T: Send + 'static>(
        &self,
        place: &Place,
        hold: Hold,
        context: &ToolContext,
        plan: impl FnOnce(Draft) -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        // What another call of this session is just writing is not yet known to have been seen.
        let _alone = self.workspace.alone().await;
        let (workspace, at) = (self.workspace.clone(), place.clone());
        let (digest, planned) = blocking(move |_| {
            let draft = workspace.draft_now(at, hold)?;
            let digest = draft.standing().map(|image| image.digest.clone());
            Ok::<_, WorkspaceError>((digest, plan(draft)))
        })
        .await?;
        if let Some(digest) = digest {
            seen::check(&*self.memory, context, place, &digest, self.require_read).await?;
        }
        Ok(planned)
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
        self.make_all(context, plan).await.map(|(outcome, _)| outcome)
    }

    /// Makes the changes that are planned, and then takes the steps that follow a change. None of them can make the call
    /// fail: the change stands.
    pub(crate) async fn make_and_follow<T, F>(
        &self,
        context: &ToolContext,
        plan: impl Fn() -> F + Send + Sync,
    ) -> Result<Made<T>, ToolError>
    where
        F: Future<Output = Result<(ChangeSet, T), ToolError>> + Send,
        T: Send,
    {
        let (outcome, mut files) = self.make_all(context, plan).await?;
        let mut made = Made { outcome, remarks: Vec::new(), diffs: Vec::new() };
        for step in &*self.after {
            for aftermath in step.follow(&files).await {
                let (remark, finished) = self.finish(step.name(), &files, aftermath, context).await;
                made.remarks.push(remark);
                if let Some((at, finished)) = finished {
                    let path = finished.place().real().to_owned();
                    made.diffs.retain(|(known, _)| *known != path);
                    made.diffs.push((path, finished.change()));
                    files[at] = finished;
                }
            }
        }
        Ok(made)
    }

    /// Gives a file the finish that a step found for it, unless somebody else has changed it since.
    async fn finish(
        &self,
        step: &str,
        files: &[LeftFile],
        aftermath: Aftermath,
        context: &ToolContext,
    ) -> (Remark, Option<(usize, LeftFile)>) {
        let Aftermath { file: at, by, text, mut error, mut verdict } = aftermath;
        let file = &files[at];
        let reading = ReadTarget::new(file.place().clone(), Action::new(READ_ACTION));
        // Nothing is shown to somebody who is not known to be allowed to see it.
        let may_read = self.is_allowed(&reading.questions(), context).await.unwrap_or(false);
        let (mut diff, mut finished) = (String::new(), None);
        if let Some(text) = text {
            let change = file.finish(text);
            if may_read && change.diff().len() <= SHOWN_DIFF_BYTES_MAX {
                change.diff().clone_into(&mut diff);
            }
            match self.commit_finish(file, change, context).await {
                Ok((left, doubt)) => {
                    finished = Some((at, left));
                    error = doubt.or(error);
                }
                Err(why) => error = Some(why.to_string()),
            }
        }
        let changed = finished.is_some();
        if !may_read {
            // What a program says of a file may be what is in it.
            error = error.map(|_| "it failed".to_owned());
            verdict = verdict.map(|_| Verdict::default());
        }
        let (step, path) = (step.to_owned(), file.place().spelled_text());
        let file = file.place().shown();
        let diff = if changed { diff } else { String::new() };
        (Remark { step, file, name: by, changed, diff, error, verdict, path }, finished)
    }

    /// Returns also whether there is doubt that it lasts.
    async fn commit_finish(
        &self,
        file: &LeftFile,
        change: FileChange,
        context: &ToolContext,
    ) -> Result<(LeftFile, Option<String>), ToolError> {
        let finished = file.finished(&change);
        match self.commit(change.alone(self.action()), context).await? {
            Committed::Made => Ok((finished, None)),
            Committed::Doubtful(doubt) => Ok((finished, Some(doubt.to_string()))),
            Committed::NotMade(error) => Err(error.into()),
        }
    }

    /// Makes the changes. Returns also the files as they are left, if anything follows.
    async fn make_all<T, F>(
        &self,
        context: &ToolContext,
        plan: impl Fn() -> F + Send + Sync,
    ) -> Result<(T, Vec<LeftFile>), ToolError>
    where
        F: Future<Output = Result<(ChangeSet, T), ToolError>> + Send,
        T: Send,
    {
        let mut attempt = 1;
        let (mut changes, mut outcome) = plan().await?;
        loop {
            let questions = changes.questions();
            let announced: Vec<PathBuf> = paths(&changes).map(Path::to_owned).collect();
            let left = match self.after.is_empty() {
                true => Vec::new(),
                false => changes.files().iter().filter_map(FileChange::left).collect(),
            };
            let changed = match self.commit(changes, context).await? {
                Committed::Made => return Ok((outcome, left)),
                Committed::Doubtful(doubt) => return Err(doubt),
                Committed::NotMade(changed @ WorkspaceError::Changed { .. }) => changed,
                Committed::NotMade(error) => return Err(error.into()),
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

    /// Asks, and makes the changes that were agreed to.
    async fn commit(&self, changes: ChangeSet, context: &ToolContext) -> Result<Committed, ToolError> {
        let ready = |consent: Consent<'_, ChangeSet>| self.workspace.ready(&consent);
        let (permit, readied) = self.gate.grant_readying(context, changes, ready).await?;
        let _alone = self.workspace.alone().await;
        let changed = match self.workspace.change_readied(permit, readied).await {
            Ok(changed) => changed,
            Err(doubt @ WorkspaceError::NotDurable { .. }) => return Ok(Committed::Doubtful(doubt.into())),
            Err(error) => return Ok(Committed::NotMade(error)),
        };
        for file in changed {
            if let Some(digest) = &file.digest
                && let Err(forgotten) = seen::note(&*self.memory, context, &file.place, digest).await
            {
                return Ok(Committed::Doubtful(forgotten.into()));
            }
        }
        Ok(Committed::Made)
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
