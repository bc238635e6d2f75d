//! The journal: what files held before a call changed them and afterwards, so that the change can be taken back.
//!
//! A change is handed to the [recorder](crate::Recorder) before it is made, with both images of the file; the journal
//! gives it back, by which it is undone.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::BoxFuture;
use crate::error::BoxError;
use crate::id::CallId;
use crate::recorder::{Intent, StoreError};

/// An image up to this size is kept, whatever the journal's bounds, until its call has ended: a call that changes
/// several files may have to be rolled back.
pub const IMAGE_BYTES_KEPT: u64 = 64 << 20;

/// What a file holds, and what else it has.
#[derive(Clone)]
pub struct Image {
    /// The digest of its content.
    pub digest: String,
    /// Its size.
    pub bytes: u64,
    /// Its mode, owner and extended attributes, where they are known.
    pub attributes: Option<Attributes>,
    /// Its content; `None` if it was not kept, or is no longer.
    pub content: Option<Arc<dyn Reopen>>,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Image { digest, bytes, .. } = self;
        write!(f, "Image({digest}, {bytes} bytes)")
    }
}

/// Bytes that can be read from their beginning, as often as needed.
pub trait Reopen: Send + Sync {
    /// Begins to read.
    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>>;

    /// All of it, where it is in memory anyway.
    fn in_memory(&self) -> Option<&[u8]> {
        None
    }

    /// All of it as text, where it is in memory and known to be UTF-8.
    fn as_text(&self) -> Option<&str> {
        None
    }
}

impl Reopen for String {
    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(self.as_bytes()))
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self.as_bytes())
    }

    fn as_text(&self) -> Option<&str> {
        Some(self)
    }
}

impl Reopen for Vec<u8> {
    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(self.as_slice()))
    }

    fn in_memory(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// What a file has besides its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributes {
    /// The permission bits.
    pub mode: u32,
    /// The owner.
    pub owner: u32,
    /// The group.
    pub group: u32,
    /// Extended attributes, with their values.
    pub extended: Vec<(Vec<u8>, Vec<u8>)>,
}

/// One file that a call changes.
#[derive(Debug, Clone)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What it held; `None` if it did not exist.
    pub before: Option<Image>,
    /// What it holds afterwards; `None` if it is removed.
    pub after: Option<Image>,
    /// The digest of what it may hold instead: the change only finishes what the call did to the file before, as a
    /// formatter does, so the call has done its work also without it.
    pub midway: Option<String>,
    /// How many of the directories right above it are made on the way to it.
    pub made: usize,
    /// The calls whose change of this file is hereby undone.
    pub undoes: Vec<CallId>,
}

impl Change {
    /// What a later process tells by whether the change was made.
    pub fn intent(&self) -> Intent {
        let digest = |image: &Option<Image>| image.as_ref().map(|image| image.digest.clone());
        Intent {
            path: self.path.clone(),
            before: digest(&self.before),
            after: digest(&self.after),
            midway: self.midway.clone(),
        }
    }

    /// The directories that are made on the way to it, innermost first.
    pub fn made_directories(&self) -> impl Iterator<Item = &Path> {
        self.path.ancestors().skip(1).take(self.made)
    }

    /// What the file has to be given back for the change to be undone. What else it has is given back only if the change
    /// took it away: what somebody else changed about it since stays.
    pub fn restoring(&self) -> Option<Image> {
        let given = |image: &Image| image.attributes.clone();
        let is_lost = match &self.after {
            None => true,
            Some(after) => {
                after.attributes.is_some() && self.before.as_ref().map(given) != Some(given(after))
            }
        };
        self.before
            .as_ref()
            .map(|image| Image { attributes: is_lost.then(|| given(image)).flatten(), ..image.clone() })
    }

    /// Both changes as one. A change that goes on from where this one left continues it; otherwise this one was never
    /// made, because somebody else had changed the file, and was planned anew.
    pub fn followed_by(&self, next: &Change) -> Change {
        match self.leads_to(next.before.as_ref().map(|image| image.digest.as_str())) {
            true => Change { before: self.before.clone(), made: self.made, ..next.clone() },
            false => Change { midway: None, ..next.clone() },
        }
    }

    /// Whether a file with this content, if it is there at all, may be what the change left.
    pub fn leads_to(&self, digest: Option<&str>) -> bool {
        let after = self.after.as_ref().map(|image| image.digest.as_str());
        after == digest || (digest.is_some() && self.midway.as_deref() == digest)
    }
}

/// A change of which nothing is kept but what tells whether it was made.
impl From<Intent> for Change {
    fn from(intent: Intent) -> Change {
        let image = |digest| Image { digest, bytes: 0, attributes: None, content: None };
        let Intent { path, before, after, midway } = intent;
        let (before, after) = (before.map(image), after.map(image));
        Change { path, before, after, midway, made: 0, undoes: Vec::new() }
    }
}

/// A change on record.
#[derive(Debug, Clone)]
pub struct Journaled {
    /// The call that made it.
    pub call: CallId,
    /// Whether the call is known to have made it. Otherwise the file itself tells.
    pub is_certain: bool,
    /// The call that undid it, unless that was undone in turn.
    pub undone_by: Option<CallId>,
    /// The change.
    pub change: Change,
}

/// Gives back what calls changed.
pub trait Journal: Send + Sync {
    /// The changes that a call made or announced, by path. Empty if it changed no files, or is not known.
    fn changes<'a>(&'a self, call: &'a CallId) -> BoxFuture<'a, Result<Vec<Journaled>, StoreError>>;
}

/// Puts back what a call that died half-way had already changed.
pub trait Restorer: Send + Sync {
    /// Makes a file hold again what it held before a change, if it holds what the change left. Says why it cannot.
    fn restore(&self, change: &Change) -> Result<(), BoxError>;
}
