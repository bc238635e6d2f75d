//! What braces make of a word: `{a,b}c` is `ac` and `bc`.

/// So many words are made at most; what would be more is not looked at.
const WORDS_MAX: usize = 64;
/// Braces in braces beyond this are not looked at.
const DEPTH_MAX: usize = 8;

/// A character of a word, or something of it that is known only when it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// Nothing protects it.
    Bare(char),
    /// Quotes protect it.
    Quoted(char),
    /// Not known.
    Unknown,
}

/// The pieces of a word from its first brace on, together with what stands before. Most words have none.
#[derive(Default)]
pub(super) struct Braces(Option<Vec<Piece>>);

impl Braces {
    pub(super) fn are_open(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn open(&mut self, before: impl Iterator<Item = Piece>) {
        self.0 = Some(before.collect());
    }

    pub(super) fn push(&mut self, piece: Piece) {
        if let Some(pieces) = &mut self.0 {
            pieces.push(piece);
        }
    }

    /// The words that are made; none, if no brace makes several. Where there are too many, one that is not known.
    pub(super) fn expanded(self) -> Vec<Vec<Piece>> {
        let Some(pieces) = self.0 else { return Vec::new() };
        let mut words = Vec::new();
        match expand(&pieces, 0, &mut words) {
            Some(()) if words.len() < 2 && words.first() == Some(&pieces) => Vec::new(),
            Some(()) => words,
            None => vec![vec![Piece::Unknown]],
        }
    }
}

/// A pair of braces that makes several words.
struct Choice<'p> {
    before: &'p [Piece],
    choices: Vec<Vec<Piece>>,
    after: &'p [Piece],
}

/// Adds the words that are made of these pieces; nothing, if there are too many.
fn expand(pieces: &[Piece], depth: usize, words: &mut Vec<Vec<Piece>>) -> Option<()> {
    let Some(Choice { before, choices, after }) = first_choice(pieces) else {
        words.push(pieces.to_vec());
        return (words.len() <= WORDS_MAX).then_some(());
    };
    if depth > DEPTH_MAX {
        return None;
    }
    for choice in choices {
        let one: Vec<Piece> = before.iter().chain(&choice).chain(after).copied().collect();
        expand(&one, depth + 1, words)?;
    }
    Some(())
}

/// The first pair of braces that makes several words: what stands before, what there is to choose from, and what stands
/// behind. A range of many is something that is not known.
fn first_choice(pieces: &[Piece]) -> Option<Choice<'_>> {
    for (open, _) in pieces.iter().enumerate().filter(|(_, piece)| **piece == Piece::Bare('{')) {
        let Some((close, commas)) = closing(pieces, open) else { continue };
        let inside = &pieces[open + 1..close];
        let (before, after) = (&pieces[..open], &pieces[close + 1..]);
        if !commas.is_empty() {
            let ends = commas.iter().copied().chain([close]);
            let starts = std::iter::once(open + 1).chain(commas.iter().map(|at| at + 1));
            let choices = starts.zip(ends).map(|(from, to)| pieces[from..to].to_vec()).collect();
            return Some(Choice { before, choices, after });
        }
        if inside.windows(2).any(|pair| pair == [Piece::Bare('.'), Piece::Bare('.')]) {
            let choices = range(inside).unwrap_or_else(|| vec![vec![Piece::Unknown], vec![Piece::Unknown]]);
            return Some(Choice { before, choices, after });
        }
    }
    None
}

/// What a range of letters stands for, or of numbers that are written without zeros before them.
fn range(inside: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    let is_bare = |piece: &Piece| if let Piece::Bare(c) = piece { Some(*c) } else { None };
    let text: String = inside.iter().map(is_bare).collect::<Option<_>>()?;
    let (from, to) = text.split_once("..")?;
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    let letter = |text: &str| text.parse::<char>().ok().filter(char::is_ascii_alphabetic);
    let texts: Vec<String> = if let (Some(from), Some(to)) = (number(from), number(to)) {
        (from.abs_diff(to) < WORDS_MAX as u64).then_some(())?;
        (from.min(to)..=from.max(to)).map(|number| number.to_string()).collect()
    } else {
        let (from, to) = (letter(from)?, letter(to)?);
        (from.min(to)..=from.max(to)).map(String::from).collect()
    };
    Some(texts.into_iter().map(|text| text.chars().map(Piece::Bare).collect()).collect())
}

/// Where a brace is closed, and the commas that stand in it and in no other.
fn closing(pieces: &[Piece], open: usize) -> Option<(usize, Vec<usize>)> {
    let (mut depth, mut commas) = (0_usize, Vec::new());
    for (at, piece) in pieces.iter().enumerate().skip(open + 1) {
        match piece {
            Piece::Bare('{') => depth += 1,
            Piece::Bare('}') if depth == 0 => return Some((at, commas)),
            Piece::Bare('}') => depth -= 1,
            Piece::Bare(',') if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    None
}
