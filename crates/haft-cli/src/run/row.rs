//! Rows of text for a terminal: painted, measured in columns, and free of anything that could move its cursor.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::terminal::Style;

/// A tab is shown as so many spaces.
const TAB_COLUMNS: usize = 4;

/// How a piece of a row looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

/// One line. Whatever is put into it is made harmless on the way in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row(Vec<(Paint, String)>);

impl Row {
    pub(crate) fn new() -> Row {
        Row::default()
    }

    /// Adds a piece.
    pub(crate) fn with(mut self, paint: Paint, text: &str) -> Row {
        self.push(paint, text);
        self
    }

    /// Adds a piece in no colour.
    pub(crate) fn plain(self, text: &str) -> Row {
        self.with(Paint::Plain, text)
    }

    pub(crate) fn push(&mut self, paint: Paint, text: &str) {
        if !text.is_empty() {
            self.0.push((paint, haft::visible(text)));
        }
    }

    /// Adds a line of a text. Its indentation is kept, however deep.
    pub(crate) fn text(mut self, paint: Paint, line: &str) -> Row {
        let rest = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - rest.len()];
        let columns = indent.chars().map(|c| if c == '\t' { TAB_COLUMNS } else { 1 }).sum();
        let rest = rest.replace('\t', &" ".repeat(TAB_COLUMNS));
        self.0.push((paint, format!("{}{}", " ".repeat(columns), haft::visible(&rest))));
        self
    }

    /// Adds spaces up to a column.
    pub(crate) fn pad(mut self, column: usize) -> Row {
        let missing = column.saturating_sub(self.width());
        self.0.push((Paint::Plain, " ".repeat(missing)));
        self
    }

    /// This row and then another.
    pub(crate) fn joined(mut self, other: Row) -> Row {
        self.0.extend(other.0);
        self
    }

    /// What fits into so many columns, and what is left. At least one character always fits.
    pub(crate) fn split_at(&self, columns: usize) -> (Row, Option<Row>) {
        let (mut head, mut room) = (Row::new(), columns);
        for (at, (paint, text)) in self.0.iter().enumerate() {
            let mut shown = beginning(text, room);
            if shown.is_empty() && head.0.is_empty() {
                shown = first(text);
            }
            head.0.push((*paint, shown.to_owned()));
            room = room.saturating_sub(shown.width());
            if shown.len() < text.len() {
                let cut = (*paint, text[shown.len()..].to_owned());
                let rest = std::iter::once(cut).chain(self.0[at + 1..].iter().cloned());
                return (head, Some(Row(rest.collect())));
            }
        }
        (head, None)
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// The row as a terminal is given it.
    pub(crate) fn painted(&self, style: Style) -> String {
        self.0.iter().map(|(paint, text)| painted(style, *paint, text)).collect()
    }

    /// The same, in no more columns than these.
    pub(crate) fn clipped(&self, columns: usize) -> Row {
        if self.width() <= columns {
            return self.clone();
        }
        let mut left = columns.saturating_sub(1);
        let mut row = Row::new();
        for (paint, text) in &self.0 {
            let shown = beginning(text, left);
            left -= shown.width();
            row.0.push((*paint, shown.to_owned()));
            if shown.len() < text.len() {
                break;
            }
        }
        if columns > 0 {
            row.0.push((Paint::Dim, "…".to_owned()));
        }
        row
    }

    /// The same in rows of at most so many columns, broken at spaces where there are any.
    pub(crate) fn wrapped(&self, columns: usize) -> Vec<Row> {
        let columns = columns.max(2);
        let mut rows = vec![Row::new()];
        let mut room = columns;
        for (paint, text) in &self.0 {
            for word in text.split_inclusive(' ') {
                let mut word = word;
                if word.trim_end().width() > room && room < columns {
                    rows.push(Row::new());
                    room = columns;
                }
                while word.trim_end().width() > room {
                    let head = beginning(word, room);
                    // A character wider than a whole row goes on its own.
                    let head = if head.is_empty() { first(word) } else { head };
                    put(&mut rows, *paint, head);
                    word = &word[head.len()..];
                    rows.push(Row::new());
                    room = columns;
                }
                // The space at which a row is broken is not shown.
                let shown = beginning(word, room);
                put(&mut rows, *paint, shown);
                room -= shown.width();
            }
        }
        rows
    }
}

fn put(rows: &mut [Row], paint: Paint, text: &str) {
    if let Some(row) = rows.last_mut()
        && !text.is_empty()
    {
        match row.0.last_mut() {
            Some((known, piece)) if *known == paint => piece.push_str(text),
            _ => row.0.push((paint, text.to_owned())),
        }
    }
}

fn first(text: &str) -> &str {
    let end = text.chars().next().map_or(0, char::len_utf8);
    &text[..end]
}

/// As much of a text as fits into so many columns.
pub(crate) fn beginning(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

fn painted(style: Style, paint: Paint, text: &str) -> String {
    match paint {
        Paint::Plain => text.to_owned(),
        Paint::Bold => style.bold(text),
        Paint::Dim => style.dim(text),
        Paint::Red => style.red(text),
        Paint::Green => style.green(text),
        Paint::Yellow => style.yellow(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(row: &Row) -> String {
        row.painted(Style::none())
    }

    #[test]
    fn rows_are_measured_in_columns() {
        let row = Row::new().plain("世界 é");
        assert_eq!(row.width(), 6);
        assert_eq!(shown(&row.clipped(4)), "世…");
        assert_eq!(shown(&row.clipped(6)), "世界 é");
        assert_eq!(shown(&row.clipped(0)), "");
    }

    #[test]
    fn no_escape_sequence_passes() {
        let row = Row::new().plain("a\u{1b}[2Jb\r").text(Paint::Red, "\t\u{9b}x\ty");
        assert_eq!(shown(&row), r"a\u{1b}[2Jb\u{d}    \u{9b}x    y");
    }

    #[test]
    fn rows_are_broken_at_spaces_and_inside_what_is_too_long() {
        let wrapped = |text: &str, columns| -> Vec<String> {
            Row::new().plain(text).wrapped(columns).iter().map(shown).collect()
        };
        assert_eq!(wrapped("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrapped("one two", 7), ["one two"]);
        assert_eq!(wrapped("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrapped("世界世界", 5), ["世界", "世界"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}
