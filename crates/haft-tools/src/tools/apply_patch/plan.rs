//! Planning a patch: every section is carried out on images in memory, each on what the ones before it left.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;

use haft::permission::Ask;
use haft::{Action, Attributes, Image, ToolContext, ToolError};

use super::apply::{Applied, apply};
use super::error::UNVERIFIED;
use super::miss::Miss;
use super::patch::{Chunk, FilePatch, Patch};
use super::{FileDone, Kind, Output};
use crate::blocking::blocking;
use crate::changing::Changing;
use crate::workspace::{self, Draft, FileChange, Hold, Place, ReadTarget, counted, difference};

/// What is shown of a file is shown under this action.
const READ_ACTION: &str = "read";

/// What is in the way of a patch, at a place. What it shows of a file is for those who may read it.
pub(super) struct Trouble {
    place: Option<Box<Place>>,
    error: ToolError,
    shown: String,
}

impl Trouble {
    fn at(place: Place, why: impl std::fmt::Display) -> Trouble {
        let error = ToolError::failure(format!("{UNVERIFIED}{why}"));
        Trouble { place: Some(Box::new(place)), error, shown: String::new() }
    }

    /// Tells it to those who may change the file.
    pub(super) async fn told(
        self,
        changing: &Changing,
        context: &ToolContext,
    ) -> Result<ToolError, ToolError> {
        let Trouble { place, mut error, shown } = self;
        let Some(place) = place.map(|place| *place) else { return Ok(error) };
        let reading = ReadTarget::new(place.clone(), Action::new(READ_ACTION));
        if let ToolError::Failure(message) = &mut error
            && changing.is_allowed(&reading.questions(), context).await?
        {
            message.push_str(&shown);
        }
        Ok(changing.tell(&place, error, context).await)
    }
}

/// Plans every section of a patch, all together.
pub(super) async fn plan(
    changing: &Changing,
    patch: &Patch,
    context: &ToolContext,
) -> Result<(Vec<FileChange>, Output), Trouble> {
    let mut desk = Desk { changing, context, files: BTreeMap::new() };
    let mut output = Output { files: Vec::new(), notes: Vec::new(), after: Vec::new() };
    for section in &patch.files {
        let done = match section {
            FilePatch::Add { path, text, .. } => desk.add(path, text).await?,
            FilePatch::Delete { path, .. } => desk.delete(path).await?,
            FilePatch::Update { path, move_to, chunks, .. } => {
                desk.update(path, move_to.as_deref(), chunks, &mut output.notes).await?
            }
        };
        output.files.push(done);
    }
    let first = desk.files.values().next().map(|file| file.draft.place().clone());
    let changes: Vec<FileChange> = desk.files.into_values().filter_map(File::changed).collect();
    match changes.is_empty() {
        true => {
            let error =
                ToolError::failure(format!("{UNVERIFIED}the files already are as the patch would make them"));
            Err(Trouble { place: first.map(Box::new), error, shown: String::new() })
        }
        false => Ok((changes, output)),
    }
}

/// A file that a patch speaks of: as it stands, and as the sections so far have left it.
struct File {
    draft: Draft,
    now: Option<Image>,
}

impl File {
    fn changed(self) -> Option<FileChange> {
        let digest =
            |image: Option<&Image>| image.map(|image| (image.digest.clone(), image.attributes.is_some()));
        let stands = self.draft.standing().map(|image| (image.digest.clone(), false));
        let is_changed = digest(self.now.as_ref()) != stands;
        is_changed.then(|| self.draft.become_image(self.now))
    }

    fn attributes(&self) -> Option<Attributes> {
        self.draft.standing().and_then(|image| image.attributes.clone())
    }
}

/// The files of a patch while it is being planned.
struct Desk<'a> {
    changing: &'a Changing,
    context: &'a ToolContext,
    files: BTreeMap<PathBuf, File>,
}

