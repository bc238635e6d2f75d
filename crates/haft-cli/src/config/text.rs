//! The text of one source: read within bounds, `{env:X}` and `{file:p}` put in, every place still known as written.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::error::{ConfigError, Located, Problem, shown};
use super::masked::{masked, secrets};
use super::read::{FILE_BYTES_MAX, Unread, read_bounded, shown_path};
use super::references::{Part, Reference, Target, escaped, references};
use super::warning::Warnings;
use crate::paths::Env;

/// The longest text after other files were put in.
const EXPANDED_BYTES_MAX: usize = 8 << 20;
/// Shorter values are no secrets, and would be found in any text.
const PUT_IN_BYTES_MIN: usize = 4;

/// The text of one source.
#[derive(Debug)]
pub(crate) struct Text {
    name: Arc<str>,
    written: String,
    expanded: Option<Expanded>,
    /// Where secrets were written, once somebody asked.
    secrets: OnceLock<Vec<Range<usize>>>,
}

/// A text with other texts put in.
#[derive(Debug)]
struct Expanded {
    text: String,
    splices: Vec<Splice>,
}

/// One piece that was put in.
#[derive(Debug)]
struct Splice {
    put: Range<usize>,
    written: Range<usize>,
    what: PutIn,
}

/// What a reference was replaced with.
#[derive(Debug, Clone)]
pub(crate) struct PutIn {
    value: String,
    written: String,
}

/// A text in which every value that was put in stands as it was written. Very short ones stand there by chance.
pub(super) fn as_written(put_in: &[PutIn], text: &str) -> String {
    if let Some(whole) = put_in.iter().find(|put| put.value == text) {
        return shown(&whole.written);
    }
    // A directory such as the home is no secret, and what is said of files in it has to be found.
    let is_directory = |value: &str| value.starts_with('/') && Path::new(value).is_dir();
    let counts = |put: &&PutIn| put.value.len() >= PUT_IN_BYTES_MIN && !is_directory(&put.value);
    let mut long: Vec<&PutIn> = put_in.iter().filter(counts).collect();
    long.sort_by_key(|put| std::cmp::Reverse(put.value.len()));
    long.iter().fold(text.to_owned(), |text, put| {
        // Messages quote values, and show them on one line.
        let quoted = escaped(&put.value);
        let visible = haft::visible(&put.value);
        [&put.value, &quoted, &visible].iter().fold(text, |text, value| text.replace(*value, &put.written))
    })
}

/// A part of a text, by where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    text: Arc<Text>,
    start: usize,
    end: usize,
    /// Counted from one.
    pub(crate) line: u32,
    /// Counted from one, in characters.
    pub(crate) column: u32,
}

/// What references in a text are replaced from.
pub(crate) struct References<'a> {
    /// The variables.
    pub(crate) env: &'a Env,
    /// The directory that relative paths start from.
    pub(crate) base: &'a Path,
    /// What `~/` stands for.
    pub(crate) home: Option<&'a Path>,
}

impl Text {
    /// Takes a text as it is.
    pub(crate) fn new(name: &str, written: &str) -> Result<Arc<Text>, ConfigError> {
        let written = written.strip_prefix('\u{feff}').unwrap_or(written).to_owned();
        let text = Arc::new(Text { name: name.into(), written, expanded: None, secrets: OnceLock::new() });
        let control = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r');
        match text.written.char_indices().find(|(_, c)| control(*c)) {
            Some((at, c)) => Err(text.error(Problem::Control(c), at..at + c.len_utf8())),
            None => Ok(text),
        }
    }

