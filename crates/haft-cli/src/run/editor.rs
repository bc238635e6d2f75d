//! The line a person writes on. It grows with what is written.

use std::ops::Range;

use super::keys::Key;
use super::row::{Paint, Row};

/// So many earlier lines can be gone back to.
const HISTORY_MAX: usize = 100;

/// A text with a cursor, and the texts before it.
#[derive(Default)]
pub(crate) struct Editor {
    text: String,
    /// Where the cursor is, in bytes.
    cursor: usize,
    history: Vec<String>,
    /// Which earlier text is shown, counted from the last, and what was written before it was gone back to.
    recalled: Option<(usize, String)>,
}

impl Editor {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes out what was written, and remembers it.
    pub(crate) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.clear();
        if !text.trim().is_empty() && self.history.last() != Some(&text) {
            self.history.push(text.clone());
            if self.history.len() > HISTORY_MAX {
                self.history.remove(0);
            }
        }
        text
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.cursor = 0;
        self.recalled = None;
    }

    /// Puts a text before what is written.
    pub(crate) fn put_back(&mut self, text: &str) {
        let rest = std::mem::take(&mut self.text);
        self.text = if rest.is_empty() { text.to_owned() } else { format!("{text}\n{rest}") };
        self.cursor = self.text.len();
    }

    /// Does what a key says, if it means something to an editor.
    pub(crate) fn press(&mut self, key: &Key) {
        match key {
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.insert(text),
            Key::Newline => self.insert("\n"),
            Key::Tab => self.insert("\t"),
            Key::Backspace => self.remove(self.before()..self.cursor),
            Key::Delete => self.remove(self.cursor..self.after()),
            Key::EndOfInput if !self.is_empty() => self.remove(self.cursor..self.after()),
            Key::Left => self.cursor = self.before(),
            Key::Right => self.cursor = self.after(),
            Key::WordLeft => self.cursor = self.word_before(),
            Key::WordRight => self.cursor = self.word_after(),
            Key::Home => self.cursor = self.line_start(),
            Key::End => self.cursor = self.line_end(),
            Key::KillWord => self.remove(self.word_before()..self.cursor),
            Key::KillToStart => self.remove(self.line_start()..self.cursor),
            Key::KillToEnd => self.remove(self.cursor..self.line_end()),
            Key::Up => self.up(),
            Key::Down => self.down(),
            Key::Enter | Key::Escape | Key::EndOfInput | Key::Redraw => {}
        }
    }

    /// How it looks behind a prompt, in rows of so many columns, and where the cursor is: row and column.
    pub(crate) fn rows(&self, prompt: &str, columns: usize) -> (Vec<Row>, (usize, usize)) {
        let indent = Row::new().plain(prompt).width();
        let room = columns.saturating_sub(indent + 1).max(2);
        let (mut rows, mut at, mut position) = (Vec::new(), 0, (0, indent));
        for line in self.text.split('\n') {
            // The cursor stands at the end of what is before it, whatever that takes when it is written out.
            if (at..=at + line.len()).contains(&self.cursor) {
                let before = chunks(&line[..self.cursor - at], room);
                let column = before.last().map_or(0, Row::width);
                position = (rows.len() + before.len() - 1, indent + column);
            }
            rows.extend(chunks(line, room));
            at += line.len() + 1;
        }
        let lead = |number: usize| match number {
            0 => Row::new().with(Paint::Bold, prompt),
            _ => Row::new().pad(indent),
        };
        let rows = rows.into_iter().enumerate().map(|(number, row)| lead(number).joined(row)).collect();
        (rows, position)
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn remove(&mut self, range: Range<usize>) {
        self.cursor = range.start;
        self.text.replace_range(range, "");
    }

    fn before(&self) -> usize {
        self.text[..self.cursor].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.cursor + self.text[self.cursor..].chars().next().map_or(0, char::len_utf8)
    }

    fn word_before(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before.rfind(char::is_whitespace).map_or(0, |at| at + first_len(&before[at..]))
    }

    fn word_after(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let skipped = rest.len() - rest.trim_start().len();
        let end = rest[skipped..].find(char::is_whitespace).map_or(rest.len(), |at| skipped + at);
        self.cursor + end
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    /// A line up, or from the first line an earlier text.
    fn up(&mut self) {
        let start = self.line_start();
        if start > 0 {
            let column = self.cursor - start;
            let above = self.text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
            self.cursor = floor(&self.text, (above + column).min(start - 1));
            return;
        }
        let steps = self.recalled.as_ref().map_or(0, |(steps, _)| *steps) + 1;
        if let Some(earlier) = self.history.len().checked_sub(steps) {
            let written = match self.recalled.take() {
                Some((_, written)) => written,
                None => self.text.clone(),
            };
            self.text.clone_from(&self.history[earlier]);
            self.cursor = self.text.len();
            self.recalled = Some((steps, written));
        }
    }

    fn down(&mut self) {
        let end = self.line_end();
        if end < self.text.len() {
            let column = self.cursor - self.line_start();
            let below_end = self.text[end + 1..].find('\n').map_or(self.text.len(), |at| end + 1 + at);
            self.cursor = floor(&self.text, (end + 1 + column).min(below_end));
            return;
        }
        let Some((steps, written)) = self.recalled.take() else { return };
        if steps == 1 {
            self.text = written;
        } else {
            self.text.clone_from(&self.history[self.history.len() - (steps - 1)]);
            self.recalled = Some((steps - 1, written));
        }
        self.cursor = self.text.len();
    }
}

fn first_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// The nearest place at or before this one where a character begins.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A line cut into rows exactly where they are full, so that the cursor is where it seems.
fn chunks(line: &str, columns: usize) -> Vec<Row> {
    let mut shown = Row::new().text(Paint::Plain, line);
    let mut rows = Vec::new();
    loop {
        let (head, rest) = shown.split_at(columns);
        rows.push(head);
        match rest {
            Some(rest) => shown = rest,
            None => return rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Style;

    fn typed(keys: &[Key]) -> Editor {
        let mut editor = Editor::default();
        for key in keys {
            editor.press(key);
        }
        editor
    }

    fn write(text: &str) -> Editor {
        typed(&[Key::Paste(text.to_owned())])
    }

    #[test]
    fn words_and_lines_are_killed() {
        let mut editor = write("one two  three");
        editor.press(&Key::KillWord);
        assert_eq!(editor.text(), "one two  ");
        editor.press(&Key::KillWord);
        assert_eq!(editor.text(), "one ");
        editor.press(&Key::KillToStart);
        assert_eq!(editor.text(), "");
        let mut editor = write("a\nbc\nd");
        editor.press(&Key::Up);
        editor.press(&Key::KillToEnd);
        assert_eq!(editor.text(), "a\nb\nd");
    }

    #[test]
    fn the_cursor_moves_by_characters_and_words() {
        let mut editor = write("é世 x");
        for _ in 0..3 {
            editor.press(&Key::Left);
        }
        editor.press(&Key::Delete);
        assert_eq!(editor.text(), "é x");
        editor.press(&Key::Home);
        editor.press(&Key::WordRight);
        editor.press(&Key::Char('!'));
        assert_eq!(editor.text(), "é! x");
    }

    #[test]
    fn what_was_sent_can_be_gone_back_to() {
        let mut editor = write("first");
        editor.take();
        editor.press(&Key::Paste("second".to_owned()));
        editor.take();
        editor.press(&Key::Char('n'));
        editor.press(&Key::Up);
        editor.press(&Key::Up);
        editor.press(&Key::Up);
        assert_eq!(editor.text(), "first");
        editor.press(&Key::Down);
        assert_eq!(editor.text(), "second");
        editor.press(&Key::Down);
        assert_eq!(editor.text(), "n", "what was being written is not lost");
    }

    #[test]
    fn it_grows_and_the_cursor_is_where_it_seems() {
        let (rows, cursor) = write("abcdefgh\n世界").rows("> ", 8);
        let shown: Vec<String> = rows.iter().map(|row| row.painted(Style::none())).collect();
        assert_eq!((shown, cursor), (vec!["> abcde".into(), "  fgh".into(), "  世界".into()], (2, 6)));
        let (rows, cursor) = Editor::default().rows("> ", 8);
        assert_eq!((rows.len(), cursor), (1, (0, 2)));
        let (_, cursor) = write("a\u{1b}").rows("> ", 40);
        assert_eq!(cursor, (0, 9), "what is written out takes its room");
    }
}
