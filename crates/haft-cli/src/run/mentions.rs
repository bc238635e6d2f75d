//! Files that a prompt mentions: `@path`, or `@"a path with spaces"`.

/// Finds the mentions in a text. An `@` counts at the beginning of a word; `\@` never does. `exists` tells whether a
/// path leads somewhere: punctuation after a path belongs to the sentence, unless it belongs to the path.
pub(crate) fn mentions(text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let begins = c == '@' && (before.is_whitespace() || matches!(before, '(' | '[' | '{' | ','));
        before = c;
        if !begins {
            continue;
        }
        let rest = &text[at + 1..];
        let mention = match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((path, _)) => Some(path),
            None => word(rest, &exists),
        };
        if let Some(path) =
            mention.filter(|path| !path.is_empty() && !found.iter().any(|known| known == path))
        {
            found.push(path.to_owned());
        }
    }
    found
}

fn word<'a>(rest: &'a str, exists: &impl Fn(&str) -> bool) -> Option<&'a str> {
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    let mut path = word;
    loop {
        if !path.is_empty() && exists(path) {
            return Some(path);
        }
        let shorter =
            path.strip_suffix(|c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '}'));
        match shorter {
            Some(shorter) => path = shorter,
            None => break,
        }
    }
    // A name such as @someone is only a word; what has a directory or an ending was meant to be a file.
    (path.contains('/') || path.contains('.')).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let there = ["src/a.rs", "README", "odd)", "a b.txt"];
        mentions(text, |path| there.contains(&path))
    }

    #[test]
    fn files_are_told_from_words() {
        assert_eq!(paths("explain @src/a.rs, and (@README)."), ["src/a.rs", "README"]);
        assert_eq!(paths("@src/a.rs @src/a.rs"), ["src/a.rs"], "once is enough");
        assert_eq!(paths("ask @somebody, or me@example.org"), [] as [&str; 0]);
        assert_eq!(paths(r#"read @"a b.txt" and @odd)"#), ["a b.txt", "odd)"]);
        assert_eq!(paths(r"use \@types/node and @missing.txt!"), ["missing.txt"]);
        assert_eq!(paths("@ @\"\" @"), [] as [&str; 0]);
    }
}
