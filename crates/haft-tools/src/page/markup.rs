//! The marks of Markdown around a text, and the signs in a text that would be taken for marks.

/// Puts a text into a fence that nothing in it ends.
pub(super) fn fenced(text: &str, language: Option<&str>) -> String {
    let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
    let text = text.trim_end();
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{}\n{text}\n{fence}", language.unwrap_or_default())
}

/// Marks a text as code.
pub(super) fn code(text: &str) -> String {
    let marks = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{pad}{text}{pad}{marks}")
}

/// Begins each line of a text with the same, and leaves no blanks at the end of empty ones.
pub(super) fn prefixed(text: &str, first: &str, others: &str) -> String {
    let mut all = String::with_capacity(text.len() + text.len() / 8 + first.len());
    for (number, line) in text.split('\n').enumerate() {
        let prefix = if number == 0 { first } else { others };
        if number > 0 {
            all.push('\n');
        }
        all.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
        all.push_str(line);
    }
    all
}

/// Adds a word, with a backslash before what would be taken for a mark.
pub(super) fn escape_into(to: &mut String, word: &str, begins_line: bool) {
    let mut kept = 0;
    if begins_line && begins_like_a_block(word) {
        // A number is no mark; what stands after it is.
        kept = word.bytes().take_while(u8::is_ascii_digit).count();
        to.push_str(&word[..kept]);
        to.push('\\');
    }
    let bytes = word.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let is_mark = match byte {
            b'`' | b'*' | b'[' => true,
            b'\\' => next.is_ascii_punctuation(),
            // Within a word it marks nothing.
            b'_' => at == 0 || !next.is_ascii_alphanumeric() || !bytes[at - 1].is_ascii_alphanumeric(),
            b'<' => next.is_ascii_alphabetic() || matches!(next, b'/' | b'!'),
            _ => false,
        };
        if is_mark {
            to.push_str(&word[kept..at]);
            to.push('\\');
            kept = at;
        }
    }
    to.push_str(&word[kept..]);
}

/// An address as it can stand in a link.
pub(super) fn target(address: &str) -> String {
    let odd = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>');
    if !address.contains(odd) {
        return address.to_owned();
    }
    let mut safe = String::with_capacity(address.len() + 8);
    for c in address.chars() {
        match c {
            '(' => safe.push_str("%28"),
            ')' => safe.push_str("%29"),
            '<' => safe.push_str("%3C"),
            '>' => safe.push_str("%3E"),
            c if c.is_whitespace() => safe.push_str("%20"),
            c => safe.push(c),
        }
    }
    safe
}

fn begins_like_a_block(word: &str) -> bool {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = digits.len() < word.len() && matches!(digits, "." | ")");
    let is_heading = word.len() <= 6 && word.bytes().all(|byte| byte == b'#');
    is_heading
        || is_number
        || matches!(word, "-" | "+" | "---" | "===")
        || word.starts_with('>')
        || word.starts_with("~~~")
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
