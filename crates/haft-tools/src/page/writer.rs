//! Writes a page. What has to be known whole before it can be marked (a link, a list, a cell) is written into a frame
//! of its own and joined to what is around it when it ends.

use super::Style;
use super::markup::{code, escape_into, fenced, prefixed};
use super::table::Table;

/// Deeper than this, what is nested is written as if it were not.
const FRAMES_MAX: usize = 64;

/// Signs that link to the heading they stand at, and say nothing.
const PERMALINKS: [&str; 5] = ["¶", "#", "§", "🔗", "\\#"];

/// What a frame holds.
#[derive(Debug)]
pub(super) enum Kind {
    Root,
    Quote,
    /// With the number of its next item, if they are numbered.
    List(Option<u64>),
    Item,
    Table(Table),
    Cell {
        is_heading: bool,
        columns: usize,
    },
    /// With its language.
    Pre(Option<String>),
    Heading(u8),
    Strong,
    Em,
    Del,
    Code,
    Link(Link),
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) address: String,
    pub(super) title: String,
    /// Whether it leads to a place in the same page.
    pub(super) is_inner: bool,
}

impl Kind {
    fn is_inline(&self) -> bool {
        matches!(self, Kind::Heading(_) | Kind::Strong | Kind::Em | Kind::Del | Kind::Code | Kind::Link(_))
    }

    /// Whether a line cannot end in it.
    fn is_one_line(&self) -> bool {
        matches!(self, Kind::Heading(_) | Kind::Code | Kind::Link(_))
    }
}

#[derive(Debug)]
struct Frame {
    serial: u32,
    kind: Kind,
    text: String,
    /// How many newlines come before what comes next.
    gap: u8,
    /// How many lines were ended by hand.
    breaks: u8,
    space: bool,
    /// Whether it began with a blank, which belongs before it.
    lead: bool,
}

impl Frame {
    fn space(&mut self) {
        match self.text.is_empty() {
            true => self.lead = true,
            false => self.space = true,
        }
    }

    /// Makes room for what comes next, and says whether it begins a line.
    fn flush(&mut self) -> bool {
        let (gap, breaks, space) = (self.gap, self.breaks, self.space);
        (self.gap, self.breaks, self.space) = (0, 0, false);
        if self.text.is_empty() {
            return !self.kind.is_inline();
        }
        match (gap, breaks, space) {
            (2.., _, _) | (_, 2.., _) => self.text.push_str("\n\n"),
            (1, _, _) => self.text.push('\n'),
            (0, 1, _) => self.text.push_str("  \n"),
            (0, 0, true) => self.text.push(' '),
            (0, 0, false) => return self.text.ends_with('\n'),
        }
        gap > 0 || breaks > 0
    }
}

pub(super) struct Writer {
    style: Style,
    frames: Vec<Frame>,
    serial: u32,
}

impl Writer {
    pub(super) fn new(style: Style, room: usize) -> Writer {
        let mut writer = Writer { style, frames: Vec::new(), serial: 0 };
        writer.push(Kind::Root);
        writer.top().text.reserve(room);
        writer
    }

    /// The text of the whole page.
    pub(super) fn finish(mut self) -> String {
        while self.frames.len() > 1 {
            self.close_top();
        }
        let mut text = self.frames.pop().map(|root| root.text).unwrap_or_default();
        text.truncate(text.trim_end().len());
        text
    }

    /// Opens a frame, if one is needed for this here. It is known by what is returned.
    pub(super) fn open(&mut self, kind: Kind) -> Option<u32> {
        if kind.is_inline() && (self.top().kind.is_one_line() && !self.takes(&kind) || self.is_in(&kind)) {
            return None;
        }
        if !kind.is_inline() {
            self.end_inline();
        }
        let is_plain = self.style == Style::Text && !matches!(kind, Kind::Pre(_));
        if is_plain || matches!(self.top().kind, Kind::Pre(_)) || self.frames.len() >= FRAMES_MAX {
            return None;
        }
        Some(self.push(kind))
    }

    /// Closes a frame and whatever was opened in it. One that is closed already stays so.
    pub(super) fn close(&mut self, serial: u32) {
        while self.frames.len() > 1 && self.top().serial >= serial {
            self.close_top();
        }
    }

