//! Programs for awk, read as far as it takes to tell a comparison from a redirection, and a name that is written out from one
//! that is computed.

use crate::shell::word::Word;

/// Words behind which an expression begins, so that a slash begins a pattern.
const BEGINNING: &[&str] = &["print", "printf", "return", "else", "do", "in", "exit"];
/// What the files that are read are called by.
const GIVEN: &[&str] = &["ARGV", "ARGC", "SYMTAB", "FUNCTAB"];
/// Classes of characters that may stand in brackets.
#[rustfmt::skip]
const CLASSES: &[&str] = &[
    "[:alpha:]", "[:digit:]", "[:alnum:]", "[:space:]", "[:blank:]", "[:upper:]", "[:lower:]", "[:punct:]", "[:xdigit:]",
];

/// A piece of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'p> {
    Name(&'p str),
    Number,
    Text(&'p str),
    Pattern,
    Sign(&'p str),
    Line,
}

/// Whether a program writes to files or commands, reads from commands, or calls what it names by a text. What is read here
/// in one way and by some awk in another may.
pub(super) fn redirects(program: &str) -> bool {
    if !program.contains(['|', '>', '@']) {
        return false;
    }
    let Some(tokens) = tokens(program) else { return true };
    let mut depth = 0_usize;
    // How many parentheses were open where the statement that prints began.
    let mut printing: Option<usize> = None;
    // What stands before the ends of lines, of which there may be several.
    let mut last = None;
    for token in &tokens {
        match token {
            Token::Name("print" | "printf") => printing = Some(depth),
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")" | "]") => depth = depth.saturating_sub(1),
            Token::Sign(";" | "{" | "}") => printing = None,
            Token::Line if !goes_on(last) => printing = None,
            Token::Sign("|" | "@") => return true,
            Token::Sign(sign) if sign.starts_with('>') && printing == Some(depth) => return true,
            _ => {}
        }
        last = if *token == Token::Line { last } else { Some(token) };
    }
    false
}

/// Whether a program opens files whose names it computes: it changes what it is given, or reads from what is no text that
/// is written out.
pub(in crate::shell) fn opens_computed(name: &str, words: &[Word]) -> bool {
    matches!(name, "awk" | "gawk" | "mawk" | "nawk") && words.iter().any(|word| computes(word.text()))
}

fn computes(program: &str) -> bool {
    if !GIVEN.iter().chain(&["getline"]).any(|name| program.contains(name)) {
        return false;
    }
    let Some(tokens) = tokens(program) else { return true };
    let changes = program.contains("sub") || program.contains("getline");
    let is_sign =
        |at: usize, signs: &[&str]| matches!(tokens.get(at), Some(Token::Sign(sign)) if signs.contains(sign));
    (0..tokens.len()).any(|at| match tokens[at] {
        // To look at them is to change nothing.
        Token::Name("ARGC") => is_sign(at + 1, &["=", "++", "--", "+=", "-="]),
        // Functions and what is read may change them, too.
        Token::Name("ARGV") => changes || assigns(&tokens[at + 1..]) || !is_sign(at + 1, &["["]),
        Token::Name("SYMTAB" | "FUNCTAB") => true,
        Token::Name("getline") => {
            let behind = &tokens[at + 1..];
            let until = outermost(behind, ends);
            let from = outermost(&behind[..until], |token| *token == Token::Sign("<"));
            // What stands behind a text may be put behind it, and a backslash stands for some other character.
            match behind[from..until] {
                [] => false,
                [_, Token::Text(text)] => text.contains('\\'),
                _ => true,
            }
        }
        _ => false,
    })
}

/// Whether an element is set that the index begins in these.
fn assigns(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign("[") => depth += 1,
            Token::Sign("]") if depth == 1 => {
                return matches!(tokens.get(at + 1), Some(Token::Sign("=" | "+=" | "++" | "--")));
            }
            Token::Sign("]") => depth -= 1,
            _ => {}
        }
    }
    true
}

/// Where the first piece of a kind stands that is in no brackets which are opened in these; behind all, if there is none.
fn outermost(tokens: &[Token<'_>], is_it: impl Fn(&Token<'_>) -> bool) -> usize {
    let mut depth = 0_usize;
    let found = tokens.iter().position(|token| {
        let is_found = depth == 0 && is_it(token);
        match token {
            Token::Sign("(" | "[") => depth += 1,
            Token::Sign(")" | "]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_found
    });
    found.unwrap_or(tokens.len())
}

fn ends(token: &Token<'_>) -> bool {
    matches!(token, Token::Line | Token::Sign(";" | "}" | ")" | "]" | "&&" | "||" | ">" | ">=" | "==" | "!="))
}

/// Whether a line goes on in the next one.
fn goes_on(last: Option<&Token<'_>>) -> bool {
    matches!(last, Some(Token::Sign("," | "&&" | "||" | "?" | ":")))
}

/// The pieces of a program; nothing, if it may be read in another way.
fn tokens(program: &str) -> Option<Vec<Token<'_>>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let token_bytes = match c {
            ' ' | '\t' | '\r' => 1,
            '\\' => rest.strip_prefix("\\\n").map(|_| 2)?,
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '\n' => {
                found.push(Token::Line);
                1
            }
            '"' => {
                let length = closed(&rest[1..], '"')?;
                found.push(Token::Text(&rest[1..1 + length]));
                length + 2
            }
            '/' if begins_pattern(found.last())? => {
                found.push(Token::Pattern);
                closed(&rest[1..], '/')? + 2
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                found.push(Token::Name(&rest[..length]));
                length
            }
            c if c.is_ascii_digit() => {
                found.push(Token::Number);
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len())
            }
            c if c.is_ascii_punctuation() => {
                let signs = ["&&", "||", ">>", ">=", "<=", "==", "!=", "++", "--", "+=", "-="];
                let length = signs.iter().find(|sign| rest.starts_with(**sign)).map_or(1, |sign| sign.len());
                found.push(Token::Sign(&rest[..length]));
                length
            }
            _ => return None,
        };
        rest = &rest[token_bytes..];
    }
    Some(found)
}

