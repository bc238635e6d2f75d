//! Pages as text: HTML becomes Markdown or plain text in one walk over its tags, without a tree.
//!
//! The walk keeps a stack of its own, so no page is too deep for it, and closes by itself what pages leave open. What a
//! reader of the page would not see is left out, because it is written for somebody else.

mod attributes;
mod language;
mod markup;
mod open;
mod table;
mod tags;
mod walk;
mod writer;

use url::Url;

/// What a page becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Markdown.
    Markdown,
    /// Text without any marks.
    Text,
}

/// How much of a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// What the page marks as its main content, without its navigation; all of it if it marks nothing.
    Main,
}

/// Turns a page into text. Links are made absolute by the address that the page came from.
pub fn render(html: &str, address: Option<&Url>, style: Style, extent: Extent) -> String {
    let region = match extent {
        Extent::Whole => None,
        Extent::Main => walk::region(html),
    };
    walk::walk(html, address, style, region)
}

#[cfg(test)]
mod tests;
