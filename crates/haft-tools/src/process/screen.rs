//! What a terminal would show of what a program sends it, line by line.
//!
//! This is no terminal: colours and titles are dropped, a line is overwritten as the program overwrites it, and a
//! program that paints a whole screen shows its pieces one after the other.

use std::iter::Peekable;
use std::str::Chars;

/// No program moves further in a line.
const COLUMNS_MAX: usize = 1000;

const ESCAPE: char = '\x1b';

/// The text that is left.
pub(super) fn shown(sent: &str) -> String {
    let mut screen = Screen::default();
    let mut sent = sent.chars().peekable();
    while let Some(c) = sent.next() {
        match c {
            '\n' => screen.end_line(),
            '\r' => screen.column = 0,
            '\x08' => screen.column = screen.column.saturating_sub(1),
            ESCAPE => escaped(&mut screen, &mut sent),
            '\t' => screen.put(c),
            c if c.is_control() => {}
            c => screen.put(c),
        }
    }
    screen.lines.extend(&screen.line);
    screen.lines
}

#[derive(Default)]
struct Screen {
    lines: String,
    line: Vec<char>,
    column: usize,
}

impl Screen {
    fn put(&mut self, c: char) {
        if self.column < self.line.len() {
            self.line[self.column] = c;
        } else {
            self.line.resize(self.column, ' ');
            self.line.push(c);
        }
        self.column += 1;
    }

    fn end_line(&mut self) {
        self.lines.extend(self.line.drain(..));
        self.lines.push('\n');
        self.column = 0;
    }

    /// Does what a control sequence says, as far as it concerns the line.
    fn control(&mut self, parameters: &str, last: char) {
        let first: Option<usize> = parameters.split(';').next().and_then(|number| number.parse().ok());
        let by = first.unwrap_or(1).clamp(1, COLUMNS_MAX);
        match last {
            'K' => self.erase(first.unwrap_or(0)),
            'J' if first.unwrap_or(0) == 0 => self.erase(0),
            'C' => self.column = (self.column + by).min(self.line.len().max(COLUMNS_MAX)),
            'D' => self.column = self.column.saturating_sub(by),
            'G' => self.column = by - 1,
            // Somewhere else on the screen something new begins.
            'H' | 'f' if !self.line.is_empty() => self.end_line(),
            _ => {}
        }
    }

    fn erase(&mut self, what: usize) {
        match what {
            0 => self.line.truncate(self.column),
            1 => {
                let end = self.line.len().min(self.column + 1);
                self.line[..end].fill(' ');
            }
            _ => self.line.clear(),
        }
    }
}

/// What follows an escape.
fn escaped(screen: &mut Screen, sent: &mut Peekable<Chars<'_>>) {
    match sent.next() {
        Some('[') => {
            let mut parameters = String::new();
            while let Some(c) = sent.next_if(|c| (' '..='?').contains(c)) {
                parameters.push(c);
            }
            if let Some(last) = sent.next_if(|c| ('@'..='~').contains(c)) {
                screen.control(&parameters, last);
            }
        }
        // Titles, clipboards and the like: up to their end, which is a bell or an escape and a backslash.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = sent.next() {
                if c == '\x07' || (c == ESCAPE && sent.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        // Which characters there are: one more says it.
        Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => {
            sent.next();
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_is_shown_is_what_a_terminal_would_show() {
        let cases = [
            ("plain\r\ntext\r\n", "plain\ntext\n"),
            ("\x1b[1;31mred\x1b[0m and \x1b[4mmore\x1b[m", "red and more"),
            (" 10%\r 50%\r100%\r\ndone", "100%\ndone"),
            ("loading...\r\x1b[Kready", "ready"),
            ("abcdef\r\x1b[3Cx", "abcxef"),
            ("abc\x08\x08X", "aXc"),
            ("\x1b]0;a title\x07text\x1b]8;;http://x\x1b\\link", "textlink"),
            ("\x1b(B\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
            ("one\x1b[2;1Htwo", "one\ntwo"),
            ("a\tb\x00\x07c", "a\tbc"),
            ("grün \u{1F600}\r\n", "grün \u{1F600}\n"),
            ("cut off \x1b[", "cut off "),
            ("", ""),
        ];
        for (sent, expected) in cases {
            assert_eq!(shown(sent), expected, "{sent:?}");
        }
    }

    #[test]
    fn nothing_that_is_sent_makes_much_of_little() {
        let far = "\x1b[999999999C".repeat(100) + "x";
        assert!(shown(&far).len() < 5000);
        assert_eq!(shown("\x1b[18446744073709551616Gx"), "x");
    }
}