/// Whether a slash behind a piece begins a pattern, or divides; nothing, if that is up to the rest of the program.
fn begins_pattern(last: Option<&Token<'_>>) -> Option<bool> {
    match last {
        None | Some(Token::Line) => Some(true),
        // To some awks it is a name like any other.
        Some(Token::Name("case")) => None,
        Some(Token::Name(name)) => Some(BEGINNING.contains(name)),
        Some(Token::Number | Token::Text(_) | Token::Pattern | Token::Sign("]")) => Some(false),
        // Behind a condition a statement begins.
        Some(Token::Sign(")" | "++" | "--")) => None,
        Some(Token::Sign(_)) => Some(true),
    }
}

/// How long a text is that ends with a character which no backslash protects.
fn closed(text: &str, end: char) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        at += match c {
            '\\' => 1 + text[at + 1..].chars().next()?.len_utf8(),
            '\n' => return None,
            '[' if end == '/' => bracketed(&text[at..])?,
            c if c == end => return Some(at),
            c => c.len_utf8(),
        };
    }
    None
}

/// How long a bracket expression is that every awk takes to end at the same place: what else a bracket, a backslash or a
/// slash may be in it is up to them.
fn bracketed(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let mut rest = inside.strip_prefix('^').unwrap_or(inside);
    if rest.starts_with(']') {
        return None;
    }
    loop {
        rest = &rest[rest.find(['[', ']', '\\', '/', '\n'])?..];
        if rest.starts_with(']') {
            return Some(text.len() - rest.len() + 1);
        }
        rest = CLASSES.iter().find_map(|class| rest.strip_prefix(class))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_no_redirections() {
        for program in [
            "NR>1",
            "$3 > 100",
            "$3 > 100 {print $1}",
            "{ if ($2 > 5) print $1 }",
            "{ print ($1 > $2) }",
            "$1 == \"a\" || $2 == \"b\"",
            "/a|b/ {print}",
            "{ print $1\n if ($2 > 3) x = 1 }",
            "{ print \"a > b\" }",
            "{ print $1 / 2; n = n > 3 ? 1 : 2 }",
            "BEGIN { FS=\"|\" } $1 >= 2 # a > b",
            "/[[:space:]]+|x/ {print}",
            "/[a-z]|[^0-9\"]/ {print}",
            "/[^[:alpha:]_]/ && $1 > 2",
        ] {
            assert!(!redirects(program), "{program}");
        }
        for program in [
            "{print > \"f\"}",
            "{print $1, $2 >> \"f\"}",
            "{printf(\"%s\", $1) > \"f\"}",
            "{print $1,\n $2 > \"f\"}",
            "$3 > 100 {print > \"f\"}",
            "{print | \"sort\"}",
            "{print |& \"sort\"}",
            "@load \"x\"",
            "{ if (x) /\"/; print > \"f\"; y = /\"/ }",
            "{ x = case / 1; print > \"f\"; y = 2 / 1 }",
            "{ print (a)(b) > \"f\" }",
            "{ print a ? b : c > \"f\" }",
            "{ if (a) b; else /\"/; print > \"f\"; c = /\"/ }",
            "{ print > (\"f\") }",
            "{ print \"x > y",
            "/[]/\"]/{print \"rm x\" | \"sh\"}#\"",
            "/[^]/\"]/{print \"rm x\" | \"sh\"}#\"",
            "/[\\]/\"]/{print \"rm x\" | \"sh\"}#\"",
            "/[[:alpha:]/\"]/{print \"rm x\" | \"sh\"}#\"",
            "BEGIN{print \"x\",\n\n\"y\" > \"f\"}",
            "BEGIN{print \"x\", # a\n# b\n\"y\" > \"f\"}",
        ] {
            assert!(redirects(program), "{program}");
        }
    }

    #[test]
    fn names_that_are_computed_are_told_from_those_that_are_written_out() {
        for (program, is_computed) in [
            ("BEGIN{ARGV[1]=\"pr\" \"iv/k\";ARGC=2}{print}", true),
            ("BEGIN{ARGV[ARGC++]=\"x\"}", true),
            ("BEGIN{x=\"f\"; getline y < x}", true),
            ("BEGIN{getline y < \"pr\" \"iv/k\"}", true),
            ("BEGIN{while((getline y < \"f\") > 0) print y}", false),
            ("BEGIN{getline y < \"pr\\151v/k\"}", true),
            ("BEGIN{getline a[length(\"x\")] < (\"pr\" \"iv/k\"); print a[1]}", true),
            ("BEGIN{getline a[x<y] < \"f\"; print a[1]}", false),
            ("BEGIN{x[getline y < \"f\"]}", false),
            ("{getline; print}", false),
            ("BEGIN{print ARGV[1], ARGC}", false),
            ("BEGIN{f(ARGV)}", true),
            ("{print $1}", false),
        ] {
            assert_eq!(computes(program), is_computed, "{program}");
        }
    }
}
