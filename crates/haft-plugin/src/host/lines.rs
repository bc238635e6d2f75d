//! How much of what a host logs is told: so much in a while, and then how much was left out.

use std::time::{Duration, Instant};

/// So many lines are told, and so much text, in a while of this length.
const LINES_MAX: usize = 200;
const BYTES_MAX: usize = 256 << 10;
const WHILE: Duration = Duration::from_secs(10);

/// So much is shown of what is said at once.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Counts the lines of one host.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// When this while began.
    began: Option<Instant>,
    lines: usize,
    bytes: usize,
    left_out: LeftOut,
}

/// Lines that were not told.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeftOut {
    lines: usize,
    /// Whether any of them was a warning or an error.
    matters: bool,
}

impl Lines {
    /// Whether a text is told that is said now, and what is to be told before it.
    pub(super) fn take(&mut self, now: Instant, level: &str, text: &str) -> (Option<LeftOut>, bool) {
        let lines = text.lines().count().max(1);
        let is_over = self.began.is_none_or(|began| now.duration_since(began) >= WHILE);
        let before = is_over.then(|| self.rest()).flatten();
        if is_over {
            (self.began, self.lines, self.bytes) = (Some(now), 0, 0);
        }
        let is_told = self.lines < LINES_MAX && self.bytes < BYTES_MAX;
        if is_told {
            self.lines += lines;
            self.bytes += text.len();
        } else {
            self.left_out.lines += lines;
            self.left_out.matters |= matches!(level, "warn" | "error");
        }
        (before, is_told)
    }

    /// What was left out and nobody has been told of.
    pub(super) fn rest(&mut self) -> Option<LeftOut> {
        Some(std::mem::take(&mut self.left_out)).filter(|left_out| left_out.lines > 0)
    }
}

/// A text that is not too long to be shown, in bytes and in lines.
pub(super) fn cut(mut text: String) -> String {
    let bytes = text.len();
    let beyond = text.match_indices('\n').nth(LINES_MAX - 1).map_or(bytes, |(at, _)| at);
    let end = text.floor_char_boundary(beyond.min(LINE_BYTES_MAX));
    if end < bytes {
        text.truncate(end);
        text.push_str(&format!("… ({bytes} bytes)"));
    }
    text
}

impl LeftOut {
    /// How important it is to know that.
    pub(super) fn level(self) -> &'static str {
        if self.matters { "warn" } else { "info" }
    }

    /// The line that says so of somebody.
    pub(super) fn words(self, whose: &str) -> String {
        let lines = match self.lines {
            1 => "1 line was".to_owned(),
            lines => format!("{lines} lines were"),
        };
        let (kilobytes, seconds) = (BYTES_MAX >> 10, WHILE.as_secs());
        format!("{lines} left out of {whose}: {LINES_MAX} lines or {kilobytes} KiB are shown in {seconds} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_counted_and_told_once() {
        let mut lines = Lines::default();
        let began = Instant::now();
        for _ in 0..LINES_MAX {
            assert_eq!(lines.take(began, "error", "x"), (None, true));
        }
        for _ in 0..3 {
            assert_eq!(lines.take(began, "info", "x"), (None, false));
        }
        let (before, is_told) = lines.take(began + WHILE, "info", "x");
        let before = before.unwrap();
        let words = before.words("/a/b.ts");
        assert!(is_told && words.starts_with("3 lines were left out of /a/b.ts"), "{words}");
        assert_eq!(before.level(), "info", "what matters was told");
        assert_eq!(lines.take(began + WHILE, "info", "x"), (None, true));
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn a_line_of_any_length_is_shown_in_part() {
        assert_eq!(cut("short".to_owned()), "short");
        let long = cut("é".repeat(LINE_BYTES_MAX));
        assert!(long.len() < LINE_BYTES_MAX + 100 && long.ends_with("… (131072 bytes)"), "{}", long.len());
    }

    #[test]
    fn a_few_long_lines_are_too_much_too() {
        let mut lines = Lines::default();
        let now = Instant::now();
        assert_eq!(lines.take(now, "info", &"x".repeat(BYTES_MAX)), (None, true));
        assert_eq!(lines.take(now, "warn", "x"), (None, false));
        assert_eq!(lines.rest().map(|left_out| (left_out.lines, left_out.level())), Some((1, "warn")));
    }

    #[test]
    fn a_text_counts_as_many_lines_as_it_has() {
        let many = cut("x\n".repeat(LINES_MAX + 50));
        assert_eq!(many.lines().count(), LINES_MAX);
        assert!(many.ends_with("x… (500 bytes)"), "{many}");
        let mut lines = Lines::default();
        let now = Instant::now();
        assert_eq!(lines.take(now, "info", &many), (None, true));
        assert_eq!(lines.take(now, "info", "x\ny"), (None, false));
        assert_eq!(lines.rest().map(|left_out| left_out.lines), Some(2));
    }
}
