//! Drafts: what stands at a place before anything is changed, from which a change is planned.
//!
//! Nothing of a draft reaches the model. It serves the person, who sees the difference before agreeing, and the
//! commit, which replaces only what was drafted from.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use haft::{IMAGE_BYTES_KEPT, Image, Reopen};
use rustix::fs::Stat;

use super::Workspace;
use super::attributes;
use super::change::FileChange;
use super::diff::{DIFF_BYTES_MAX, difference};
use super::digest::Digest;
use super::error::WorkspaceError;
use super::file::{Found, read_without_a_trace};
use super::image::{self, OnDisk, from_start};
use super::last_written::LastWritten;
use super::place::{Kind, Place};
use super::protected::Protection;
use crate::blocking::blocking;
use crate::encoding::{Encoding, recognize_utf_8, view};

/// Larger files are not replaced: comparing them would take longer than anybody waits.
const REPLACED_BYTES_MAX: u64 = 4 << 30;

/// Larger files are not edited piece by piece: their whole text has to be in memory.
const WHOLE_BYTES_MAX: usize = IMAGE_BYTES_KEPT as usize;

const BOM: &str = "\u{feff}";

/// How much of a file a draft holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// What a difference can be shown of.
    Enough,
    /// All of it, to change a piece of it; larger files are refused.
    Whole,
}

impl Hold {
    fn bytes(self) -> usize {
        match self {
            Hold::Enough => DIFF_BYTES_MAX,
            Hold::Whole => WHOLE_BYTES_MAX,
        }
    }
}

/// What stands at a place.
#[derive(Debug)]
pub struct Draft {
    place: Place,
    protection: Protection,
    /// `None` if nothing stands there.
    standing: Option<Image>,
    /// How its text is written as bytes, and is to be written again.
    encoding: Encoding,
    /// How many directories right above it are missing.
    missing: usize,
}

impl Workspace {
    /// Looks at what stands at a place, to plan a change to it. What could not be changed is refused already here.
    pub async fn draft(&self, place: Place) -> Result<Draft, WorkspaceError> {
        let workspace = self.clone();
        blocking(move |_| workspace.draft_now(place, Hold::Enough)).await
    }

    /// Does the same, on a thread that may wait for the disk.
    pub(crate) fn draft_now(&self, place: Place, hold: Hold) -> Result<Draft, WorkspaceError> {
        if place.is_spelled_as_directory() && place.kind() == Kind::Missing {
            return Err(WorkspaceError::Directory { path: format!("{}/", place.shown()) });
        }
        let standing = match self.open_place(&place)? {
            Found::File(file, stat) => {
                check_replaceable(&place.shown(), &stat)?;
                Some(stand(&place, file.into_file(), &stat, hold.bytes(), &self.0.last_written)?)
            }
            Found::Directory(_) => return Err(WorkspaceError::Directory { path: place.shown() }),
            Found::Missing if is_of_the_kernel(place.real()) => {
                return Err(WorkspaceError::Kernel { path: place.shown() });
            }
            Found::Missing => None,
        };
        let (standing, encoding) = standing.unzip();
        if hold == Hold::Whole && standing.as_ref().is_some_and(|image| image::bytes(image).is_none()) {
            return Err(WorkspaceError::Unwieldy { path: place.shown(), limit: WHOLE_BYTES_MAX });
        }
        let missing = if standing.is_some() { 0 } else { missing_above(place.real()) };
        let protection = self.protection(&place);
        let encoding = encoding.unwrap_or(Encoding::UTF_8);
        Ok(Draft { place, protection, standing, encoding, missing })
    }
}

impl Draft {
    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What stands there; `None` if nothing does.
    pub fn standing(&self) -> Option<&Image> {
        self.standing.as_ref()
    }

