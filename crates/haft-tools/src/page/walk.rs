//! The walk over a page: what each tag opens and closes, and what of it is seen.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use url::Url;

use super::Style;
use super::attributes::{Attributes, Name};
use super::language::language;
use super::markup::target;
use super::open::{Open, Opens};
use super::tags::Tag;
use super::writer::{Kind, Link, Writer};

/// What a page marks as its main content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Region {
    /// One of the usual names.
    Named,
    /// An article.
    Article,
    /// The main content.
    Main,
}

impl Region {
    fn of(tag: Tag, attributes: &Attributes) -> Option<Region> {
        const NAMES: [&str; 4] = ["content", "main-content", "main", "readme"];
        if attributes.is_main(tag) {
            return Some(Region::Main);
        }
        if tag == Tag::Article {
            return Some(Region::Article);
        }
        let is_named = attributes.get(Name::Id).is_some_and(|id| NAMES.contains(&id));
        (is_named || attributes.classes().any(|class| class == "markdown-body")).then_some(Region::Named)
    }
}

/// Finds out by what a page marks its main content.
pub(super) fn region(html: &str) -> Option<Region> {
    let (mut best, mut tag, mut attributes) = (None, Tag::Void, Attributes::default());
    events(html, |event| match event {
        CallbackEvent::OpenStartTag { name } => {
            tag = Tag::of(name);
            attributes.clear();
        }
        CallbackEvent::AttributeName { name } => attributes.name(name),
        CallbackEvent::AttributeValue { value } => attributes.value(value),
        CallbackEvent::CloseStartTag { .. } => best = best.max(Region::of(tag, &attributes)),
        _ => {}
    });
    best
}

/// Writes a page.
pub(super) fn walk(html: &str, address: Option<&Url>, style: Style, region: Option<Region>) -> String {
    let mut walker = Walker {
        writer: Writer::new(style, html.len() / 4),
        opens: Opens::default(),
        hints: Vec::new(),
        base: address.cloned(),
        address,
        style,
        region,
        hidden: 0,
        regions: 0,
        drawings: 0,
        tag: Tag::Void,
        is_dialog: false,
        attributes: Attributes::default(),
    };
    events(html, |event| walker.event(&event));
    walker.writer.finish()
}

fn events(html: &str, mut each: impl FnMut(CallbackEvent<'_>)) {
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        each(event);
        None
    });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
}

struct Walker<'a> {
    writer: Writer,
    opens: Opens,
    /// Languages that elements around code name, with how deep they stand.
    hints: Vec<(usize, String)>,
    address: Option<&'a Url>,
    base: Option<Url>,
    style: Style,
    region: Option<Region>,
    /// How many of the open elements hide what they hold.
    hidden: usize,
    regions: usize,
    drawings: usize,
    tag: Tag,
    is_dialog: bool,
    attributes: Attributes,
}

