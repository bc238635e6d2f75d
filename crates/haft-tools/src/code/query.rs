//! The words of a query, and where they are in a text.

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// So many words of a query count. A set of them fits into [`Words`].
const WORDS_MAX: usize = 16;
const WORD_CHARS_MAX: usize = 64;

/// Words that say how somebody asks, not what for.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "code", "do", "does", "example", "examples", "for", "from",
    "get", "how", "i", "in", "into", "is", "it", "library", "my", "of", "on", "or", "should", "show", "snippet", "that",
    "the", "this", "to", "usage", "use", "used", "using", "via", "what", "when", "where", "which", "with", "you",
];

/// A set of words of one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Words(u32);

impl Words {
    pub(super) fn one(index: usize) -> Words {
        Words(1 << index)
    }

    pub(super) fn and(self, more: Words) -> Words {
        Words(self.0 | more.0)
    }

    pub(super) fn has(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }

    pub(super) fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What is looked for. Cloning it is cheap.
#[derive(Clone)]
pub(crate) struct Query {
    words: Vec<Word>,
    matcher: RegexMatcher,
}

#[derive(Clone)]
struct Word {
    /// In lower case, without `_` and `-`.
    plain: String,
    /// This word and those that are part of it.
    implies: Words,
}

impl Query {
    /// The query in somebody's words; `None` if none of them says what to look for.
    pub(crate) fn new(text: &str) -> Option<Query> {
        let mut spelled: Vec<String> = Vec::new();
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
        let words = words.map(|word| word.trim_matches(['_', '-'])).filter(|word| !word.is_empty());
        let all: Vec<&str> = words.collect();
        let telling: Vec<&str> = all.iter().copied().filter(|word| !is_filler(word)).collect();
        // A query of nothing but fillers means them.
        for word in if telling.is_empty() { all } else { telling } {
            let word: String = word.chars().take(WORD_CHARS_MAX).collect();
            if spelled.len() < WORDS_MAX && !spelled.iter().any(|known| plain(known) == plain(&word)) {
                spelled.push(word);
            }
        }
        // The longest first, so that a word is not taken for one that it begins with.
        spelled.sort_by_key(|word| std::cmp::Reverse(plain(word).len()));
        let alternatives: Vec<String> = spelled.iter().map(|word| pattern(word)).collect();
        let matcher =
            RegexMatcherBuilder::new().case_insensitive(true).build(&alternatives.join("|")).ok()?;
        let plains: Vec<String> = spelled.iter().map(|word| plain(word)).collect();
        let implied = |whole: &String| {
            let parts = plains.iter().enumerate().filter(|(_, part)| whole.contains(part.as_str()));
            parts.fold(Words::default(), |words, (index, _)| words.and(Words::one(index)))
        };
        let words = plains.iter().map(|whole| Word { plain: whole.clone(), implies: implied(whole) });
        let words: Vec<Word> = words.collect();
        (!words.is_empty()).then_some(Query { words, matcher })
    }

    /// How many words there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Where words are in a text, from its beginning on, until told to stop. They may go on, and begin where a part of
    /// a name does: `rate` is in `rateLimit` and in `rates`, not in `generate`.
    pub(super) fn each(&self, text: &[u8], mut found: impl FnMut(usize, Words) -> bool) {
        let each = self.matcher.find_iter(text, |at| {
            let (start, end) = (at.start(), at.end());
            !is_beginning(text, start) || found(start, self.is(&text[start..end]))
        });
        // It is an error only in its type.
        drop(each);
    }

    /// The words in a text.
    pub(super) fn words_in(&self, text: &str) -> Words {
        let mut words = Words::default();
        self.each(text.as_bytes(), |_, more| {
            words = words.and(more);
            true
        });
        words
    }

    /// The words that a name is made of, each of them whole: `tokio-util` is made of `tokio`, and `io` is no part of it.
    pub(super) fn words_of_name(&self, name: &str) -> Words {
        let whole = plain(name);
        let parts = || name.split(['-', '_', '/', '@', '.']).map(plain);
        let is_named = |word: &Word| word.plain == whole || parts().any(|part| part == word.plain);
        let named = self.words.iter().enumerate().filter(|(_, word)| is_named(word));
        named.fold(Words::default(), |words, (index, _)| words.and(Words::one(index)))
    }

    /// Whether a name is one of the words, or several of them and nothing else.
    pub(super) fn is_exactly(&self, name: &str) -> bool {
        let mut rest = plain(name);
        // The longest come first.
        for word in &self.words {
            rest = rest.replacen(&word.plain, "", 1);
        }
        rest.is_empty()
    }

    fn is(&self, found: &[u8]) -> Words {
        let found = plain(&String::from_utf8_lossy(found));
        let word = self.words.iter().find(|word| word.plain == found);
        word.map(|word| word.implies).unwrap_or_default()
    }
}

/// Whether a part of a name begins here, as in `rate`, `max_rate`, `maxRate` and `HTTPRate`.
fn is_beginning(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else { return true };
    let is_upper = |at: usize| text.get(at).is_some_and(u8::is_ascii_uppercase);
    match before {
        before if before.is_ascii_lowercase() => is_upper(at),
        before if before.is_ascii_uppercase() => {
            is_upper(at) && text.get(at + 1).is_some_and(u8::is_ascii_lowercase)
        }
        // Of other scripts it is not known.
        _ => true,
    }
}

fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word.to_lowercase().as_str())
}

/// A word as it is compared: `read_to_string` is `readToString`.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Finds a word however its parts are joined.
fn pattern(word: &str) -> String {
    let mut pattern = String::new();
    let mut before = '_';
    for c in word.chars() {
        match c {
            '_' | '-' if pattern.ends_with("[_-]?") => {}
            '_' | '-' => pattern.push_str("[_-]?"),
            c => {
                if c.is_uppercase() && before.is_lowercase() {
                    pattern.push_str("[_-]?");
                }
                // Only letters and digits get here, and none of them means anything to a regular expression.
                pattern.push(c);
            }
        }
        before = c;
    }
    pattern
}