    /// Reads a file. `None` if there is none.
    pub(crate) fn read(name: &str, path: &Path) -> Result<Option<Arc<Text>>, ConfigError> {
        let bytes = match read_bounded(path) {
            Ok(bytes) => bytes,
            Err(Unread::Absent) => return Ok(None),
            Err(Unread::NotAFile(kind)) => {
                return Err(ConfigError::NotAFile { name: name.to_owned(), kind });
            }
            Err(Unread::TooLarge) => {
                return Err(ConfigError::TooLarge { name: name.to_owned(), max: FILE_BYTES_MAX });
            }
            Err(Unread::Io(source)) => return Err(ConfigError::Read { name: name.to_owned(), source }),
        };
        match String::from_utf8(bytes) {
            Ok(written) => Text::new(name, &written).map(Some),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let written = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let text =
                    Arc::new(Text { name: name.into(), written, expanded: None, secrets: OnceLock::new() });
                Err(text.error(Problem::NotUtf8, at..at + 1))
            }
        }
    }

    /// Puts in what `{env:X}` and `{file:p}` stand for. Warns of variables that are not set.
    pub(crate) fn expand(
        self: Arc<Text>,
        from: &References<'_>,
        warnings: &mut Warnings,
    ) -> Result<Arc<Text>, ConfigError> {
        let found = references(&self.written);
        if found.is_empty() {
            return Ok(self);
        }
        let mut expanded = Expanded { text: String::new(), splices: Vec::new() };
        let mut copied = 0;
        for reference in found {
            expanded.text.push_str(&self.written[copied..reference.at.start]);
            let start = expanded.text.len();
            let value = self.resolve(&reference, from, warnings)?;
            expanded.text.push_str(&escaped(&value));
            if expanded.text.len() > EXPANDED_BYTES_MAX {
                return Err(self.error(Problem::Expanded { max: EXPANDED_BYTES_MAX }, reference.at));
            }
            let put = start..expanded.text.len();
            copied = reference.at.end;
            let what = PutIn { value, written: self.written[reference.at.clone()].to_owned() };
            expanded.splices.push(Splice { put, written: reference.at, what });
        }
        expanded.text.push_str(&self.written[copied..]);
        let text = Text {
            name: self.name.clone(),
            written: self.written.clone(),
            expanded: Some(expanded),
            secrets: OnceLock::new(),
        };
        Ok(Arc::new(text))
    }

    /// What is to be parsed.
    pub(crate) fn as_str(&self) -> &str {
        self.expanded.as_ref().map_or(&self.written, |expanded| &expanded.text)
    }

    /// What was put in.
    pub(crate) fn put_in(&self) -> impl Iterator<Item = &PutIn> {
        self.expanded.iter().flat_map(|expanded| &expanded.splices).map(|splice| &splice.what)
    }

    /// Whether references stand where only a value can stand, and were left as they are.
    pub(crate) fn has_bare_references(&self) -> bool {
        self.expanded.is_none() && references(&self.written).iter().any(|reference| reference.bare)
    }

    /// Where a part of [`Text::as_str`] was written.
    pub(crate) fn written_at(&self, part: Range<usize>) -> Range<usize> {
        let start = self.written_offset(part.start, |splice| splice.written.start);
        let end = self.written_offset(part.end, |splice| splice.written.end);
        start..end.max(start)
    }

    /// A span by where it was written.
    pub(crate) fn span(self: &Arc<Text>, written: Range<usize>) -> Span {
        let mut cursor = Cursor::new(self);
        cursor.span(written)
    }

    fn written_offset(&self, offset: usize, within: impl Fn(&Splice) -> usize) -> usize {
        let Some(Expanded { splices, .. }) = &self.expanded else { return offset };
        let before = splices.partition_point(|splice| splice.put.start <= offset);
        match before.checked_sub(1).map(|last| &splices[last]) {
            None => offset,
            Some(splice) if offset == splice.put.start => splice.written.start,
            Some(splice) if offset < splice.put.end => within(splice),
            Some(splice) => offset - splice.put.end + splice.written.end,
        }
    }

    fn error(self: &Arc<Text>, problem: Problem, written: Range<usize>) -> ConfigError {
        Located::new(problem, &self.span(written)).into()
    }

    fn resolve(
        self: &Arc<Text>,
        reference: &Reference,
        from: &References<'_>,
        warnings: &mut Warnings,
    ) -> Result<String, ConfigError> {
        let problem = |problem| self.error(problem, reference.at.clone());
        let mut variable = |name: &str| match from.env.get(name).map(|value| value.to_str()) {
            Some(Some(value)) => Ok(value.to_owned()),
            Some(None) => Err(problem(Problem::VariableNotText { name: shown(name) })),
            None => {
                let at = self.span(reference.at.clone());
                warnings.add(&at, || Problem::Unset { name: shown(name) });
                Ok(String::new())
            }
        };
        match &reference.to {
            Target::Variable(name) => variable(name),
            Target::File(parts) => {
                let mut named = String::new();
                for part in parts {
                    match part {
                        Part::Text(text) => named.push_str(text),
                        Part::Variable(name) => named.push_str(&variable(name)?),
                    }
                }
                let path = match (named.strip_prefix("~/"), from.home) {
                    (Some(rest), Some(home)) => home.join(rest),
                    (Some(_), None) => return Err(problem(Problem::NoHome)),
                    (None, _) => from.base.join(&named),
                };
                take_in(&path).map_err(|reason| {
                    let names_variable = parts.iter().any(|part| matches!(part, Part::Variable(_)));
                    let path = match names_variable {
                        true => shown(&self.written[reference.at.clone()]),
                        false => shown_path(&path),
                    };
                    problem(Problem::Reference { path, reason })
                })
            }
        }
    }
}

