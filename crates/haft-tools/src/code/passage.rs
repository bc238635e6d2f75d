//! The places of one file where words of a query meet.

use super::language::Language;
use super::query::{Query, Words};

/// So many places of one file are kept.
const SPOTS_MAX: usize = 4;
/// So many lines with words are looked at.
const LINES_MAX: usize = 4000;
/// Words meet if they are no further apart than this.
const NEAR_LINES: usize = 12;
/// How much is shown around a line that defines nothing.
const AROUND_LINES: usize = 4;
/// How much prose is shown: examples take some room.
const PROSE_LINES: usize = 16;
/// How much is shown of a definition, and of what stands before it.
const BODY_LINES_MAX: usize = 30;
const LEAD_LINES_MAX: usize = 60;

/// A place where words meet. Lines are counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    /// The line it is about.
    pub(super) line: usize,
    /// The first line that is shown.
    pub(super) start: usize,
    /// The line after the last that is shown.
    pub(super) end: usize,
    /// Whether something is defined on the line.
    pub(super) defines: bool,
    /// The words in the name of what is defined.
    pub(super) named: Words,
    /// Whether that name is nothing but words of the query.
    pub(super) is_exact: bool,
    /// Whether the line only says where something comes from.
    pub(super) is_import: bool,
    /// The words on the line.
    pub(super) on_line: Words,
    /// The words on the line and near it.
    pub(super) near: Words,
}

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct Spots {
    /// All words in it.
    pub(super) words: Words,
    /// The best places, none of which overlap.
    pub(super) spots: Vec<Spot>,
}

/// Finds the best places of a text.
pub(super) fn spots(query: &Query, language: &Language, text: &str) -> Spots {
    let hits = hits(query, text);
    if hits.is_empty() {
        return Spots::default();
    }
    let words = hits.iter().fold(Words::default(), |words, hit| words.and(hit.words));
    let lines: Vec<&str> = text.lines().collect();
    let mut places: Vec<Spot> =
        (0..hits.len()).filter_map(|at| spot(query, language, &lines, &hits, at)).collect();
    places.sort_by_key(|spot| (std::cmp::Reverse(worth(spot)), spot.line));
    let mut spots: Vec<Spot> = Vec::new();
    for place in places {
        if spots.len() == SPOTS_MAX {
            break;
        }
        let place = match place.defines {
            true => place,
            false => {
                let (start, end) = extent(language, &lines, place.line, false);
                Spot { start, end, ..place }
            }
        };
        if !spots.iter().any(|known| place.start < known.end && known.start < place.end) {
            spots.push(place);
        }
    }
    Spots { words, spots }
}

/// How lines begin that say where something comes from.
const IMPORTING: &[&str] = &["use ", "pub use ", "import ", "from ", "#include", "using ", "export *"];

fn is_import(line: &str) -> bool {
    IMPORTING.iter().any(|beginning| line.trim_start().starts_with(beginning))
}

/// A line and the words on it.
struct Hit {
    line: usize,
    words: Words,
}

fn hits(query: &Query, text: &str) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let (mut line, mut counted) = (0, 0);
    query.each(text.as_bytes(), |at, words| {
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..at]).count();
        counted = at;
        match hits.last_mut() {
            Some(last) if last.line == line => last.words = last.words.and(words),
            _ => hits.push(Hit { line, words }),
        }
        hits.len() < LINES_MAX
    });
    hits
}

fn spot(query: &Query, language: &Language, lines: &[&str], hits: &[Hit], at: usize) -> Option<Spot> {
    let Hit { line, words: on_line } = hits[at];
    let name = language.defined(lines.get(line)?);
    let named = name.map(|name| query.words_in(name)).unwrap_or_default();
    let is_exact = name.is_some_and(|name| query.is_exactly(name));
    // What a line defines counts only if that is what was asked for.
    let defines = !named.is_empty();
    // What is shown of other places is found out when they are.
    let (start, end) = if defines { extent(language, lines, line, true) } else { (line, line + 1) };
    // All that is said about a definition is near it.
    let is_near = |hit: &&Hit| match defines {
        true => (start..end).contains(&hit.line),
        false => hit.line.abs_diff(line) <= NEAR_LINES,
    };
    let before = hits[..at].iter().rev().take_while(is_near);
    let after = hits[at..].iter().take_while(is_near);
    let near = before.chain(after).fold(Words::default(), |words, hit| words.and(hit.words));
    let is_import = is_import(lines[line]);
    Some(Spot { line, start, end, defines, named, is_exact, is_import, on_line, near })
}

/// What is kept of a file is decided before it is known how rare each word is.
fn worth(spot: &Spot) -> usize {
    let named = 2 * spot.named.count() + 3 * usize::from(spot.is_exact);
    2 * spot.near.count() + usize::from(!spot.is_import) * (spot.on_line.count() + named)
}

/// The lines to show of a place, none of them empty at either end.
fn extent(language: &Language, lines: &[&str], line: usize, defines: bool) -> (usize, usize) {
    let (start, end) = match (defines, language.is_prose) {
        (true, _) => (lead(language, lines, line), body(lines, line)),
        (false, true) => (line.saturating_sub(2), line + PROSE_LINES),
        // The comment of a definition speaks for it.
        (false, false) if language.leads(lines[line]) => {
            let below = lines[line..].iter().take(LEAD_LINES_MAX).position(|line| !language.leads(line));
            let led = line + below.unwrap_or(0);
            (lead(language, lines, led).min(line), body(lines, led))
        }
        (false, false) => (line.saturating_sub(AROUND_LINES), line + AROUND_LINES + 1),
    };
    let end = end.min(lines.len());
    let is_empty = |at: &usize| lines[*at].trim().is_empty();
    let start = (start..line).find(|at| !is_empty(at)).unwrap_or(line);
    let end = (line + 1..end).rev().find(|at| !is_empty(at)).map_or(line + 1, |last| last + 1);
    (start, end)
}

/// The first line of what stands before a definition and is about it.
fn lead(language: &Language, lines: &[&str], line: usize) -> usize {
    let above = lines[..line].iter().rev().take(LEAD_LINES_MAX).take_while(|line| language.leads(line));
    line - above.count()
}

/// The line after a definition: the first that is indented no deeper, or after it if it only closes.
fn body(lines: &[&str], line: usize) -> usize {
    let depth = |text: &str| text.len() - text.trim_start().len();
    let own = depth(lines[line]);
    let last = lines.len().min(line + BODY_LINES_MAX);
    for at in line + 1..last {
        let text = lines[at];
        if text.trim().is_empty() || depth(text) > own {
            continue;
        }
        let closes = text.trim_start().starts_with(['}', ')', ']']) || text.trim() == "end";
        let opens = |line: &&str| line.trim() == "{" || line.trim_start().starts_with("where");
        // `) -> T {` goes on.
        let goes_on =
            closes && (text.trim_end().ends_with(['{', ':', '(']) || lines.get(at + 1).is_some_and(opens));
        if goes_on || opens(&text) {
            continue;
        }
        return if closes { at + 1 } else { at };
    }
    last
}
