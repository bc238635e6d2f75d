//! The elements that are open, and which of them a tag ends.

use super::tags::{Ends, Tag};

/// What is looked for is not looked for deeper: a page that nests more means no harm by it, or all of it.
const SEARCH_MAX: usize = 256;

/// An element that is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) tag: Tag,
    /// The frame that is written into.
    pub(super) frame: Option<u32>,
    /// Whether nobody sees what it holds.
    pub(super) hides: bool,
    /// Whether it is the main content, or part of it.
    pub(super) is_region: bool,
}

/// The open elements, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Opens {
    stack: Vec<Open>,
    /// How many of those are open that other tags end.
    endable: [usize; 8],
}

impl Opens {
    pub(super) fn push(&mut self, open: Open) {
        if let Some(count) = slot(open.tag).map(|slot| &mut self.endable[slot]) {
            *count += 1;
        }
        self.stack.push(open);
    }

    pub(super) fn pop(&mut self) -> Option<Open> {
        let open = self.stack.pop()?;
        if let Some(count) = slot(open.tag).map(|slot| &mut self.endable[slot]) {
            *count -= 1;
        }
        Some(open)
    }

    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// How many elements end because this tag begins.
    pub(super) fn ended_by(&self, tag: Tag) -> usize {
        let could_end = match tag {
            tag if slot(tag).is_some() && tag != Tag::P => slot(tag),
            tag if tag.is_block() => slot(Tag::P),
            _ => None,
        };
        let is_any = |slot: usize| self.endable[slot] > 0;
        // A paragraph is ended by these as well as what they end among themselves.
        let paragraph = tag.is_block() && is_any(slot(Tag::P).unwrap_or_default());
        if !could_end.is_some_and(is_any) && !paragraph {
            return 0;
        }
        let innermost = self.stack.iter().rev().take(SEARCH_MAX);
        for (above, open) in innermost.enumerate() {
            match tag.ends(open.tag) {
                Ends::This => return above + 1,
                Ends::MaybeBelow => {}
                Ends::Nothing => break,
            }
        }
        0
    }

    /// How many elements a closing tag ends; none if there is nothing that it could close.
    pub(super) fn ended_by_closing(&self, tag: Tag) -> usize {
        let is_of_table = matches!(tag, Tag::Table | Tag::TableSection(_) | Tag::Tr | Tag::Td | Tag::Th);
        for (above, open) in self.stack.iter().rev().take(SEARCH_MAX).enumerate() {
            if open.tag == tag {
                return above + 1;
            }
            let is_end = if is_of_table { open.tag == Tag::Table } else { open.tag.is_boundary() };
            if is_end {
                break;
            }
        }
        0
    }
}

fn slot(tag: Tag) -> Option<usize> {
    Some(match tag {
        Tag::P => 0,
        Tag::Li => 1,
        Tag::Dd | Tag::Dt => 2,
        Tag::Td | Tag::Th => 3,
        Tag::Tr => 4,
        Tag::TableSection(_) => 5,
        Tag::Option => 6,
        Tag::A => 7,
        _ => return None,
    })
}
