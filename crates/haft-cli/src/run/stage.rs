//! Draws on a terminal: lines that stay go above, lines that change are erased and drawn again below.
//!
//! It makes the bytes of a frame and does nothing else, so a frame is one write. There is no second screen: what was
//! shown stays in the terminal's own history.

use super::row::{Paint, Row};
use super::view::Line;
use crate::terminal::Style;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const CLEAR_BELOW: &str = "\u{1b}[J";
const CLEAR_ROW: &str = "\u{1b}[2K";

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// The lines that change, and where the cursor is to stand among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) rows: Vec<Row>,
    /// Row and column.
    pub(crate) cursor: Option<(usize, usize)>,
}

impl Live {
    /// Puts rows below, and the cursor among them.
    pub(crate) fn add(&mut self, rows: Vec<Row>, cursor: Option<(usize, usize)>) {
        if let Some((row, column)) = cursor {
            self.cursor = Some((self.rows.len() + row, column));
        }
        self.rows.extend(rows);
    }
}

/// What is on the terminal.
pub(crate) struct Stage {
    style: Style,
    size: Size,
    /// What changes, as it was drawn last, and whether the terminal had another size then.
    drawn: Live,
    was_resized: bool,
}

impl Stage {
    pub(crate) fn new(style: Style, size: Size) -> Stage {
        Stage { style, size, drawn: Live::default(), was_resized: false }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// The terminal has another size. What is on it was laid out anew by the terminal itself.
    pub(crate) fn resize(&mut self, size: Size) {
        self.was_resized |= size != self.size;
        self.size = size;
    }

    /// The bytes that show these lines and then what changes; nothing if nothing changed.
    pub(crate) fn frame(&mut self, lines: &[Line], live: &Live) -> String {
        let live = self.fitted(live);
        if lines.is_empty() && live == self.drawn {
            return String::new();
        }
        let mut bytes = String::from(HIDE_CURSOR);
        bytes.push_str(&self.erased());
        for line in lines {
            let row = match line {
                Line::Said(text) => &Row::new().text(Paint::Plain, text),
                Line::Told(row) => row,
            };
            let rows = row.wrapped(self.size.columns);
            for row in rows {
                bytes.push_str(&row.painted(self.style));
                bytes.push_str("\r\n");
            }
        }
        let painted: Vec<String> = live.rows.iter().map(|row| row.painted(self.style)).collect();
        bytes.push_str(&painted.join("\r\n"));
        if let Some((row, column)) = live.cursor {
            bytes.push_str(&up(live.rows.len() - 1 - row));
            bytes.push('\r');
            if column > 0 {
                bytes.push_str(&format!("\u{1b}[{column}C"));
            }
            bytes.push_str(SHOW_CURSOR);
        }
        self.drawn = live;
        self.was_resized = false;
        bytes
    }

    /// The bytes that draw everything that changes again, on a terminal of which nothing is known.
    pub(crate) fn redraw(&mut self, live: &Live) -> String {
        let erased = self.erased();
        self.drawn = Live::default();
        format!("{erased}{}", self.frame(&[], live))
    }

    /// The bytes that leave the terminal with nothing but the lines that stay.
    pub(crate) fn leave(&mut self) -> String {
        let erased = self.erased();
        self.drawn = Live::default();
        format!("{erased}{SHOW_CURSOR}")
    }

    /// Erases what changes. A row that has become too wide for the terminal takes several.
    fn erased(&self) -> String {
        if self.drawn.rows.is_empty() {
            return String::new();
        }
        let columns = self.size.columns.max(1);
        let taken = |row: &Row| row.width().max(1).div_ceil(columns);
        let last = self.drawn.rows.len() - 1;
        let all = self.drawn.rows.iter().map(taken).sum::<usize>();
        let above = match self.drawn.cursor {
            Some((row, column)) => {
                self.drawn.rows[..row.min(last)].iter().map(taken).sum::<usize>() + column / columns
            }
            None => all - 1,
        };
        if self.was_resized {
            return format!("{}\r{CLEAR_BELOW}", up(above));
        }
        // Row by row: some terminals keep what is cleared from the top of the screen in their history.
        let rows = vec![CLEAR_ROW; all].join("\u{1b}[1B");
        format!("{}\r{rows}{}", up(above), up(all - 1))
    }

    /// No row wider than the terminal, and no more rows than it has: the last are the ones that matter.
    fn fitted(&self, live: &Live) -> Live {
        let Size { columns, rows } = self.size;
        let columns = columns.saturating_sub(1).max(1);
        let skipped = live.rows.len().saturating_sub(rows.saturating_sub(1).max(1));
        let rows: Vec<Row> = live.rows.iter().skip(skipped).map(|row| row.clipped(columns)).collect();
        let cursor = live.cursor.map(|(row, column)| (row.saturating_sub(skipped), column.min(columns)));
        let cursor = cursor.filter(|(row, _)| *row < rows.len());
        Live { rows, cursor }
    }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\u{1b}[{rows}A") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Row {
        Row::new().plain(text)
    }

    fn live(rows: &[&str], cursor: Option<(usize, usize)>) -> Live {
        Live { rows: rows.iter().map(|text| row(text)).collect(), cursor }
    }

    fn stage() -> Stage {
        Stage::new(Style::none(), Size { columns: 10, rows: 4 })
    }

    #[test]
    fn what_changes_is_erased_and_drawn_below_what_stays() {
        let mut stage = stage();
        assert_eq!(stage.frame(&[], &live(&["one", "two"], None)), "\u{1b}[?25lone\r\ntwo");
        assert_eq!(stage.frame(&[], &live(&["one", "two"], None)), "", "nothing changed");
        let frame = stage.frame(&[Line::Told(row("stays"))], &live(&["three"], None));
        let erased = "\u{1b}[1A\r\u{1b}[2K\u{1b}[1B\u{1b}[2K\u{1b}[1A";
        assert_eq!(frame, format!("\u{1b}[?25l{erased}stays\r\nthree"));
        assert_eq!(stage.leave(), "\r\u{1b}[2K\u{1b}[?25h");
        assert_eq!(stage.leave(), "\u{1b}[?25h");
    }

    #[test]
    fn the_cursor_stands_where_somebody_writes() {
        let mut stage = stage();
        let frame = stage.frame(&[], &live(&["> ab", "below"], Some((0, 4))));
        assert_eq!(frame, "\u{1b}[?25l> ab\r\nbelow\u{1b}[1A\r\u{1b}[4C\u{1b}[?25h");
        let erased = "\u{1b}[?25l\r\u{1b}[2K\u{1b}[1B\u{1b}[2K\u{1b}[1A";
        assert_eq!(stage.frame(&[], &Live::default()), erased, "it is in the first row already");
    }

    #[test]
    fn never_more_rows_than_the_terminal_has_and_none_wider() {
        let mut stage = stage();
        let frame = stage.frame(&[], &live(&["a", "b", "c", "d", "0123456789abc"], Some((4, 3))));
        assert_eq!(frame, "\u{1b}[?25lc\r\nd\r\n01234567…\r\u{1b}[3C\u{1b}[?25h");
    }

    #[test]
    fn rows_that_a_narrower_terminal_broke_are_erased_whole() {
        let mut stage = stage();
        stage.frame(&[], &live(&["12345678", "x"], None));
        stage.resize(Size { columns: 3, rows: 4 });
        assert!(stage.frame(&[], &Live::default()).starts_with("\u{1b}[?25l\u{1b}[3A\r\u{1b}[J"));
    }

    #[test]
    fn what_a_model_says_moves_no_cursor() {
        let said = Line::Said("\u{1b}[2J\u{9b}\tü".to_owned());
        let frame = stage().frame(&[said], &Live::default());
        assert_eq!(frame, "\u{1b}[?25l\\u{1b}[2J\\\r\nu{9b}    ü\r\n");
    }
}