impl Span {
    /// The source it is a part of.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.text.name
    }

    /// It as it was written, to be put into a message: no secret that was put in is told.
    pub(crate) fn shown(&self) -> String {
        shown(&self.in_line()[1])
    }

    /// What stands before it in its line, the part of it in this line, and what follows; secrets are left out.
    pub(crate) fn in_line(&self) -> [String; 3] {
        let written = &self.text.written;
        let start = written.floor_char_boundary(self.start);
        let begin = written[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = written[start..].find('\n').map_or(written.len(), |at| start + at);
        let stop = written.ceil_char_boundary(self.end.clamp(start, end));
        let secrets = self.text.secrets.get_or_init(|| secrets(written));
        let end = begin + written[begin..end].trim_end_matches('\r').len();
        [begin..start, start..stop.min(end).max(start), stop.min(end)..end]
            .map(|part| masked(written, part, secrets))
    }
}

/// Goes through a text once to find lines and columns of spans that are asked for from front to back.
pub(crate) struct Cursor {
    text: Arc<Text>,
    at: usize,
    line: u32,
    column: u32,
}

impl Cursor {
    /// A cursor at the beginning.
    pub(crate) fn new(text: &Arc<Text>) -> Cursor {
        Cursor { text: text.clone(), at: 0, line: 1, column: 1 }
    }

    /// The span of a part, by where it was written.
    pub(crate) fn span(&mut self, written: Range<usize>) -> Span {
        let start = self.text.written.floor_char_boundary(written.start);
        if start < self.at {
            (self.at, self.line, self.column) = (0, 1, 1);
        }
        for c in self.text.written[self.at..start].chars() {
            match c {
                '\n' => (self.line, self.column) = (self.line.saturating_add(1), 1),
                _ => self.column = self.column.saturating_add(1),
            }
        }
        self.at = start;
        let Cursor { text, line, column, .. } = self;
        Span { text: text.clone(), start, end: written.end, line: *line, column: *column }
    }
}

/// The content of a file that is referred to, or why there is none.
fn take_in(path: &Path) -> Result<String, String> {
    let bytes = read_bounded(path).map_err(|unread| match unread {
        Unread::Absent => "it does not exist".to_owned(),
        Unread::NotAFile(kind) => format!("it is {kind}"),
        Unread::TooLarge => format!("it is larger than {FILE_BYTES_MAX} bytes"),
        Unread::Io(error) => error.to_string(),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    Ok(text.trim_start_matches('\u{feff}').trim().to_owned())
}
