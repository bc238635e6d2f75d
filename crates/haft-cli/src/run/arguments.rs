//! What is typed after the name of a custom command: as it was typed, and word by word.

/// What a command is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// All of it, as it was typed.
    pub(crate) typed: String,
    /// Its words, without the quotes around them.
    pub(crate) words: Vec<String>,
}

impl Arguments {
    /// Reads what was typed on one line or several.
    pub(crate) fn typed(text: &str) -> Arguments {
        let typed = text.trim();
        Arguments { typed: typed.to_owned(), words: split(typed) }
    }

    /// Takes words that somebody else has told apart, such as a shell.
    pub(crate) fn given(words: Vec<String>) -> Arguments {
        let typed: Vec<String> = words.iter().map(|word| as_typed(word)).collect();
        Arguments { typed: typed.join(" "), words }
    }

    /// The words for a slot: those from its number on if it is the last one, and otherwise one at most.
    pub(crate) fn of_slot(&self, number: usize, last: usize) -> &[String] {
        let start = (number - 1).min(self.words.len());
        let end = if number == last { self.words.len() } else { number.min(self.words.len()) };
        &self.words[start..end]
    }
}

/// A word as somebody would have typed it who wants it to be one.
fn as_typed(word: &str) -> String {
    let (mention, word) = word.strip_prefix('@').map_or(("", word), |path| ("@", path));
    match word.is_empty() || word.contains(char::is_whitespace) {
        true if mention.is_empty() || !word.is_empty() => {
            format!("{mention}\"{}\"", word.replace('"', "\\\""))
        }
        true | false => format!("{mention}{word}"),
    }
}

/// Splits a text at its spaces. Quotes hold words together where they enclose one: an apostrophe within a word is none.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, after) = first_word(rest);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

fn first_word(text: &str) -> (String, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    // A quote opens at the beginning of a word, or where the value of an option or the path of a file begins.
    let opens = |at: &usize| *at == 0 || text[..*at].ends_with('=') || &text[..*at] == "@";
    let opens = text[..end].find(['"', '\'']).filter(opens);
    let quoted = opens.and_then(|at| {
        let (inner, after) = enclosed(&text[at..])?;
        Some((format!("{}{inner}", &text[..at]), after))
    });
    quoted.unwrap_or_else(|| (text[..end].to_owned(), &text[end..]))
}

/// What the quote at the beginning of a text encloses, up to one that a space or the end follows.
fn enclosed(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some((_, '"'))) if quote == '"' => {
                inner.push('"');
                chars.next();
            }
            (c, next) if c == quote && next.is_none_or(|(_, next)| next.is_whitespace()) => {
                return Some((inner, &text[at + c.len_utf8()..]));
            }
            (c, _) => inner.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        Arguments::typed(text).words
    }

    #[test]
    fn quotes_hold_words_together_and_apostrophes_do_not() {
        assert_eq!(words(r#"a "b c" 'd e'  f"#), ["a", "b c", "d e", "f"]);
        assert_eq!(words(r#"--name="x y" z='u v'"#), ["--name=x y", "z=u v"]);
        assert_eq!(words("don't do that, it's 'bad"), ["don't", "do", "that,", "it's", "'bad"]);
        assert_eq!(words(r#"'don't' "say \"hi there\"""#), ["don't", "say \"hi there\""]);
        assert_eq!(words(r#"@"a b" me@"c d" @ @x"#), ["@a b", "me@\"c", "d\"", "@", "@x"]);
        assert_eq!(words(r#""" x"#), ["", "x"]);
        assert_eq!(words("one\ntwo\tthree"), ["one", "two", "three"]);
        assert_eq!(words(r"c:\dir \n"), [r"c:\dir", r"\n"]);
    }

    #[test]
    fn words_that_are_told_apart_already_stay_apart() {
        let given = Arguments::given(["a b", "it's", "", "@c d", "@e", "@"].map(str::to_owned).to_vec());
        assert_eq!(given.typed, r#""a b" it's "" @"c d" @e @"#);
        assert_eq!(given.words, ["a b", "it's", "", "@c d", "@e", "@"]);
        assert_eq!(Arguments::typed(&given.typed), given);
    }

    #[test]
    fn the_last_slot_takes_the_rest() {
        let arguments = Arguments::typed("a b c");
        assert_eq!(arguments.of_slot(1, 2), ["a"]);
        assert_eq!(arguments.of_slot(2, 2), ["b", "c"]);
        assert!(arguments.of_slot(4, 9).is_empty() && arguments.of_slot(9, 9).is_empty());
    }
}