impl Walker<'_> {
    fn event(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Tag::of(name);
                self.is_dialog = *name == b"dialog";
                self.attributes.clear();
            }
            CallbackEvent::AttributeName { name } => self.attributes.name(name),
            CallbackEvent::AttributeValue { value } => self.attributes.value(value),
            CallbackEvent::CloseStartTag { self_closing } => self.begin(*self_closing),
            CallbackEvent::EndTag { name } => self.end(Tag::of(name)),
            CallbackEvent::String { value } if self.is_seen() => {
                self.writer.text(&String::from_utf8_lossy(value));
            }
            CallbackEvent::String { .. }
            | CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn is_seen(&self) -> bool {
        self.hidden == 0 && (self.region.is_none() || self.regions > 0)
    }

    fn begin(&mut self, self_closing: bool) {
        let tag = self.tag;
        if self.drawings == 0 {
            self.pop(self.opens.ended_by(tag));
            // A list item may have ended, and a paragraph around what comes next may still be open.
            if tag.is_block() && tag != Tag::P {
                self.pop(self.opens.ended_by(Tag::P));
            }
        }
        let is_drawing = tag == Tag::Svg || self.drawings > 0;
        if tag.is_void() || (self_closing && is_drawing) {
            return self.void(tag);
        }
        let hides = matches!(tag, Tag::Invisible(_) | Tag::Svg)
            || self.attributes.hide(tag)
            || (self.is_dialog && self.attributes.get(Name::Open).is_none())
            || (tag == Tag::Button && (self.writer.is_in_pre() || self.attributes.copies()))
            || (self.region.is_some() && matches!(tag, Tag::Nav | Tag::Aside | Tag::Footer));
        let is_region = self.region.is_some() && Region::of(tag, &self.attributes) >= self.region;
        self.hidden += usize::from(hides);
        self.regions += usize::from(is_region);
        self.drawings += usize::from(tag == Tag::Svg);
        let frame = if self.is_seen() { self.open(tag) } else { None };
        self.opens.push(Open { tag, frame, hides, is_region });
    }

    fn end(&mut self, tag: Tag) {
        match self.opens.ended_by_closing(tag) {
            0 if tag == Tag::Br || tag == Tag::P => self.void(Tag::Br),
            0 => {}
            count => self.pop(count),
        }
    }

    fn pop(&mut self, count: usize) {
        for _ in 0..count {
            let Some(open) = self.opens.pop() else { return };
            if let Some(frame) = open.frame {
                self.writer.close(frame);
            }
            if self.is_seen() {
                self.leave(open.tag);
            }
            self.hidden -= usize::from(open.hides);
            self.regions -= usize::from(open.is_region);
            self.drawings -= usize::from(open.tag == Tag::Svg);
            while self.hints.last().is_some_and(|(depth, _)| *depth >= self.opens.depth()) {
                self.hints.pop();
            }
        }
    }

    /// What begins with a tag.
    fn open(&mut self, tag: Tag) -> Option<u32> {
        if tag.is_block() {
            let gap = self.gap(tag);
            self.writer.end_block(gap);
        }
        let kind = match tag {
            Tag::A => Kind::Link(self.link()),
            Tag::Blockquote => Kind::Quote,
            Tag::Code => {
                if self.writer.is_in_pre() {
                    self.writer.in_language(language(&self.attributes));
                    return None;
                }
                Kind::Code
            }
            Tag::Del => Kind::Del,
            Tag::Em => Kind::Em,
            Tag::Heading(level) => Kind::Heading(level),
            Tag::Li => Kind::Item,
            Tag::Ol => Kind::List(Some(self.attributes.text(Name::Start).trim().parse().unwrap_or(1))),
            Tag::Pre => {
                let hint = self.hints.last().map(|(_, language)| language.clone());
                Kind::Pre(language(&self.attributes).or(hint))
            }
            Tag::Strong => Kind::Strong,
            Tag::Table => Kind::Table(Default::default()),
            Tag::Td | Tag::Th => {
                if !self.writer.is_in_table() {
                    return None;
                }
                let columns = self.attributes.text(Name::Colspan).trim().parse().unwrap_or(1);
                Kind::Cell { is_heading: tag == Tag::Th, columns }
            }
            Tag::Tr => {
                self.writer.row();
                return None;
            }
            Tag::Ul => Kind::List(None),
            Tag::Div | Tag::Block(_) => {
                if let Some(language) = language(&self.attributes) {
                    self.hints.push((self.opens.depth(), language));
                }
                return None;
            }
            _ => return None,
        };
        self.writer.open(kind)
    }

    /// What ends with a tag.
    fn leave(&mut self, tag: Tag) {
        if tag.is_block() {
            let gap = self.gap(tag);
            self.writer.end_block(gap);
        }
        if self.style == Style::Text {
            match tag {
                Tag::Tr => self.writer.end_block(1),
                Tag::Td | Tag::Th => self.writer.text(" "),
                _ => {}
            }
        }
    }

    fn void(&mut self, tag: Tag) {
        if tag == Tag::Base
            && let Some(address) = self.address
        {
            let href = self.attributes.get(Name::Href).and_then(|href| address.join(href).ok());
            self.base = href.or_else(|| self.base.take());
        }
        if !self.is_seen() {
            return;
        }
        match (tag, self.style) {
            (Tag::Br, _) => self.writer.end_line(),
            (Tag::Hr, Style::Markdown) => self.writer.block("---", 2),
            (Tag::Hr, Style::Text) => self.writer.end_block(2),
            (Tag::Img, Style::Markdown) => self.image(),
            (Tag::Input, Style::Markdown)
                if self.attributes.text(Name::Type).eq_ignore_ascii_case("checkbox") =>
            {
                let is_on = self.attributes.get(Name::Checked).is_some();
                self.writer.inline(if is_on { "[x]" } else { "[ ]" });
                self.writer.text(" ");
            }
            _ => {}
        }
    }

    /// An image keeps the address that the page gives it: a model has no use for another.
    fn image(&mut self) {
        let alt = self.attributes.text(Name::Alt).split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let is_usable = |src: &&str| !src.is_empty() && !src.starts_with("data:");
        let source = [Name::Src, Name::DataSrc].map(|name| self.attributes.text(name).trim());
        match source.iter().copied().find(is_usable) {
            Some(source) => {
                self.writer.inline(&format!("![{}]({})", alt.replace(['[', ']'], ""), target(source)))
            }
            None => self.writer.text(&alt),
        }
    }

    fn link(&self) -> Link {
        let href = self.attributes.text(Name::Href).trim();
        let absolute = match &self.base {
            Some(base) if !href.is_empty() => {
                base.join(href).map(String::from).unwrap_or_else(|_| href.to_owned())
            }
            _ => href.to_owned(),
        };
        let is_script = absolute.starts_with("javascript:") || absolute.starts_with("data:");
        Link {
            address: if is_script { String::new() } else { target(&absolute) },
            title: self.attributes.text(Name::Title).trim().to_owned(),
            is_inner: href.starts_with('#'),
        }
    }

    fn gap(&mut self, tag: Tag) -> u8 {
        match tag {
            Tag::Ul | Tag::Ol if self.style == Style::Markdown => self.writer.list_gap(),
            Tag::Li | Tag::Dd | Tag::Dt => 1,
            Tag::Div | Tag::Block(_) | Tag::Ul | Tag::Ol if self.style == Style::Text => 1,
            _ => 2,
        }
    }
}
