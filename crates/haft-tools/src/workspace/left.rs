//! Files as a call left them, and the finish that a later step may give them.

use haft::Image;

use super::change::FileChange;
use super::diff::difference;
use super::image;
use super::place::Place;
use super::protected::Protection;

/// A file that a call has just changed.
#[derive(Debug, Clone)]
pub struct LeftFile {
    pub(super) place: Place,
    pub(super) protection: Protection,
    pub(super) before: Option<Image>,
    pub(super) after: Image,
}

/// What a file held before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before<'a> {
    /// There was none.
    Nothing,
    /// A text in UTF-8.
    Text(&'a str),
    /// Something else, or more than is in memory.
    Unknown,
}

impl LeftFile {
    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The digest of what it holds.
    pub fn digest(&self) -> &str {
        &self.after.digest
    }

    /// What it holds, where that is text in UTF-8 and in memory.
    pub fn text(&self) -> Option<&str> {
        text(&self.after)
    }

    /// What it held before the call.
    pub fn before(&self) -> Before<'_> {
        match &self.before {
            None => Before::Nothing,
            Some(image) => text(image).map_or(Before::Unknown, Before::Text),
        }
    }

    /// Plans to put another text there. It is the end of what was agreed to, so nobody is asked again.
    pub(crate) fn finish(&self, text: String) -> FileChange {
        let after = Image { attributes: self.after.attributes.clone(), ..image::of_text(text) };
        let diff = difference(&self.place, Some(&self.after), Some(&after));
        FileChange::new(self.place.clone(), self.protection, Some(self.after.clone()), Some(after), diff)
            .finishing()
    }

    /// The file once such a change is made.
    pub(crate) fn finished(&self, change: &FileChange) -> LeftFile {
        let after = change.after().unwrap_or(&self.after).clone();
        LeftFile { after, ..self.clone() }
    }

    /// What the call has changed in all, as a unified diff.
    pub(crate) fn change(&self) -> String {
        difference(&self.place, self.before.as_ref(), Some(&self.after))
    }
}

fn text(image: &Image) -> Option<&str> {
    let text = image::text(image)
        .or_else(|| image::bytes(image).and_then(|bytes| std::str::from_utf8(bytes).ok()))?;
    (!text.contains('\0')).then_some(text)
}
