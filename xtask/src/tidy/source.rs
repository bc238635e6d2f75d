//! Rust text with comments and literals set apart, so that rules judge code and not prose.
//! Offsets are the same in the code and in the original text.

use std::ops::Range;

pub(super) struct Source {
    /// The text with every comment and the inside of every literal blanked out.
    pub(super) code: String,
    /// The string literals, in order.
    pub(super) literals: Vec<Literal>,
}

pub(super) struct Literal {
    /// Where it stands, quotes included.
    pub(super) at: Range<usize>,
    /// What stands between the quotes, escapes as written.
    pub(super) value: String,
}

impl Source {
    pub(super) fn parse(text: &str) -> Source {
        let bytes = text.as_bytes();
        let mut code = bytes.to_vec();
        let mut literals = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let end = match &bytes[at..] {
                [b'/', b'/', ..] => {
                    let end = find(bytes, at, b"\n").unwrap_or(bytes.len());
                    blank(&mut code, at..end);
                    end
                }
                [b'/', b'*', ..] => {
                    let end = end_of_block_comment(bytes, at);
                    blank(&mut code, at..end);
                    end
                }
                [b'"', ..] => {
                    let end = end_of_quoted(bytes, at, b'"');
                    keep_literal(text, at..end, at + 1..end.saturating_sub(1), &mut code, &mut literals);
                    end
                }
                [b'r', ..] if !is_word_before(bytes, at) => match raw_string(bytes, at) {
                    Some((end, inside)) => {
                        keep_literal(text, at..end, inside, &mut code, &mut literals);
                        end
                    }
                    None => at + 1,
                },
                [b'\'', ..] => match end_of_char(text, at) {
                    Some(end) => {
                        blank(&mut code, at + 1..end - 1);
                        end
                    }
                    None => at + 1,
                },
                _ => at + 1,
            };
            at = end;
        }
        let code = String::from_utf8(code).expect("only whole characters are blanked");
        Source { code, literals }
    }

    /// The number of the line that `offset` is on.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.code[..offset].matches('\n').count() + 1
    }

    /// The items that exist only under `#[cfg(test)]`, attribute included.
    pub(super) fn test_items(&self) -> Vec<Range<usize>> {
        let starts = self.code.match_indices("#[cfg(").map(|(at, _)| at);
        starts.filter(|at| is_cfg_test(&self.code[*at..])).map(|at| at..self.end_of_item(at)).collect()
    }

    /// The test functions: their names and where each name stands.
    pub(super) fn test_functions(&self) -> Vec<(&str, usize)> {
        let attributes = self.code.match_indices("#[").filter(|(at, _)| {
            let path = self.code[at + 2..].split([']', '(']).next().unwrap_or_default();
            path.trim().rsplit("::").next() == Some("test")
        });
        attributes
            .filter_map(|(at, _)| {
                let name_at = at + self.code[at..].find("fn ")? + "fn ".len();
                Some((word(&self.code[name_at..]), name_at))
            })
            .collect()
    }

    /// Whether the code has a function of this name.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.code.contains(&format!("fn {name}("))
    }

    /// The end of the parentheses or braces that open at `open`.
    pub(super) fn close_of(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for (offset, byte) in self.code.bytes().enumerate().skip(open) {
            match byte {
                b'(' | b'{' | b'[' => depth += 1,
                b')' | b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return offset;
            }
        }
        self.code.len()
    }

    fn end_of_item(&self, attribute: usize) -> usize {
        let body = self.close_of(attribute + 1) + 1;
        match self.code[body..].find(['{', ';']).map(|found| body + found) {
            Some(open) if self.code.as_bytes()[open] == b'{' => self.close_of(open),
            Some(semicolon) => semicolon,
            None => self.code.len(),
        }
    }
}

fn is_cfg_test(code: &str) -> bool {
    code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test,")
}

fn word(code: &str) -> &str {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

fn keep_literal(
    text: &str,
    at: Range<usize>,
    inside: Range<usize>,
    code: &mut [u8],
    literals: &mut Vec<Literal>,
) {
    // A literal that never ends is the compiler's to report.
    if let Some(value) = text.get(inside.clone()) {
        literals.push(Literal { at, value: value.to_owned() });
        blank(code, inside);
    }
}

fn blank(code: &mut [u8], range: Range<usize>) {
    for byte in &mut code[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    bytes.get(from..)?.windows(what.len()).position(|window| window == what).map(|found| from + found)
}

fn is_word_before(bytes: &[u8], at: usize) -> bool {
    // `br"…"` and `cr"…"` are raw strings too.
    let word = |index: usize| bytes[index].is_ascii_alphanumeric() || bytes[index] == b'_';
    let Some(previous) = at.checked_sub(1) else { return false };
    let prefix = matches!(bytes[previous], b'b' | b'c') && !previous.checked_sub(1).is_some_and(word);
    word(previous) && !prefix
}

fn end_of_block_comment(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0usize, start);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    at
}

fn end_of_quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of the raw string that starts at `start`, and what is inside; a raw identifier is not one.
fn raw_string(bytes: &[u8], start: usize) -> Option<(usize, Range<usize>)> {
    let hashes = bytes[start + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = start + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = find(bytes, open + 1, &[b"\"".as_slice(), &b"#".repeat(hashes)].concat())?;
    Some((close + 1 + hashes, open + 1..close))
}

/// The end of the character literal that starts at `start`; a lifetime is not one.
fn end_of_char(text: &str, start: usize) -> Option<usize> {
    let mut rest = text[start + 1..].char_indices();
    match rest.next()?.1 {
        '\\' => Some(end_of_quoted(text.as_bytes(), start, b'\'')),
        _ => rest.next().filter(|(_, c)| *c == '\'').map(|(offset, _)| start + 1 + offset + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let text = r##"let a = "x // y"; // "z"
/* "q" /* */ */ let r#type: &'a str = r#"raw " end"#; let c = ['"', '\'', 'é'];"##;
        let source = Source::parse(text);
        let values: Vec<&str> = source.literals.iter().map(|literal| literal.value.as_str()).collect();
        assert_eq!(values, ["x // y", "raw \" end"]);
        assert!(source.code.contains("r#type: &'a str"));
        assert_eq!(source.code.len(), text.len());
        assert_eq!(source.line(source.literals[1].at.start), 2);
    }

    #[test]
    fn test_functions_are_found_by_their_attribute() {
        let source = Source::parse(
            "fn helper() {}\n#[test]\nfn a() {}\n#[tokio::test(flavor = \"x\")]\nasync fn b() {}\n// #[test] fn c() {}",
        );
        let names: Vec<&str> = source.test_functions().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(source.has_function("helper") && !source.has_function("c"));
    }

    #[test]
    fn test_items_end_with_their_brace() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { \"}\"; } }\nfn c() {}\n#[cfg(test)]\nuse x;\nfn d() {}";
        let source = Source::parse(text);
        let items: Vec<&str> = source.test_items().into_iter().map(|range| &text[range]).collect();
        assert_eq!(items, ["#[cfg(test)]\nmod tests { fn b() { \"}\"; } ", "#[cfg(test)]\nuse x"]);
    }
}
