//! Which parts of a text are secrets, so that no message shows them: by the keys they stand under, and by what they look
//! like. The text may be broken in any way, since that is when it is shown.

use std::ops::Range;

use haft_store::{is_secret_name, key_places, password_in};

/// What stands where a secret stood.
const MASK: &str = "…";

/// Tables in which every value is taken for a secret, whatever its own key is.
const SECRET_TABLES: &[&str] = &["headers", "cookie", "cookies"];

/// A part of a text with its secrets taken out.
pub(super) fn masked(text: &str, part: Range<usize>, secrets: &[Range<usize>]) -> String {
    let mut shown = String::new();
    let mut at = part.start;
    for secret in secrets.iter().filter(|secret| secret.start < part.end && secret.end > part.start) {
        let (start, end) = (secret.start.max(at), secret.end.min(part.end));
        if start < end {
            shown.push_str(&text[at..start]);
            shown.push_str(MASK);
            at = end;
        }
    }
    shown.push_str(&text[at..part.end]);
    shown
}

/// Where secrets stand in a text, in order.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Scan::new(text, false).run();
    found.extend(key_places(text));
    found.sort_by_key(|range| range.start);
    found
}

/// A table or a list that is not closed yet.
struct Table {
    is_secret: bool,
    is_list: bool,
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// Whether all of the text is a comment, in which there are no others.
    is_comment: bool,
    line: Line,
    tables: Vec<Table>,
    /// A word that may turn out to be a key.
    named: Option<&'t str>,
    /// The key whose value comes now, or came before in the same line.
    key: Option<Key>,
    found: Vec<Range<usize>>,
}

/// A key whose value is expected.
struct Key {
    /// Whether it names a secret.
    is_secret: bool,
    /// How far its line is indented.
    indent: usize,
    /// Whether something was taken for its value.
    has_value: bool,
}

impl Key {
    fn new(name: &str, indent: usize) -> Key {
        // A pattern such as `*.key` names files.
        let is_plain = |key: &str| key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        let is_secret = is_plain(name) && is_secret_name(name)
            || SECRET_TABLES.iter().any(|table| name.eq_ignore_ascii_case(table));
        Key { is_secret, indent, has_value: false }
    }
}

