//! Drafts: what stands at a place before anything is changed, from which a change is planned.
//!
//! Nothing of a draft reaches the model. It serves the person, who sees the difference before agreeing, and the
//! commit, which replaces only what was drafted from.

use std::io::Read;
use std::path::Path;

use haft::Action;
use rustix::fs::Stat;

use super::Workspace;
use super::diff::{self, Before, DIFF_BYTES_MAX};
use super::digest::Digest;
use super::error::WorkspaceError;
use super::file::Found;
use super::place::Place;
use super::protected::Protection;
use super::write::WriteTarget;
use crate::blocking::blocking;

/// Larger files are not replaced: comparing them would take longer than anybody waits.
const REPLACED_BYTES_MAX: u64 = 4 << 30;

/// Larger files are not edited piece by piece: their whole text has to be in memory.
const WHOLE_BYTES_MAX: usize = 64 << 20;

const BOM: &str = "\u{feff}";

/// What stands at a place.
#[derive(Debug)]
pub struct Draft {
    place: Place,
    protection: Protection,
    standing: Option<Standing>,
}

#[derive(Debug)]
struct Standing {
    digest: Digest,
    has_bom: bool,
    /// The content, unless it is too large for what the draft is for.
    content: Option<Vec<u8>>,
}

impl Workspace {
    /// Looks at what stands at a place, to plan a change to it. What could not be changed is refused already here.
    pub async fn draft(&self, place: Place) -> Result<Draft, WorkspaceError> {
        self.draft_up_to(place, DIFF_BYTES_MAX).await
    }

    /// Like [`draft`](Self::draft), but with the whole text, to change a piece of it. Files that are too large for
    /// that are refused.
    pub async fn draft_whole(&self, place: Place) -> Result<Draft, WorkspaceError> {
        let draft = self.draft_up_to(place, WHOLE_BYTES_MAX).await?;
        match &draft.standing {
            Some(Standing { content: None, .. }) => {
                Err(WorkspaceError::Unwieldy { path: draft.place.shown(), limit: WHOLE_BYTES_MAX })
            }
            Some(Standing { content: Some(_), .. }) | None => Ok(draft),
        }
    }

    async fn draft_up_to(&self, place: Place, kept: usize) -> Result<Draft, WorkspaceError> {
        let workspace = self.clone();
        blocking(move |_| {
            let standing = match workspace.open_place(&place)? {
                Found::File(file, stat) => {
                    check_replaceable(&place, &stat)?;
                    Some(stand(&place, file.into_file(), kept)?)
                }
                Found::Directory(_) => return Err(WorkspaceError::Directory { path: place.shown() }),
                Found::Missing if is_of_the_kernel(place.real()) => {
                    return Err(WorkspaceError::Kernel { path: place.shown() });
                }
                Found::Missing => None,
            };
            let protection = workspace.protection(&place);
            Ok(Draft { place, protection, standing })
        })
        .await
    }
}

impl Draft {
    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The digest of what stands there; `None` if nothing does.
    pub fn digest(&self) -> Option<&Digest> {
        self.standing.as_ref().map(|standing| &standing.digest)
    }

    /// The text that stands there; `None` if nothing does, or if the draft was made without the whole content.
    pub fn text(&self) -> Result<Option<&str>, WorkspaceError> {
        let Some(content) = self.standing.as_ref().and_then(|standing| standing.content.as_ref()) else {
            return Ok(None);
        };
        match std::str::from_utf8(content) {
            Ok(text) => Ok(Some(text)),
            Err(source) => Err(WorkspaceError::NotText { path: self.place.shown(), source }),
        }
    }

    /// Plans to put a text there, in place of whatever stands there, under the action its rules are filed under. A
    /// byte order mark is kept, exactly once; nothing else is changed about the text.
    pub fn replace(self, action: Action, text: &str) -> WriteTarget {
        let bare = text.trim_start_matches(BOM);
        let has_bom = bare.len() < text.len() || self.standing.as_ref().is_some_and(|old| old.has_bom);
        let bytes = [if has_bom { BOM } else { "" }, bare].concat().into_bytes();
        self.revise(action, bytes)
    }

    /// Plans to put exactly these bytes there.
    pub fn revise(self, action: Action, bytes: Vec<u8>) -> WriteTarget {
        let before = match &self.standing {
            None => Before::Nothing,
            Some(Standing { content: Some(content), .. }) => Before::Bytes(content),
            Some(Standing { content: None, .. }) => Before::Large,
        };
        let diff = diff::unified(&self.place.spelled_text(), before, &bytes);
        let expected = self.standing.map(|standing| standing.digest);
        WriteTarget::new(self.place, self.protection, action, bytes, expected, diff)
    }
}

/// Refuses what a replacement would damage. Mode bits count also for those whom the kernel lets write anything.
pub(super) fn check_replaceable(place: &Place, stat: &Stat) -> Result<(), WorkspaceError> {
    let path = || place.shown();
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

fn stand(place: &Place, mut file: std::fs::File, kept: usize) -> Result<Standing, WorkspaceError> {
    let mut read = || {
        let mut head = Vec::new();
        Read::by_ref(&mut file).take(kept as u64 + 1).read_to_end(&mut head)?;
        let has_bom = head.starts_with(BOM.as_bytes());
        if head.len() <= kept {
            return Ok(Standing { digest: Digest::of(&head), has_bom, content: Some(head) });
        }
        let digest = Digest::of_reader(head.as_slice().chain(&mut file).take(REPLACED_BYTES_MAX + 1))?;
        Ok(Standing { digest, has_bom, content: None })
    };
    read().map_err(|source| WorkspaceError::Read { path: place.shown(), source })
}

fn is_of_the_kernel(real: &Path) -> bool {
    ["/proc", "/sys"].iter().any(|tree| real.starts_with(tree))
}
