//! Planning an edit: from what stands there and what is wished for to the exact bytes, or to what is in the way.

use haft::ToolError;

use super::endings::{Plain, newlines};
use super::matchers::Matcher;
use super::miss;
use super::replace::{Extent, Found, LENIENT_BYTES_MAX, Unfound, find};
use crate::text::BOM;
use crate::workspace::{Draft, FileChange, WorkspaceError};

const IDENTICAL: &str = "No changes to apply: oldString and newString are identical.";
const EMPTY: &str = "oldString cannot be empty when editing an existing file. Provide the exact text to replace, or use write for an intentional full-file replacement.";
const NOWHERE: &str = "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.";
const SEVERAL: &str =
    "Found multiple matches for oldString. Provide more surrounding context to make the match unique.";
const OVERSIZED: &str = "Refusing replacement because the matched span is much larger than oldString. Re-read the file and provide the full exact oldString for the intended replacement.";

/// What is to be replaced by what, with plain newlines and without byte order marks.
pub(super) struct Wish {
    old: String,
    new: String,
    /// The new text exactly as it was given, for a file that is created.
    given: String,
    extent: Extent,
}

impl Wish {
    pub(super) fn new(old: &str, new: &str, extent: Extent) -> Result<Wish, ToolError> {
        if old == new {
            return Err(ToolError::failure(IDENTICAL));
        }
        let plain = |text: &str| newlines(text.trim_start_matches(BOM)).into_owned();
        let wish = Wish { old: plain(old), new: plain(new), given: new.to_owned(), extent };
        if wish.old == wish.new && !wish.old.is_empty() {
            return Err(ToolError::failure(
                "No changes to apply: oldString and newString differ only in line endings, which the file keeps.",
            ));
        }
        Ok(wish)
    }
}

/// A change that can be asked for.
pub(super) struct Planned {
    pub(super) change: FileChange,
    /// How the place was found, if not exactly.
    pub(super) matcher: Option<Matcher>,
}

/// What is in the way.
pub(super) enum Trouble {
    Tool(ToolError),
    /// No place is meant for certain. What is shown of the file is for those who may read it.
    Unfound {
        message: String,
        shown: String,
    },
}

impl From<WorkspaceError> for Trouble {
    fn from(error: WorkspaceError) -> Trouble {
        Trouble::Tool(error.into())
    }
}

impl From<ToolError> for Trouble {
    fn from(error: ToolError) -> Trouble {
        Trouble::Tool(error)
    }
}

fn failure(message: impl Into<String>) -> Trouble {
    Trouble::Tool(ToolError::failure(message))
}

/// Plans the change.
pub(super) fn plan(draft: Draft, wish: &Wish) -> Result<Planned, Trouble> {
    let Some(raw) = draft.text()? else {
        return match wish.old.is_empty() {
            true => Ok(Planned { change: draft.replace(wish.given.as_str())?, matcher: None }),
            false => Err(failure(format!("File {} not found", draft.place().shown()))),
        };
    };
    if wish.old.is_empty() {
        return Err(failure(EMPTY));
    }
    let plain = Plain::new(&raw);
    let found = find(plain.text(), &wish.old, wish.extent)
        .map_err(|unfound| told(plain.text(), &wish.old, unfound))?;
    let begins = found.places.first().is_some_and(|place| place.start == 0);
    let has_bom = begins && wish.given.starts_with(BOM);
    let Found { matcher, mut places } = found;
    if matcher != Matcher::Simple {
        places.iter_mut().for_each(|place| place.end = end(plain.text(), place.end, wish));
    }
    let mut text = plain.splice(&places, &wish.new);
    if has_bom {
        text.insert(0, BOM);
    }
    if text == raw {
        return Err(failure(
            "No changes to apply: the file already has newString where oldString was found.",
        ));
    }
    let matcher = (matcher != Matcher::Simple).then_some(matcher);
    Ok(Planned { change: draft.replace(text)?, matcher })
}

/// Where a place that was found leniently ends. Matchers of whole lines leave out the last newline; if it was asked
/// for, and comes back with the new text or is to go, it belongs to the place.
fn end(text: &str, end: usize, wish: &Wish) -> usize {
    let is_meant = wish.old.ends_with('\n') && (wish.new.is_empty() || wish.new.ends_with('\n'));
    if is_meant && text[end..].starts_with('\n') { end + 1 } else { end }
}

fn told(text: &str, old: &str, unfound: Unfound) -> Trouble {
    match unfound {
        Unfound::Oversized => failure(OVERSIZED),
        Unfound::Several(places) => Trouble::Unfound {
            message: SEVERAL.to_owned(),
            shown: format!("\n\nIt is at these places:{}", miss::several(text, &places)),
        },
        Unfound::Nowhere => {
            let near = (text.len() <= LENIENT_BYTES_MAX).then(|| miss::nearest(text, old)).flatten();
            let shown = match near {
                Some(near) => format!("\n\nThis comes nearest, {near}"),
                None => "\n\nNothing in the file comes near it; read the file again.".to_owned(),
            };
            Trouble::Unfound { message: NOWHERE.to_owned(), shown }
        }
    }
}