    /// The text that stands there, without a byte order mark; `None` if nothing does, or if the draft was made without
    /// the whole content.
    pub fn text(&self) -> Result<Option<Cow<'_, str>>, WorkspaceError> {
        self.standing.as_ref().map_or(Ok(None), |standing| self.text_of(standing))
    }

    /// The text of an image of this file; `None` if it is too large to be in memory.
    pub(crate) fn text_of<'i>(&self, image: &'i Image) -> Result<Option<Cow<'i, str>>, WorkspaceError> {
        if let Some(text) = image::text(image) {
            return Ok(Some(text.strip_prefix(BOM).unwrap_or(text).into()));
        }
        let Some(content) = image::bytes(image) else { return Ok(None) };
        match view(content) {
            Ok((text, _)) => Ok(Some(text)),
            Err(source) => Err(WorkspaceError::NotText { path: self.place.shown(), source }),
        }
    }

    /// The image of this file with another text, written as the present one is. A byte order mark is kept, exactly once;
    /// nothing else is changed about the text.
    pub(crate) fn image_of<'t>(&self, text: impl Into<Cow<'t, str>>) -> Result<Image, WorkspaceError> {
        let text = text.into();
        let bare = text.trim_start_matches(BOM);
        if bare.len() == text.len() && self.encoding == Encoding::UTF_8 {
            return Ok(image::of_text(text.into_owned()));
        }
        let is_marked = bare.len() < text.len() && self.encoding.is_utf_8();
        let encoding = if is_marked { self.encoding.with_bom() } else { self.encoding };
        match encoding.encode(bare) {
            Ok(bytes) => Ok(image::of_bytes(bytes)),
            Err(source) => Err(WorkspaceError::Unencodable { path: self.place.shown(), source }),
        }
    }

    /// Plans to put a text there, in place of whatever stands there.
    pub fn replace<'t>(self, text: impl Into<Cow<'t, str>>) -> Result<FileChange, WorkspaceError> {
        let image = self.image_of(text)?;
        Ok(self.become_image(Some(image)))
    }

    /// Plans to put a text there that has nothing to do with the present one: in the same encoding if that has all of its
    /// characters, otherwise in UTF-8. Returns also the encoding that was given up.
    pub(crate) fn rewrite(self, text: &str) -> (FileChange, Option<&'static str>) {
        let (image, given_up) = self.rewritten(text);
        (self.become_image(Some(image)), given_up)
    }

    /// The image that [`rewrite`](Self::rewrite) puts there.
    pub(crate) fn rewritten(&self, text: &str) -> (Image, Option<&'static str>) {
        match self.image_of(text) {
            Ok(image) => (image, None),
            Err(_) => (image::of_bytes(text.as_bytes().to_vec()), Some(self.encoding.name())),
        }
    }

    /// Plans to put an image there, or nothing.
    pub(crate) fn become_image(self, after: Option<Image>) -> FileChange {
        let diff = difference(&self.place, self.standing.as_ref(), after.as_ref());
        FileChange::new(self.place, self.protection, self.standing, after, diff).making(self.missing)
    }
}

/// Refuses what a replacement would damage. Mode bits count also for those whom the kernel lets write anything.
pub(super) fn check_replaceable(shown: &str, stat: &Stat) -> Result<(), WorkspaceError> {
    let path = || shown.to_owned();
    let links = u64::from(stat.st_nlink as u32);
    if links > 1 {
        return Err(WorkspaceError::HardLinked { path: path(), links });
    }
    if stat.st_mode & 0o222 == 0 {
        return Err(WorkspaceError::ReadOnly { path: path() });
    }
    let bytes = u64::try_from(stat.st_size).unwrap_or(0);
    if bytes > REPLACED_BYTES_MAX {
        return Err(WorkspaceError::TooLarge { path: path(), bytes });
    }
    Ok(())
}

/// The image of what stands there, with its content in memory up to a size, and how its text is written.
fn stand(
    place: &Place,
    file: File,
    stat: &Stat,
    kept: usize,
    last_written: &LastWritten,
) -> Result<(Image, Encoding), WorkspaceError> {
    let read = move || {
        read_without_a_trace(&file);
        let attributes = Some(attributes::of(&file, stat)?);
        let mut head = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0).min(kept) + 1);
        // Just opened, so it stands at its start; read as it is, the buffer need not be cleared first.
        (&file).take(kept as u64 + 1).read_to_end(&mut head)?;
        if head.len() <= kept {
            let (image, encoding) = imaged(head, last_written);
            return Ok((Image { attributes, ..image }, encoding));
        }
        let is_marked = head.starts_with(BOM.as_bytes());
        let encoding = if is_marked { Encoding::UTF_8.with_bom() } else { Encoding::UTF_8 };
        let digest = Digest::of_reader(from_start(&file).take(REPLACED_BYTES_MAX + 1))?.to_string();
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        let content: Option<Arc<dyn Reopen>> = Some(Arc::new(OnDisk(file)));
        Ok((Image { digest, bytes, attributes, content }, encoding))
    };
    read().map_err(|source| WorkspaceError::Read { path: place.shown(), source })
}

/// The image of a content, and how its text is written. What is UTF-8 is looked through once.
fn imaged(content: Vec<u8>, last_written: &LastWritten) -> (Image, Encoding) {
    let digest = last_written.digest(&content);
    let bytes = match String::from_utf8(content) {
        Ok(text) => match recognize_utf_8(&text) {
            encoding if encoding.is_utf_8() => return (image::digested(digest, text), encoding),
            _ => text.into_bytes(),
        },
        Err(error) => error.into_bytes(),
    };
    // What is no text has no encoding; a text that takes its place is UTF-8.
    let encoding = view(&bytes).map_or(Encoding::UTF_8, |(_, encoding)| encoding);
    (image::digested(digest, bytes), encoding)
}

/// How many directories right above a path are missing.
fn missing_above(real: &Path) -> usize {
    real.ancestors().skip(1).take_while(|path| path.symlink_metadata().is_err()).count()
}

fn is_of_the_kernel(real: &Path) -> bool {
    ["/proc", "/sys"].iter().any(|tree| real.starts_with(tree))
}