    /// Ends a block: what comes next begins a line.
    pub(super) fn end_block(&mut self, gap: u8) {
        let top = self.top();
        match top.kind.is_inline() {
            true => top.space(),
            false => top.gap = top.gap.max(gap),
        }
    }

    /// Ends a line by hand.
    pub(super) fn end_line(&mut self) {
        let is_plain = self.style == Style::Text;
        let top = self.top();
        match &top.kind {
            Kind::Pre(_) => top.text.push('\n'),
            kind if kind.is_one_line() => top.space(),
            _ if is_plain => top.gap = (top.gap + 1).min(2),
            _ => top.breaks = top.breaks.saturating_add(1),
        }
    }

    /// Adds text, in which blanks count once.
    pub(super) fn text(&mut self, value: &str) {
        let is_plain = self.style == Style::Text;
        let top = self.top();
        if let Kind::Pre(_) = top.kind {
            seen_into(&mut top.text, value);
            return;
        }
        let is_blank = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
        if is_blank(value.as_bytes().first()) {
            top.space();
        }
        let mut cleaned = String::new();
        for (number, word) in value.split_ascii_whitespace().enumerate() {
            let word = if word.is_ascii() {
                word
            } else {
                cleaned.clear();
                seen_into(&mut cleaned, word);
                cleaned.as_str()
            };
            if number > 0 {
                top.space();
            }
            if word.is_empty() {
                continue;
            }
            let begins_line = top.flush();
            match is_plain || matches!(top.kind, Kind::Code) {
                true => top.text.push_str(word),
                false => escape_into(&mut top.text, word, begins_line),
            }
        }
        if is_blank(value.as_bytes().last()) {
            top.space();
        }
    }

    /// Adds what is marked up already.
    pub(super) fn inline(&mut self, markup: &str) {
        let top = self.top();
        top.flush();
        top.text.push_str(markup);
    }

    /// Adds what stands on lines of its own.
    pub(super) fn block(&mut self, markup: &str, gap: u8) {
        if markup.is_empty() {
            return;
        }
        self.end_block(gap);
        self.inline(markup);
        self.end_block(gap);
    }

    /// Begins a row of the table that is open.
    pub(super) fn row(&mut self) {
        if let Kind::Table(table) = &mut self.top().kind {
            table.row();
        }
    }

    /// How far a list stands from what is before it.
    pub(super) fn list_gap(&mut self) -> u8 {
        if matches!(self.top().kind, Kind::Item) { 1 } else { 2 }
    }

    pub(super) fn is_in_table(&mut self) -> bool {
        matches!(self.top().kind, Kind::Table(_))
    }

    pub(super) fn is_in_pre(&mut self) -> bool {
        matches!(self.top().kind, Kind::Pre(_))
    }

    /// Says in which language the open code is, unless that is known.
    pub(super) fn in_language(&mut self, name: Option<String>) {
        if let Kind::Pre(language) = &mut self.top().kind
            && language.is_none()
        {
            *language = name;
        }
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the root is closed last")
    }

    fn push(&mut self, kind: Kind) -> u32 {
        self.serial += 1;
        let frame = Frame {
            serial: self.serial,
            kind,
            text: String::new(),
            gap: 0,
            breaks: 0,
            space: false,
            lead: false,
        };
        self.frames.push(frame);
        self.serial
    }

    /// What can be marked within one line: code and emphasis in a heading or a link, a link in a heading.
    fn takes(&mut self, kind: &Kind) -> bool {
        match &self.top().kind {
            Kind::Heading(_) => matches!(kind, Kind::Code | Kind::Link(_) | Kind::Em),
            Kind::Link(_) => matches!(kind, Kind::Code | Kind::Em | Kind::Strong),
            _ => false,
        }
    }

    /// Whether the same marks are open already.
    fn is_in(&self, kind: &Kind) -> bool {
        let same = |frame: &&Frame| std::mem::discriminant(&frame.kind) == std::mem::discriminant(kind);
        self.frames.iter().rev().take_while(|frame| frame.kind.is_inline()).any(|frame| same(&frame))
    }

    /// Ends marks that a page has left open before a block.
    fn end_inline(&mut self) {
        while self.top().kind.is_inline() {
            self.close_top();
        }
    }

