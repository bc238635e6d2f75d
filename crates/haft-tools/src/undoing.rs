//! Undoing: from what the journal says of calls, and what stands in the files, to the changes that take them back.
//!
//! A file that holds what the calls left in it is restored. One that was changed since is left alone, and what was
//! changed is shown.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::{CallId, Change, IMAGE_BYTES_KEPT, Image, Journal, Journaled, ToolError};

use crate::blocking::blocking;
use crate::workspace::{Draft, FileChange, Place, Workspace, WorkspaceError, difference, digest_of};

/// Why a file is not found whose path was not given exactly.
const PATH_LOST: &str =
    "its path holds a secret and cannot be told any longer; `haft doctor` says whether a key is gone";

/// What undoing some calls comes to.
pub struct UndoPlan {
    /// The files that are taken back.
    pub files: Vec<FileChange>,
    /// The files that are left as they are.
    pub refused: Vec<RefusedFile>,
}

/// A file that is not restored.
pub struct RefusedFile {
    /// Where it is, if that could be found out.
    pub place: Option<Place>,
    /// Its name.
    pub name: String,
    /// Why.
    pub why: String,
    /// What was changed since, as a unified diff.
    pub diff: String,
}

/// Plans to undo calls, the newest first. Fails if there is nothing that they changed and that still stands.
pub async fn plan_undo(
    workspace: &Workspace,
    journal: &dyn Journal,
    calls: &[CallId],
) -> Result<UndoPlan, ToolError> {
    let mut newest_first = calls.to_vec();
    newest_first.sort_by(|a, b| b.cmp(a));
    newest_first.dedup();
    let mut by_path: BTreeMap<PathBuf, Vec<Journaled>> = BTreeMap::new();
    let mut undone = None;
    for call in &newest_first {
        let changes = journal.changes(call).await?;
        if changes.is_empty() {
            return Err(ToolError::failure(format!(
                "{call} changed no files that haft keeps a journal of, or there is no such call"
            )));
        }
        for change in changes {
            match change.undone_by {
                Some(by) => undone = Some(format!("{call} was undone already, by {by}")),
                None => by_path.entry(change.change.path.clone()).or_default().push(change),
            }
        }
    }
    let mut plan = UndoPlan { files: Vec::new(), refused: Vec::new() };
    for (path, changes) in by_path {
        match plan_file(workspace, &path, &changes).await {
            Ok(Some(change)) => plan.files.push(change),
            Ok(None) => {}
            Err(Trouble::Refused(refused)) => plan.refused.push(*refused),
            Err(Trouble::Failed(error)) => return Err(error.into()),
        }
    }
    if plan.files.is_empty() && plan.refused.is_empty() {
        let nothing = || "there is nothing to undo: the files are as they were before".to_owned();
        return Err(ToolError::failure(undone.unwrap_or_else(nothing)));
    }
    Ok(plan)
}

/// Why a file is not restored.
enum Trouble {
    /// It stays as it is; the others are restored all the same.
    Refused(Box<RefusedFile>),
    /// It could not even be looked at, so nothing can be said of it.
    Failed(WorkspaceError),
}

/// Plans to undo what calls, the newest first, did to one file. `None` if they did nothing to it after all.
async fn plan_file(
    workspace: &Workspace,
    path: &Path,
    changes: &[Journaled],
) -> Result<Option<FileChange>, Trouble> {
    let name = haft::visible(&path.to_string_lossy());
    let refused = |place: Option<Place>, why: String, diff: String| {
        let name = place.as_ref().map_or_else(|| name.clone(), Place::shown);
        Trouble::Refused(Box::new(RefusedFile { place, name, why, diff }))
    };
    if path.is_relative() {
        // The journal gives exact paths; what is left of this one leads nowhere.
        return Err(refused(None, PATH_LOST.to_owned(), String::new()));
    }
    let place = match workspace.locate(path) {
        Ok(place) if place.real() == path => place,
        Ok(place) => {
            let why = format!("a link leads from there to {}", place.shown());
            return Err(refused(Some(place), why, String::new()));
        }
        Err(error) => return Err(refused(None, error.to_string(), String::new())),
    };
    let draft = match workspace.draft(place.clone()).await {
        Ok(draft) => draft,
        Err(failed @ WorkspaceError::Read { .. }) => return Err(Trouble::Failed(failed)),
        Err(in_the_way) => return Err(refused(Some(place), in_the_way.to_string(), String::new())),
    };
    let (first, calls) = match followed_back(&draft, changes) {
        Followed::Back(first, calls) => (first, calls),
        Followed::Nowhere => return Ok(None),
        Followed::Stuck { at, found } => {
            let since = since(&draft, &at.change, found);
            return Err(refused(Some(place), format!("it has been changed since {}", at.call), since));
        }
    };
    let restored = match first.restoring() {
        None => None,
        Some(image) => match blocking(move |_| loaded(&image)).await {
            Ok(image) => Some(image),
            Err(why) => return Err(refused(Some(place), why, String::new())),
        },
    };
    let made = first.made_directories().map(Path::to_owned).collect();
    Ok(Some(draft.become_image(restored).undoing(calls, made)))
}

