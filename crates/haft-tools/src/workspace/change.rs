//! Changes: what is approved holds the exact bytes of every file, so what was shown is what happens.

use std::path::PathBuf;
use std::sync::PoisonError;

use haft::permission::{Ask, Permit, Question, Reach, Showing};
use haft::{Action, CallId, Change, Image};

use super::Workspace;
use super::ask::{merged, questions};
use super::commit::{Entry, commit};
use super::digest::Digest;
use super::error::WorkspaceError;
use super::left::LeftFile;
use super::place::Place;
use super::protected::Protection;
use super::readied::Readied;
use super::vouching::Vouching;
use crate::blocking::blocking_to_the_end;

/// One file that is to be changed: what it holds, and what it is to hold.
#[derive(Debug)]
pub struct FileChange {
    place: Place,
    protection: Protection,
    before: Option<Image>,
    after: Option<Image>,
    made: usize,
    undoes: Vec<CallId>,
    unmakes: Vec<PathBuf>,
    /// Whether it only finishes what the call did to the file before.
    finishes: bool,
    diff: String,
}

impl FileChange {
    pub(super) fn new(
        place: Place,
        protection: Protection,
        before: Option<Image>,
        after: Option<Image>,
        diff: String,
    ) -> FileChange {
        let (made, undoes, unmakes) = (0, Vec::new(), Vec::new());
        FileChange { place, protection, before, after, made, undoes, unmakes, finishes: false, diff }
    }

    /// With so many directories that are missing right above it.
    pub(super) fn making(self, made: usize) -> FileChange {
        FileChange { made, ..self }
    }

    /// As the finish of what the call did to the file before, which was agreed to.
    pub(super) fn finishing(self) -> FileChange {
        FileChange { finishes: true, ..self }
    }

    /// The file as it is once the change is made; `None` if it is gone then.
    pub(crate) fn left(&self) -> Option<LeftFile> {
        let (place, protection, before) = (self.place.clone(), self.protection, self.before.clone());
        self.after.clone().map(|after| LeftFile { place, protection, before, after })
    }

    /// As undoing what these calls did to the file. The directories they made, innermost first, go with it if nothing
    /// else is in them.
    pub(crate) fn undoing(self, calls: Vec<CallId>, unmakes: Vec<PathBuf>) -> FileChange {
        FileChange { undoes: calls, unmakes, ..self }
    }

    /// As the only change of a set.
    pub fn alone(self, action: Action) -> ChangeSet {
        ChangeSet::new(action, vec![self])
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What the change does to the text, as a unified diff.
    pub fn diff(&self) -> &str {
        &self.diff
    }

    /// What stands there now; `None` if nothing does.
    pub fn before(&self) -> Option<&Image> {
        self.before.as_ref()
    }

    /// What is to stand there; `None` if nothing is.
    pub fn after(&self) -> Option<&Image> {
        self.after.as_ref()
    }

    /// Whether a person had to be asked because of where it is.
    pub(super) fn is_protected(&self) -> bool {
        self.protection == Protection::Protected
    }

    fn verb(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "create",
            (Some(_), Some(_)) => "replace",
            (Some(_), None) => "remove",
        }
    }

    fn journaled(&self) -> Change {
        Change {
            path: self.place.real().to_owned(),
            before: self.before.clone(),
            after: self.after.clone(),
            midway: self.before.as_ref().filter(|_| self.finishes).map(|image| image.digest.clone()),
            made: self.made,
            undoes: self.undoes.clone(),
        }
    }
}

/// Files that are changed together: all of them or none.
#[derive(Debug)]
pub struct ChangeSet {
    action: Action,
    files: Vec<FileChange>,
}

impl ChangeSet {
    /// The changes, under the action that their rules are filed under. Each file is in it once.
    pub fn new(action: Action, mut files: Vec<FileChange>) -> ChangeSet {
        // Everybody who changes several files does so in the same order.
        files.sort_by(|a, b| a.place.real().cmp(b.place.real()));
        ChangeSet { action, files }
    }

    /// The changes, by path.
    pub fn files(&self) -> &[FileChange] {
        &self.files
    }
}

impl Ask for ChangeSet {
    fn questions(&self) -> Vec<Question> {
        let asked_about = self.files.iter().filter(|file| !file.finishes);
        merged(asked_about.map(|file| questions(&file.place, file.protection, &self.action)))
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }

    fn changes(&self) -> Vec<Change> {
        self.files.iter().map(FileChange::journaled).collect()
    }

    fn show(&self) -> Showing {
        let title = match &self.files[..] {
            [file] => format!("{} {}", file.verb(), file.place.shown()),
            files => format!("change {} files together", files.len()),
        };
        let detail = match &self.files[..] {
            [file] => file.diff.clone(),
            files => files.iter().map(described).collect::<Vec<_>>().concat(),
        };
        Showing { title, detail }
    }
}

fn described(file: &FileChange) -> String {
    format!("{} {}\n{}", file.verb(), file.place.shown(), file.diff)
}

/// A file that cannot be changed, whatever is to be in it. It is asked about all the same: what stands in the way is
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

/// A file that was changed.
#[derive(Debug)]
pub struct Changed {
    /// Where.
    pub place: Place,
    /// The digest of what is in it now; `None` if it is gone.
    pub digest: Option<Digest>,
}

impl Workspace {
    /// A target for a place where nothing can be written.
    pub fn blocked(&self, place: Place, action: Action) -> BlockedTarget {
        BlockedTarget { protection: self.protection(&place), place, action }
    }

    /// Makes the changes that were approved, if every file still holds what they were planned on. A file is replaced as
    /// a whole: whoever reads it meanwhile, and whoever reads it after a crash, finds the old content or the new one.
    /// If one change fails, those before it are taken back.
    pub async fn change(&self, permit: Permit<ChangeSet>) -> Result<Vec<Changed>, WorkspaceError> {
        self.change_readied(permit, Readied::default()).await
    }

    /// The same with contents that are on the disk already.
    pub async fn change_readied(
        &self,
        permit: Permit<ChangeSet>,
        mut readied: Readied,
    ) -> Result<Vec<Changed>, WorkspaceError> {
        let workspace = self.clone();
        // It can be stopped until the first file is put in its place: a commit is done or not done.
        blocking_to_the_end(move |stop| {
            let ChangeSet { files, .. } = permit.into_target();
            let _alone = workspace.0.commits.lock().unwrap_or_else(PoisonError::into_inner);
            let entries = files.iter().map(|file| {
                let (root, relative) = workspace.root_of(file.place.real());
                Entry {
                    root,
                    relative,
                    shown: file.place.shown(),
                    before: file.before.as_ref(),
                    after: file.after.as_ref(),
                    ready: readied.take(file.place.real()),
                }
            });
            let vouching = Vouching::of(&workspace, &files)?;
            let mut committed = commit(entries.collect(), stop);
            if matches!(committed, Ok(()) | Err(WorkspaceError::NotDurable { .. })) {
                for directory in files.iter().flat_map(|file| &file.unmakes) {
                    let (root, relative) = workspace.root_of(directory);
                    root.remove_empty_directory(&relative);
                }
                committed = vouching.finish().and(committed);
            }
            committed?;
            files
                .iter()
                .filter_map(FileChange::after)
                .for_each(|image| workspace.0.last_written.remember(image));
            let changed = |file: FileChange| {
                let digest = file.after.as_ref().and_then(|image| Digest::parse(&image.digest));
                Changed { place: file.place, digest }
            };
            Ok(files.into_iter().map(changed).collect())
        })
        .await
    }
}