    fn close_top(&mut self) {
        let Some(Frame { kind, text, lead, space, breaks, .. }) = self.frames.pop() else { return };
        let is_in_heading = self.frames.iter().any(|frame| matches!(frame.kind, Kind::Heading(_)));
        let trimmed = text.trim_end();
        let mark = |marks: &str| match trimmed.is_empty() {
            true => String::new(),
            false => format!("{marks}{trimmed}{marks}"),
        };
        let markup = match kind {
            Kind::Strong => mark("**"),
            Kind::Em => mark("*"),
            Kind::Del => mark("~~"),
            Kind::Code if trimmed.is_empty() => String::new(),
            Kind::Code => code(trimmed),
            Kind::Link(link) => link.markup(trimmed, is_in_heading),
            block => return self.close_block(block, &text),
        };
        let parent = self.top();
        if lead {
            parent.space();
        }
        if !markup.is_empty() {
            self.join(&markup);
        }
        let parent = self.top();
        parent.breaks = parent.breaks.saturating_add(breaks);
        if space {
            parent.space();
        }
    }

    /// Adds what is marked. Marks that would meet their like are taken out, so that they do not add up to others.
    fn join(&mut self, markup: &str) {
        let top = self.top();
        let pending = top.space || top.gap > 0 || top.breaks > 0;
        for marks in ["**", "~~", "*"] {
            let Some(rest) = markup.strip_prefix(marks).filter(|rest| !rest.starts_with('*') && !pending)
            else {
                continue;
            };
            let before = top.text.strip_suffix(marks).filter(|before| !before.ends_with(['*', '\\']));
            if let Some(length) = before.map(str::len).filter(|length| *length > 0) {
                top.text.truncate(length);
                top.text.push_str(rest);
                return;
            }
        }
        self.inline(markup);
    }

    fn close_block(&mut self, kind: Kind, text: &str) {
        let trimmed = text.trim_end();
        match kind {
            Kind::Heading(_) | Kind::Quote | Kind::Item if trimmed.is_empty() => {}
            Kind::Heading(level) => self.block(&format!("{} {trimmed}", "#".repeat(level.into())), 2),
            Kind::Quote => self.block(&prefixed(trimmed, "> ", "> "), 2),
            Kind::Item => self.item(trimmed),
            Kind::List(_) => {
                let gap = self.list_gap();
                self.block(trimmed, gap);
            }
            Kind::Table(table) => {
                self.block(trimmed, 2);
                self.block(&table.markdown(), 2);
            }
            Kind::Cell { is_heading, columns } => {
                let text = trimmed.to_owned();
                if let Kind::Table(table) = &mut self.top().kind {
                    table.cell(text, is_heading, columns);
                }
            }
            Kind::Pre(_) if trimmed.is_empty() => {}
            Kind::Pre(_) if self.style == Style::Text => {
                self.block(trimmed.trim_start_matches(['\r', '\n']), 2)
            }
            Kind::Pre(language) => self.block(&fenced(text, language.as_deref()), 2),
            Kind::Root | Kind::Strong | Kind::Em | Kind::Del | Kind::Code | Kind::Link(_) => {}
        }
    }

    fn item(&mut self, text: &str) {
        let marker = match &mut self.top().kind {
            Kind::List(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => "- ".to_owned(),
        };
        let indent = " ".repeat(marker.len());
        self.block(&prefixed(text, &marker, &indent), 1);
    }
}

impl Link {
    fn markup(&self, text: &str, is_in_heading: bool) -> String {
        if PERMALINKS.contains(&text) && self.is_inner {
            return String::new();
        }
        if text.is_empty() || self.address.is_empty() || (is_in_heading && self.is_inner) {
            return text.to_owned();
        }
        match self.title.is_empty() || self.title == text {
            true => format!("[{text}]({})", self.address),
            false => format!(
                "[{text}]({} \"{}\")",
                self.address,
                self.title.replace('"', "'").replace(['\n', '\r'], " ")
            ),
        }
    }
}

/// Adds a text without the signs that nobody sees, which can only be meant for machines.
fn seen_into(to: &mut String, text: &str) {
    let is_unseen = |c: char| {
        matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
            || (c.is_control() && !matches!(c, '\n' | '\t'))
    };
    to.extend(text.chars().filter(|c| !is_unseen(*c)).map(|c| if c == '\u{a0}' { ' ' } else { c }));
}