/// The line that is read.
#[derive(Default)]
struct Line {
    start: usize,
    /// How far it is indented, once something but space was read of it.
    indent: Option<usize>,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str, is_comment: bool) -> Scan<'t> {
        Scan {
            text,
            at: 0,
            is_comment,
            line: Line::default(),
            tables: Vec::new(),
            named: None,
            key: None,
            found: Vec::new(),
        }
    }

    /// Where secrets stand by their keys.
    fn run(mut self) -> Vec<Range<usize>> {
        while let Some(byte) = self.text.as_bytes().get(self.at).copied() {
            let rest = &self.text[self.at..];
            let is_comment = rest.starts_with("//") || rest.starts_with("/*");
            if !byte.is_ascii_whitespace() && !is_comment && self.line.indent.is_none() {
                // An entry of a list in YAML: what it holds is indented further.
                if byte == b'-' && rest[1..].starts_with(char::is_whitespace) {
                    self.at += 1;
                    continue;
                }
                self.begin_line();
            }
            match byte {
                b'{' if rest.starts_with("{env:") || rest.starts_with("{file:") => self.word(),
                b'{' | b'[' => {
                    let is_secret = self.is_secret();
                    self.tables.push(Table { is_secret, is_list: byte == b'[' });
                    self.separate();
                }
                b'}' | b']' => {
                    self.tables.pop();
                    self.separate();
                }
                b',' => self.separate(),
                b':' | b'=' => {
                    match self.named.take() {
                        Some(name) => self.begin_value(name),
                        None => self.note_value(false),
                    }
                    self.at += 1;
                }
                b'\n' => {
                    self.at += 1;
                    self.line = Line { start: self.at, indent: None };
                }
                _ if is_comment && self.is_comment => self.at += 1,
                _ if is_comment => self.comment(),
                b'"' | b'\'' => self.string(byte),
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => self.word(),
            }
        }
        self.found
    }

    /// What follows the value of a key in another line is not its value any longer, unless it is indented further where
    /// nothing else shows what belongs together. It is enough to know that of secrets.
    fn begin_line(&mut self) {
        let indent = self.at - self.line.start;
        self.line.indent = Some(indent);
        let is_open = self.tables.is_empty() && self.is_secret();
        if self.key.as_ref().is_some_and(|key| key.has_value && !(is_open && indent > key.indent)) {
            (self.named, self.key) = (None, None);
        }
    }

    fn begin_value(&mut self, name: &str) {
        self.key = Some(Key::new(name, self.line.indent.unwrap_or_default()));
    }

    fn note_value(&mut self, has_value: bool) {
        if let Some(key) = &mut self.key {
            key.has_value = has_value;
        }
    }

    fn separate(&mut self) {
        (self.named, self.key) = (None, None);
        self.at += 1;
    }

    /// What was commented out is a text of its own.
    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        let length = match rest.starts_with("//") {
            true => rest.find('\n').unwrap_or(rest.len()),
            false => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
        };
        let inside = self.at + 2..self.at + length.max(2);
        let found = Scan::new(&self.text[inside.clone()], true).run();
        self.found
            .extend(found.into_iter().map(|range| range.start + inside.start..range.end + inside.start));
        self.at += length.max(2);
        if let Some(last) = self.text[inside.clone()].rfind('\n') {
            self.line = Line { start: inside.start + last + 1, indent: None };
        }
    }

    /// A string, which ends at the end of its line at the latest.
    fn string(&mut self, quote: u8) {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut end = start;
        while bytes.get(end).is_some_and(|byte| *byte != quote && *byte != b'\n') {
            end += if bytes[end] == b'\\' && bytes.get(end + 1).is_some_and(|byte| *byte != b'\n') {
                2
            } else {
                1
            };
        }
        let end = self.text.floor_char_boundary(end.min(bytes.len()));
        self.at = if bytes.get(end) == Some(&quote) { end + 1 } else { end };
        self.take(start..end);
    }

    /// A word without quotes. One that is a value goes on to the next separator.
    fn word(&mut self) {
        let is_value = self.key.is_some();
        let is_end = |c: char| {
            c.is_whitespace() || matches!(c, ',' | '}' | ']') || (!is_value && matches!(c, ':' | '=' | '"'))
        };
        let rest = &self.text[self.at..];
        let first = rest.chars().next().map_or(1, char::len_utf8);
        // In YAML the rest of the line is a comment; whoever wrote it may have meant it as the value.
        let is_remark = rest.starts_with('#') && self.is_secret();
        let length = match rest.starts_with("{env:") || rest.starts_with("{file:") {
            _ if is_remark => rest.find('\n').unwrap_or(rest.len()),
            true => rest.find(['}', '\n']).map_or(rest.len(), |end| end + 1),
            false => rest[first..].find(is_end).map_or(rest.len(), |end| first + end),
        };
        let range = self.at..self.at + length;
        self.at = range.end;
        match &self.text[range.clone()] {
            "true" | "false" | "null" => self.note_value(true),
            word if is_value && announces_block(word) => {}
            word if is_value && !self.is_secret() && word.len() > 1 && word.ends_with(':') => {
                self.begin_value(&word[..word.len() - 1]);
            }
            _ => {
                let had_value = self.key.as_ref().is_some_and(|key| key.has_value);
                self.take(range);
                self.note_value(had_value || !is_remark);
            }
        }
    }

    /// A string or a word: a key, or a value that may be secret.
    fn take(&mut self, range: Range<usize>) {
        let word = &self.text[range.clone()];
        if let (None, Some(name)) = (&self.key, self.named) {
            // Two words side by side: the colon is what is missing.
            self.begin_value(name);
        }
        let in_list = self.tables.last().is_some_and(|table| table.is_list);
        match (&self.key, in_list) {
            (None, false) => self.named = Some(word),
            (Some(_), _) | (None, true) => {
                // One more word may be the next key, if the comma is what is missing. What is secret stays so.
                self.named = (self.key.is_some() && !self.is_secret()).then_some(word);
                self.note_value(true);
                if self.is_secret() && !is_reference(word) && !range.is_empty() {
                    self.found.push(range);
                } else if let Some(password) = password_in(word) {
                    let start = range.start + word.rfind(password).unwrap_or(0);
                    self.found.push(start..start + password.len());
                }
            }
        }
    }

    /// Whether what stands here is secret by the key or by the table it stands in.
    fn is_secret(&self) -> bool {
        self.tables.last().is_some_and(|table| table.is_secret)
            || self.key.as_ref().is_some_and(|key| key.is_secret)
    }
}

/// Whether a word says that the value stands in the lines that follow, as YAML has it.
fn announces_block(word: &str) -> bool {
    let rest = word.strip_prefix(['|', '>']);
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-')))
}

