//! Bounding: one pure function shortens text for a model, and counts exactly what it left out.
//!
//! What is shown and what is omitted always add up to what was produced, in bytes and in lines. A line ends at a
//! newline; a final newline does not begin another.

/// How much of a text a model is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Lines at most.
    pub lines: usize,
    /// Bytes at most.
    pub bytes: usize,
}

/// Which end of a text is shown when there is too much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// Half of each.
    Both,
}

/// A shortened text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview<'t> {
    /// What is shown of the beginning.
    pub head: &'t str,
    /// What is shown of the end.
    pub tail: &'t str,
    /// How much is shown.
    pub shown: Amount,
    /// How much is not.
    pub omitted: Amount,
    /// Which limit was the one in the way.
    pub limit: Limit,
}

/// An amount of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes.
    pub bytes: usize,
    /// Lines. One that is shown in part is shown.
    pub lines: usize,
}

/// Which limit made a text too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Too many lines.
    Lines,
    /// Too many bytes.
    Bytes,
}

impl Preview<'_> {
    /// How much was left out, in the unit of the limit that was in the way.
    pub fn notice(&self) -> String {
        self.limit.notice(self.omitted)
    }
}

impl Limit {
    /// So much was left out, in the unit of this limit.
    pub fn notice(self, omitted: Amount) -> String {
        match self {
            Limit::Lines => format!("...{} lines truncated...", omitted.lines),
            Limit::Bytes => format!("...{} bytes truncated...", omitted.bytes),
        }
    }
}

/// Whether a text fits a budget. Stops counting lines as soon as there are too many.
pub fn fits(text: &str, budget: Budget) -> bool {
    let newlines = || newlines(text).take(budget.lines.saturating_add(1)).count();
    text.len() <= budget.bytes && newlines() + usize::from(is_unfinished(text)) <= budget.lines
}

/// Shortens a text to a budget. Nothing is copied, and the text is gone through once, to count its lines.
pub fn preview(text: &str, budget: Budget, shape: Shape) -> Preview<'_> {
    let (head_budget, tail_budget) = match shape {
        Shape::Head => (budget, Budget { lines: 0, bytes: 0 }),
        Shape::Tail => (Budget { lines: 0, bytes: 0 }, budget),
        Shape::Both => {
            let tail = Budget { lines: budget.lines / 2, bytes: budget.bytes / 2 };
            (Budget { lines: budget.lines - tail.lines, bytes: budget.bytes - tail.bytes }, tail)
        }
    };
    let head = head_of(text, head_budget);
    let tail = tail_of(&text[head.text.len()..], tail_budget);

    let total = Amount { bytes: text.len(), lines: count_lines(text) as usize };
    let shown_lines = head.lines + tail.lines;
    // One line cut in the middle is shown at both ends and still one line.
    let shown = Amount { bytes: head.text.len() + tail.text.len(), lines: shown_lines.min(total.lines) };
    let omitted = Amount { bytes: total.bytes - shown.bytes, lines: total.lines - shown.lines };
    let limit = if head.cut_by_bytes || tail.cut_by_bytes { Limit::Bytes } else { Limit::Lines };
    Preview { head: head.text, tail: tail.text, shown, omitted, limit }
}

/// The number of lines in a text.
pub fn count_lines(text: &str) -> u64 {
    // Blocks of 255, so that the count of each fits a byte: that is what the processor adds many of at once.
    let newlines = text
        .as_bytes()
        .chunks(255)
        .map(|block| u64::from(block.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>()));
    newlines.sum::<u64>() + u64::from(is_unfinished(text))
}

struct End<'t> {
    text: &'t str,
    lines: usize,
    cut_by_bytes: bool,
}

const NOTHING: End<'static> = End { text: "", lines: 0, cut_by_bytes: false };

fn newlines(text: &str) -> impl Iterator<Item = usize> {
    text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at)
}

/// Whether the last line of a text has no newline.
fn is_unfinished(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\n')
}

