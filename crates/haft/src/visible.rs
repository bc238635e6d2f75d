//! Text made safe to show: what could hide, reorder or imitate other text is written out.

/// Runs of spaces longer than this are counted instead of shown.
const SPACES_MAX: usize = 16;
/// A line of marks is not longer than this.
const MARKS_BYTES_MAX: usize = 400;

/// Writes out control, bidirectional and invisible characters, and counts long runs of spaces, so that a person sees
/// exactly what is there. Newlines and tabs are written out too: the result is one line.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    show(text, |_| false, &mut shown);
    shown
}

/// Like [`visible`], but keeps the lines (and tabs) of a text of several. Marks stay below what they mark.
pub fn visible_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            shown.push('\n');
        }
        match only_marks(line) {
            true => shown.push_str(line),
            false => show(line, |c| c == '\t', &mut shown),
        }
    }
    shown
}

/// Whether a line only points at something in the line above it: its spaces hide nothing.
fn only_marks(line: &str) -> bool {
    line.len() <= MARKS_BYTES_MAX
        && line.ends_with('^')
        && line.bytes().all(|byte| matches!(byte, b' ' | b'|' | b'^'))
}

fn show(text: &str, keeps: impl Fn(char) -> bool, shown: &mut String) {
    let mut spaces = 0;
    let flush = |spaces: &mut usize, shown: &mut String| match std::mem::take(spaces) {
        run if run > SPACES_MAX => shown.push_str(&format!(" ⟨{run} spaces⟩ ")),
        run => shown.extend(std::iter::repeat_n(' ', run)),
    };
    for c in text.chars() {
        if c == ' ' {
            spaces += 1;
            continue;
        }
        flush(&mut spaces, shown);
        match c {
            c if keeps(c) => shown.push(c),
            c if is_deceptive(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    flush(&mut spaces, shown);
}

/// Whether a character could hide, reorder or imitate others, so that [`visible`] writes it out.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{20dd}'..='\u{20e0}' | '\u{20e2}'..='\u{20e4}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1345f}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || (c.is_whitespace() && !c.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_out_what_could_deceive() {
        assert_eq!(visible("ls\u{1b}[2K\rrm x"), r"ls\u{1b}[2K\u{d}rm x");
        assert_eq!(visible("a\u{202e}b\u{200b}c"), r"a\u{202e}b\u{200b}c");
        assert_eq!(visible(&format!("a{}b", " ".repeat(500))), "a ⟨500 spaces⟩ b");
        assert_eq!(visible("a\nb"), r"a\u{a}b");
        assert_eq!(visible("a\u{2800}\u{1d173}\u{1bca0}\u{20dd}"), r"a\u{2800}\u{1d173}\u{1bca0}\u{20dd}");
        assert_eq!(visible_lines("a\n\tb é 世"), "a\n\tb é 世");
        assert_eq!(visible_lines("a\n"), "a\n");
        assert_eq!(visible("a  "), "a  ");
    }

    #[test]
    fn a_line_of_marks_stays_below_what_it_marks() {
        let marks = format!("  7 | x\n    | {}^^^", " ".repeat(50));
        assert_eq!(visible_lines(&marks), marks);
        for hides in ["^ rm", "-", "^\u{200b}"] {
            let text = format!("    | {}{hides}", " ".repeat(50));
            assert!(visible_lines(&text).contains("⟨51 spaces⟩"), "{text:?}");
        }
        assert!(visible_lines(&format!("{}^", " ".repeat(500))).contains("⟨500 spaces⟩"));
        assert!(visible(&format!("a{}^", " ".repeat(50))).contains("⟨50 spaces⟩"), "not on the same line");
    }
}
