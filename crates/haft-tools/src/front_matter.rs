//! Front matter: the YAML between two lines `---` at the beginning of a Markdown file, with the place of everything.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// Longer front matter is none that anybody wrote.
const BYTES_MAX: usize = 64 << 10;
const NODES_MAX: usize = 4_000;
const DEPTH_MAX: usize = 32;
const FENCE: &str = "---";

/// A Markdown file in two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split<'a> {
    /// The YAML, without its fences.
    pub yaml: &'a str,
    /// Where the YAML begins, in bytes.
    pub yaml_at: usize,
    /// What follows.
    pub body: &'a str,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Yaml {
    /// The value.
    pub kind: YamlKind,
    /// Its line in the YAML, counted from one.
    pub line: u32,
    /// Its column, counted from one, in characters.
    pub column: u32,
    /// How many characters it has, as it is written.
    pub chars: usize,
}

/// A value of YAML, as far as JSON has it too.
#[derive(Debug, Clone, PartialEq)]
pub enum YamlKind {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(serde_json::Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Yaml>),
    /// A table, in the order of the file. The keys are texts.
    Table(Vec<(Yaml, Yaml)>),
}

/// Why front matter cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct YamlError {
    /// What is wrong.
    pub message: String,
    /// The line in the YAML, counted from one.
    pub line: u32,
    /// The column, counted from one, in characters.
    pub column: u32,
}

impl Yaml {
    /// The value of a key, as it is written.
    pub fn get(&self, key: &str) -> Option<&Yaml> {
        let YamlKind::Table(entries) = &self.kind else { return None };
        entries.iter().find(|(known, _)| known.as_text() == Some(key)).map(|(_, value)| value)
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            YamlKind::Text(text) => Some(text),
            YamlKind::Null
            | YamlKind::Bool(_)
            | YamlKind::Number(_)
            | YamlKind::List(_)
            | YamlKind::Table(_) => None,
        }
    }
}

/// Takes front matter off a Markdown file. `None` if there is none.
pub fn split(text: &str) -> Option<Split<'_>> {
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let mut lines = text[start..].split_inclusive('\n');
    let first = lines.next().filter(|line| is_fence(line))?;
    let yaml_at = start + first.len();
    let mut at = yaml_at;
    for line in lines {
        if is_fence(line) {
            return Some(Split { yaml: &text[yaml_at..at], yaml_at, body: &text[at + line.len()..] });
        }
        at += line.len();
    }
    None
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == FENCE
}

/// Reads front matter. Values with a colon that should have been quoted are taken as the text they are.
pub fn parse(yaml: &str) -> Result<Yaml, YamlError> {
    if yaml.len() > BYTES_MAX {
        let message = format!("the front matter is larger than {BYTES_MAX} bytes");
        return Err(YamlError { message, line: 1, column: 1 });
    }
    // What is wrong is told of what was written, not of what was made of it.
    strictly(yaml).or_else(|error| strictly(&quoted(yaml)).map_err(|_| error))
}

fn strictly(yaml: &str) -> Result<Yaml, YamlError> {
    if yaml.trim().is_empty() {
        return Ok(Yaml { kind: YamlKind::Table(Vec::new()), line: 1, column: 1, chars: 0 });
    }
    let options = serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_nodes: NODES_MAX,
            max_events: 4 * NODES_MAX,
            max_depth: DEPTH_MAX,
            max_aliases: 100,
            max_anchors: 100,
        },
    };
    let parsed: Result<Spanned<Kind>, _> = serde_saphyr::from_str_with_options(yaml, options);
    parsed.map(Yaml::from).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
        let told = error.without_snippet().to_string();
        let message = told.split(" at line ").next().unwrap_or(&told);
        let message = message.lines().next().unwrap_or_default().chars().take(200).collect();
        let place = |number: u64| u32::try_from(number.max(1)).unwrap_or(u32::MAX);
        YamlError { message, line: place(line), column: place(column) }
    })
}

/// The YAML with quotes around values that stand on the line of their key, are not quoted and hold a colon.
fn quoted(yaml: &str) -> String {
    let mut text = String::with_capacity(yaml.len() + 64);
    for line in yaml.split_inclusive('\n') {
        let end = line.trim_end().len();
        let (content, ending) = line.split_at(end);
        match content.split_once(": ") {
            Some((key, value)) if is_bare_with_colon(key, value.trim_start()) => {
                let value = value.trim_start();
                let before = &content[..content.len() - value.len()];
                text.push_str(&format!("{before}'{}'{ending}", value.replace('\'', "''")));
            }
            _ => text.push_str(line),
        }
    }
    text
}

fn is_bare_with_colon(key: &str, value: &str) -> bool {
    let is_key = !key.trim().is_empty() && !key.contains(['"', '\'', '#', '{', '[']);
    is_key && value.contains(':') && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '#'])
}