/// Where following changes back from what stands there leads.
enum Followed<'a> {
    /// To the first of them. The calls that made them.
    Back(&'a Change, Vec<CallId>),
    /// None of them was made after all.
    Nowhere,
    /// To something that the call is not known to have left: somebody else changed the file after it.
    Stuck { at: &'a Journaled, found: Option<&'a Image> },
}

/// Follows the changes back from what stands there. Each leads to what it was made on, so their order is found by that:
/// calls that ran side by side may have changed the file in another order than they were made in.
fn followed_back<'a>(draft: &'a Draft, changes: &'a [Journaled]) -> Followed<'a> {
    let digest = |image: Option<&'a Image>| image.map(|image| image.digest.as_str());
    let mut stands = draft.standing();
    let mut left: Vec<&'a Journaled> = changes.iter().collect();
    let mut first = None;
    let mut calls = Vec::new();
    loop {
        let leads_here = |known: &&'a Journaled| known.change.leads_to(digest(stands));
        // One that may never have been made counts only where no other leads on.
        let certain = left.iter().position(|known| known.is_certain && leads_here(known));
        let Some(next) = certain.or_else(|| left.iter().position(leads_here)) else { break };
        let Journaled { call, change, .. } = left.remove(next);
        stands = change.before.as_ref();
        first = Some(change);
        calls.push(call.clone());
    }
    match (left.into_iter().find(|known| known.is_certain), first) {
        (Some(at), _) => Followed::Stuck { at, found: stands },
        (None, Some(first)) => Followed::Back(first, calls),
        (None, None) => Followed::Nowhere,
    }
}

/// What was done to a file between what a change left and what was found.
fn since(draft: &Draft, change: &Change, found: Option<&Image>) -> String {
    let known = |image: &Image| match draft.standing() {
        Some(standing) if standing.digest == image.digest => Ok(standing.clone()),
        Some(_) | None => loaded(image),
    };
    let (left, found) = (change.after.as_ref().map(known).transpose(), found.map(known).transpose());
    match (left, found) {
        (Ok(left), Ok(found)) => difference(draft.place(), left.as_ref(), found.as_ref()),
        // It is no longer kept; that it differs is all there is to say.
        (Err(_), _) | (_, Err(_)) => String::new(),
    }
}

/// The image with its content in memory, unless it is large, checked against its digest.
fn loaded(image: &Image) -> Result<Image, String> {
    let Some(content) = &image.content else {
        return Err("what it held is not kept any longer (the key journal bounds that)".to_owned());
    };
    let unreadable = |error: io::Error| format!("what it held cannot be read from the journal: {error}");
    let damaged = || "what it held is damaged in the journal".to_owned();
    let mut reader = content.open().map_err(unreadable)?;
    if image.bytes > IMAGE_BYTES_KEPT {
        let digest = digest_of(reader).map_err(unreadable)?;
        return if digest == image.digest { Ok(image.clone()) } else { Err(damaged()) };
    }
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(unreadable)?;
    match digest_of(bytes.as_slice()) {
        Ok(digest) if digest == image.digest => Ok(Image { content: Some(Arc::new(bytes)), ..image.clone() }),
        Ok(_) | Err(_) => Err(damaged()),
    }
}