impl Desk<'_> {
    /// The file that a path leads to, and the place as this path spells it.
    async fn file(&mut self, path: &str, hold: Hold) -> Result<(Place, &mut File), Trouble> {
        let place = self.changing.workspace.resolve(path).map_err(|error| Trouble {
            place: None,
            error: ToolError::failure(format!("{UNVERIFIED}{error}")),
            shown: String::new(),
        })?;
        let vacant = match self.files.entry(place.real().to_owned()) {
            Entry::Occupied(known) => return Ok((place, known.into_mut())),
            Entry::Vacant(vacant) => vacant,
        };
        let draft = match self.changing.draft(&place, hold, self.context).await {
            Ok(draft) => draft,
            Err(ToolError::Failure(why)) => return Err(Trouble::at(place, why)),
            Err(error) => return Err(Trouble { place: Some(Box::new(place)), error, shown: String::new() }),
        };
        let now = draft.standing().map(|image| Image { attributes: None, ..image.clone() });
        Ok((place, vacant.insert(File { draft, now })))
    }

    async fn add(&mut self, path: &str, text: &str) -> Result<FileDone, Trouble> {
        let (place, file) = self.file(path, Hold::Enough).await?;
        let before = file.now.take();
        file.now = Some(file.draft.rewritten(text).0);
        Ok(done(Kind::Add, &place, before.as_ref(), file.now.as_ref(), None))
    }

    async fn delete(&mut self, path: &str) -> Result<FileDone, Trouble> {
        let (place, file) = self.file(path, Hold::Enough).await?;
        refuse_link(&place)?;
        let Some(before) = file.now.take() else {
            return Err(Trouble::at(
                place,
                format_args!("Failed to read file to delete: {path} does not exist"),
            ));
        };
        Ok(done(Kind::Delete, &place, Some(&before), None, None))
    }

    async fn update(
        &mut self,
        path: &str,
        move_to: Option<&str>,
        chunks: &[Chunk],
        notes: &mut Vec<String>,
    ) -> Result<FileDone, Trouble> {
        let failed = |mut trouble: Trouble| {
            if let ToolError::Failure(why) = &mut trouble.error {
                let bare = why.strip_prefix(UNVERIFIED).unwrap_or(why);
                *why = format!("{UNVERIFIED}Failed to read file to update: {path}: {bare}");
            }
            trouble
        };
        let (place, file) = self.file(path, Hold::Whole).await.map_err(failed)?;
        let missing = || failed(Trouble::at(place.clone(), "it does not exist"));
        let before = file.now.clone().ok_or_else(missing)?;
        let text = match file.draft.text_of(&before).map(|text| text.map(Cow::into_owned)) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(failed(Trouble::at(place, "it is too large"))),
            Err(error) => return Err(failed(Trouble::at(place, error))),
        };
        let (name, owned) = (path.to_owned(), chunks.to_vec());
        let applied = blocking(move |_| apply(&name, &text, &owned)).await;
        let Applied { text, fuzz, appended } = applied.map_err(|Miss { message, shown }| Trouble {
            place: Some(Box::new(place.clone())),
            error: ToolError::failure(message),
            shown,
        })?;
        notes.extend(fuzz.forgiven().map(|what| format!("{path}: {what}")));
        notes.extend(appended.iter().map(|hunk| {
            format!(
                "{path}: hunk {hunk} only adds lines, so they went to the end of the file; repeat the line to insert after as a context line"
            )
        }));
        let after = file.draft.image_of(text).map_err(|error| Trouble::at(place.clone(), error))?;
        match move_to {
            None => {
                file.now = Some(after);
                Ok(done(Kind::Update, &place, Some(&before), file.now.as_ref(), None))
            }
            Some(target) => self.carry(&place, before, after, target).await,
        }
    }

    /// Lets a file go from one place to another, with its mode and whatever else it has.
    async fn carry(
        &mut self,
        from: &Place,
        before: Image,
        after: Image,
        target: &str,
    ) -> Result<FileDone, Trouble> {
        refuse_link(from)?;
        let attributes = self.files.get(from.real()).and_then(File::attributes);
        let (place, to) = self.file(target, Hold::Enough).await?;
        if place.real() == from.real() {
            to.now = Some(after);
            return Ok(done(Kind::Update, from, Some(&before), to.now.as_ref(), None));
        }
        to.now = Some(Image { attributes, ..after });
        let moved = done(Kind::Move, from, Some(&before), to.now.as_ref(), Some(&place));
        if let Some(source) = self.files.get_mut(from.real()) {
            source.now = None;
        }
        Ok(moved)
    }
}

/// Only what a path names itself is removed, and a link is no file.
fn refuse_link(place: &Place) -> Result<(), Trouble> {
    match workspace::is_link(place.spelled()) {
        true => Err(Trouble::at(
            place.clone(),
            format_args!("{} is a symbolic link, and patches remove or move only files", place.shown()),
        )),
        false => Ok(()),
    }
}

fn done(
    kind: Kind,
    place: &Place,
    before: Option<&Image>,
    after: Option<&Image>,
    to: Option<&Place>,
) -> FileDone {
    let patch = difference(place, before, after);
    let (additions, deletions) = counted(&patch);
    FileDone {
        file_path: place.spelled_text(),
        relative_path: to.unwrap_or(place).name().to_owned(),
        kind,
        patch,
        additions,
        deletions,
        move_path: to.map(Place::spelled_text),
    }
}