/// A value on its way, whose parts know their places.
enum Kind {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Spanned<Kind>>),
    Table(Vec<(Spanned<String>, Spanned<Kind>)>),
}

impl From<Spanned<Kind>> for Yaml {
    fn from(spanned: Spanned<Kind>) -> Yaml {
        let at = spanned.referenced;
        let kind = match spanned.value {
            Kind::Null => YamlKind::Null,
            Kind::Bool(value) => YamlKind::Bool(value),
            Kind::Number(number) => YamlKind::Number(number),
            Kind::Text(text) => YamlKind::Text(text),
            Kind::List(items) => YamlKind::List(items.into_iter().map(Yaml::from).collect()),
            Kind::Table(entries) => {
                let key = |key: Spanned<String>| {
                    Yaml::from(Spanned::new(Kind::Text(key.value), key.referenced, key.defined))
                };
                let entries = entries.into_iter().map(|(name, value)| (key(name), Yaml::from(value)));
                YamlKind::Table(entries.collect())
            }
        };
        let place = |number: u64| u32::try_from(number.max(1)).unwrap_or(u32::MAX);
        let chars = usize::try_from(at.span().len()).unwrap_or(0);
        Yaml { kind, line: place(at.line()), column: place(at.column()), chars }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        Kind::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Kind, E> {
        let number = serde_json::Number::from_f64(value);
        number.map(Kind::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Kind, E> {
        Ok(Kind::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Kind, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Kind::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Kind, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Kind::Table(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::{YamlKind, parse, split};

    #[test]
    fn front_matter_is_what_stands_between_two_fences_at_the_beginning() {
        let whole = split("---\nname: a\n---\n\nBody\n").unwrap();
        assert_eq!((whole.yaml, whole.yaml_at, whole.body), ("name: a\n", 4, "\nBody\n"));
        let windows = split("\u{feff}---\r\nname: a\r\n---\r\nBody").unwrap();
        assert_eq!((windows.yaml, windows.body), ("name: a\r\n", "Body"));
        for none in ["", "# Title\n", "---\nname: a\n", " ---\na: b\n---\n", "----\n---\n"] {
            assert_eq!(split(none), None, "{none:?}");
        }
        assert_eq!(split("---\n---\nx").unwrap().yaml, "");
    }

    #[test]
    fn everything_knows_its_place() {
        let yaml =
            parse("mode: subagent\nsteps: 3\nhidden: true\ntools:\n  bash: false\nlist: [a, 1.5]\n").unwrap();
        let bash = yaml.get("tools").unwrap().get("bash").unwrap();
        assert_eq!((&bash.kind, bash.line, bash.column), (&YamlKind::Bool(false), 5, 9));
        let mode = yaml.get("mode").unwrap();
        assert_eq!((mode.as_text(), mode.line, mode.column, mode.chars), (Some("subagent"), 1, 7, 8));
        assert_eq!(yaml.get("steps").unwrap().kind, YamlKind::Number(3.into()));
        let YamlKind::List(items) = &yaml.get("list").unwrap().kind else { panic!("a list") };
        assert_eq!(items[0].as_text(), Some("a"));
        assert_eq!(parse("").unwrap().kind, YamlKind::Table(Vec::new()));
    }

    #[test]
    fn a_colon_that_should_have_been_quoted_is_part_of_the_text() {
        let yaml = parse("name: x\ndescription: Use when: it's time\nurl: http://a: b\n").unwrap();
        assert_eq!(yaml.get("description").unwrap().as_text(), Some("Use when: it's time"));
        assert_eq!(yaml.get("description").unwrap().line, 2);
        assert_eq!(yaml.get("url").unwrap().as_text(), Some("http://a: b"));
        assert_eq!(parse("name: 42").unwrap().get("name").unwrap().as_text(), None);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let error = parse("name: a\ntools: [unclosed\n").unwrap_err();
        assert!(error.line >= 2, "{error:?}");
        assert!(!error.message.is_empty() && !error.message.contains('\n'), "{error:?}");
        assert_eq!(parse("a: 1\na: 2\n").unwrap_err().line, 2);
        assert!(parse("a: 1\n---\nb: 2\n").is_err());
    }

    #[test]
    fn bombs_go_off_early() {
        let mut bomb = "a0: &a0 [x, x]\n".to_owned();
        for level in 1..40 {
            let before = level - 1;
            bomb.push_str(&format!("a{level}: &a{level} [*a{before}, *a{before}]\n"));
        }
        assert!(parse(&bomb).is_err());
        assert!(parse(&"[".repeat(10_000)).is_err());
        assert!(parse(&"x".repeat(70_000)).is_err());
    }
}