/// Whether a value is nothing but a reference, which tells where the secret is and not what it is.
fn is_reference(word: &str) -> bool {
    let inside = word.strip_prefix("{env:").or_else(|| word.strip_prefix("{file:"));
    inside.and_then(|rest| rest.strip_suffix('}')).is_some_and(|rest| !rest.contains(['{', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        masked(text, 0..text.len(), &secrets(text))
    }

    #[test]
    fn values_under_names_of_secrets_are_not_shown_however_broken_the_text_is() {
        for (written, expected) in [
            (r#"{"apiKey": "hunter2", "x": 1}"#, r#"{"apiKey": "…", "x": 1}"#),
            (r#"{"apiKey": "hun\"ter2" "x": 1}"#, r#"{"apiKey": "…" "…": …}"#),
            (r#"{"accessToken": "hunter2"#, r#"{"accessToken": "…"#),
            (r#"{"secretValue" "hunter2"}"#, r#"{"secretValue" "…"}"#),
            ("{password: hunter2, a: b}", "{password: …, a: b}"),
            ("{'x-api-key' = 'hunter2'}", "{'x-api-key' = '…'}"),
            ("password: hunter 2\nmode: all", "password: … …\nmode: all"),
            (
                "{\"headers\": {\n\"X-Team\": \"hunter2\"},\n\"a\": \"b\"}",
                "{\"headers\": {\n\"X-Team\": \"…\"},\n\"a\": \"b\"}",
            ),
            (r#"{"tokens": ["hunter2", "3"], "a": ["b"]}"#, r#"{"tokens": ["…", "…"], "a": ["b"]}"#),
            ("{\"apiKey\":\n\"hunter2\"}", "{\"apiKey\":\n\"…\"}"),
            ("\"apiKey\": // mine\n\"hunter2\" \"x\": 1", "\"apiKey\": // mine\n\"…\" \"…\": …"),
            ("{\"apiKey\": /* mine\n */\n\"hunter2\"}", "{\"apiKey\": /* mine\n */\n\"…\"}"),
            ("\"apiKey\":\n\n\"hunter2\"", "\"apiKey\":\n\n\"…\""),
            ("\"apiKey\"\n// mine\n: \n \n\"hunter2\"", "\"apiKey\"\n// mine\n: \n \n\"…\""),
            ("apiKey: |\n  hunter2\n\n  hunter3\nmode: all", "apiKey: |\n  …\n\n  …\nmode: all"),
            ("apiKey: >-\nhunter2\nmode: all", "apiKey: >-\n…\nmode: all"),
            ("apiKey: # mine\nhunter2\nmode: all", "apiKey: …\n…\nmode: all"),
            ("tokens:\n- hunter2\n- hunter3\nmode: all", "tokens:\n- …\n- …\nmode: all"),
            ("- apiKey: hunter2\n  mode: all", "- apiKey: …\n  mode: all"),
            ("mine:\n  apiKey: hunter2\n  mode: all", "mine:\n  apiKey: …\n  mode: all"),
            (r#"{"a": "b" "apiKey": "hunter2"}"#, r#"{"a": "b" "apiKey": "…"}"#),
            (
                "{} //// apiKey: hunter2\n/* /* \"apiKey\": \"hunter2\"",
                "{} //// apiKey: …\n/* /* \"apiKey\": \"…\"",
            ),
            (r#"{"a": 1, // "apiKey": "hunter2""#, r#"{"a": 1, // "apiKey": "…""#),
            (r#"{"url": "https://me:hunter2@host/x"}"#, r#"{"url": "https://me:…@host/x"}"#),
            ("{\"a\": \"sk-ant-abcdefghijklmnopqrstuvwxyz\"}", "{\"a\": \"…\"}"),
        ] {
            assert_eq!(shown(written), expected);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for plain in [
            r#"{"permission": {"edit": {"src/*": "allow", "tests/*": "alow"}}}"#,
            r#"{"apiKey": "{env:OPENAI_API_KEY}"}"#,
            r#"{"apiKey": {env:OPENAI_API_KEY}}"#,
            r#"{"apiKey": null, "max_tokens": 5}"#,
            r#"{"read": {"*.key": "alow", "secrets/*": "alow"}}"#,
            "don't: worry # it's 'fine",
            "",
            "{",
            "\"\\",
            "ü: é",
        ] {
            assert_eq!(shown(plain), plain);
        }
    }

    #[test]
    fn no_text_is_too_much() {
        let long = "\"a\":".repeat(10_000);
        let parts = ["//\n", "/**/", "{", "\n", ":", " ", "- ", "|\n", "#", "a: ", "\"", &long];
        let sized = ["/", "/*"].map(|part| (part, 1 << 20)).into_iter();
        for (part, size) in sized.chain(parts.map(|part| (part, 1 << 17))) {
            for before in ["{ \"permision\": {} } //", "apiKey:", "/*", ""] {
                let text = format!("{before}{}", part.repeat(size / part.len()));
                assert!(shown(&text).starts_with(before));
            }
        }
    }

    #[test]
    fn a_part_shows_no_secret_that_reaches_into_it() {
        let text = r#"{"apiKey": "hunter2"}"#;
        let secrets = secrets(text);
        assert_eq!(masked(text, 0..14, &secrets), r#"{"apiKey": "…"#);
        assert_eq!(masked(text, 14..16, &secrets), "…");
        assert_eq!(masked(text, 16..text.len(), &secrets), "…\"}");
    }
}