/// Whole lines from the start, without the last newline; or part of the first line if that alone is too long.
fn head_of(text: &str, budget: Budget) -> End<'_> {
    if budget.lines == 0 || budget.bytes == 0 || text.is_empty() {
        return NOTHING;
    }
    let mut end = 0;
    let mut lines = 0;
    // What lies beyond the budget is not looked at.
    let reach = text.floor_char_boundary(budget.bytes.saturating_add(1));
    for at in newlines(&text[..reach]).chain([text.len()]) {
        if at > budget.bytes {
            let cut = text.floor_char_boundary(budget.bytes);
            return match lines {
                0 => End { text: &text[..cut], lines: usize::from(cut > 0), cut_by_bytes: true },
                lines => End { text: &text[..end], lines, cut_by_bytes: true },
            };
        }
        end = at;
        lines += 1;
        if lines == budget.lines {
            break;
        }
    }
    End { text: &text[..end], lines, cut_by_bytes: false }
}

/// Whole lines up to the end; or part of the last line if that alone is too long.
fn tail_of(text: &str, budget: Budget) -> End<'_> {
    if budget.lines == 0 || budget.bytes == 0 || text.is_empty() {
        return NOTHING;
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut start = text.len();
    let mut lines = 0;
    // What lies beyond the budget is not looked at.
    let reach = body.len().saturating_sub(budget.bytes.saturating_add(1));
    let starts = (reach..body.len()).rev().filter(|at| body.as_bytes()[*at] == b'\n').map(|at| at + 1);
    for at in starts.chain([0]) {
        if text.len() - at > budget.bytes {
            let cut = text.ceil_char_boundary(text.len() - budget.bytes);
            return match lines {
                0 => End { text: &text[cut..], lines: usize::from(cut < text.len()), cut_by_bytes: true },
                lines => End { text: &text[start..], lines, cut_by_bytes: true },
            };
        }
        start = at;
        lines += 1;
        if lines == budget.lines {
            break;
        }
    }
    End { text: &text[start..], lines, cut_by_bytes: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TINY: Budget = Budget { lines: 3, bytes: 9 };

    #[test]
    fn whole_lines_from_the_start() {
        let shown = preview("aaaa\nbbbb\ncccc", Budget { lines: 100, bytes: 9 }, Shape::Head);
        assert_eq!((shown.head, shown.notice().as_str()), ("aaaa\nbbbb", "...5 bytes truncated..."));
        let shown = preview("0\n1\n2\n3\n4\n", TINY, Shape::Head);
        assert_eq!((shown.head, shown.notice().as_str()), ("0\n1\n2", "...2 lines truncated..."));
    }

    #[test]
    fn whole_lines_up_to_the_end() {
        let shown = preview("0\n1\n2\n3\n4\n", TINY, Shape::Tail);
        assert_eq!((shown.tail, shown.omitted.lines), ("2\n3\n4\n", 2));
    }

    #[test]
    fn a_single_huge_line_still_shows_something() {
        let text = "é".repeat(1000);
        let shown = preview(&text, Budget { lines: 10, bytes: 101 }, Shape::Both);
        assert_eq!((shown.head.len(), shown.tail.len(), shown.limit), (50, 50, Limit::Bytes));
        assert_eq!((shown.shown.lines, shown.omitted.lines), (1, 0));
    }

    #[test]
    fn a_final_newline_begins_no_line() {
        assert!(fits("a\nb\nc\n", TINY) && fits("a\nb\nc", TINY) && fits("", TINY));
        assert!(!fits("a\nb\nc\nd", TINY) && !fits("0123456789", TINY));
        assert_eq!(
            [count_lines(""), count_lines("a"), count_lines("a\n"), count_lines("\n\n")],
            [0, 1, 1, 2]
        );
    }

    proptest! {
        #[test]
        fn shown_and_omitted_add_up_to_what_was_produced(
            text in "([a-c]{0,6}|é|世|\n){0,40}",
            lines in 0usize..12,
            bytes in 0usize..40,
            shape in prop_oneof![Just(Shape::Head), Just(Shape::Tail), Just(Shape::Both)],
        ) {
            let budget = Budget { lines, bytes };
            let p = preview(&text, budget, shape);
            prop_assert_eq!(p.shown.bytes + p.omitted.bytes, text.len());
            prop_assert_eq!(p.shown.lines + p.omitted.lines, text.lines().count());
            prop_assert!(p.shown.bytes <= bytes && p.shown.lines <= lines);
            prop_assert!(text.starts_with(p.head) && text.ends_with(p.tail));
            if fits(&text, budget) && shape != Shape::Both {
                prop_assert!(p.omitted.lines == 0 && text.strip_suffix('\n').unwrap_or(&text).len() <= p.shown.bytes);
            }
        }
    }
}
