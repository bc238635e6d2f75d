//! The template of a custom command, filled with what was typed after its name.
//!
//! It is read once, from its beginning to its end: what is put in is never looked at again, so nothing that somebody
//! types or a command prints becomes a slot, a shell part or a file that is attached.

use super::arguments::Arguments;
use super::shell_part;

/// A slot has at most so many digits, so that amounts of money are none.
const DIGITS_MAX: usize = 2;
const ALL: &str = "$ARGUMENTS";
const SHELL_BEGINS: &str = "!`";
const SHELL_ENDS: char = '`';

/// A piece of what is to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Words of the template and of what was typed.
    Text(String),
    /// A command whose output stands here.
    Shell(String),
}

/// A place for what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// For all of it.
    All,
    /// For one word of it, counted from one.
    Nth(usize),
}

/// Why a template cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    /// A slot in a command, where what is typed could become part of the command.
    #[error(
        "`{script}` has a place for arguments where they cannot be quoted; write it without \"{because}\", or keep the \
         arguments out of it"
    )]
    Unquotable {
        /// The command.
        script: String,
        /// What makes it unclear.
        because: &'static str,
    },
    /// A slot where the shell expects the name of a program.
    #[error("`{script}` would run what is typed as a program; name the program in it")]
    Program {
        /// The command.
        script: String,
    },
    /// A slot whose word is evaluated once more, or may be.
    #[error(
        "`{script}` may run as code what is typed, or what is made of it; keep the arguments out of it, or write it \
         without what evaluates them"
    )]
    Evaluated {
        /// The command.
        script: String,
    },
    /// Words by which the command would run something that it does not run with others.
    #[error("`{script}` would run more than it says by what was typed; say it in other words")]
    Commanding {
        /// The command.
        script: String,
    },
}

/// A template with what was typed in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) pieces: Vec<Piece>,
    /// What was typed into slots right behind an `@`, with it: there the template leaves it to the person which file
    /// is meant.
    pub(crate) pointed: Vec<String>,
}

enum Token<'t> {
    Literal(&'t str),
    Slot(Slot),
    Shell(&'t str),
}

/// Fills a template. What no slot takes is added at the end, after an empty line.
pub(crate) fn fill(template: &str, arguments: &Arguments) -> Result<Filled, TemplateError> {
    let tokens = tokens(template);
    let mut slots: Vec<Slot> = Vec::new();
    for token in &tokens {
        match token {
            Token::Literal(_) => {}
            Token::Slot(slot) => slots.push(*slot),
            Token::Shell(script) => slots.extend(shell_part::slots(script)?),
        }
    }
    let last = slots.iter().filter_map(|slot| slot.number()).max().unwrap_or(0);
    let mut filled = Filled::default();
    let mut is_pointed_at = false;
    for token in &tokens {
        match token {
            Token::Literal(text) => filled.add(text),
            Token::Slot(slot) => {
                let words = match slot {
                    Slot::All => arguments.typed.clone(),
                    Slot::Nth(number) => said(arguments.of_slot(*number, last), is_pointed_at),
                };
                filled.pointed.extend(is_pointed_at.then(|| format!("@{words}")));
                filled.add(&words);
            }
            Token::Shell(script) => {
                filled.pieces.push(Piece::Shell(shell_part::fill(script, arguments, last)?));
            }
        }
        is_pointed_at = matches!(token, Token::Literal(text) if text.ends_with('@'));
    }
    if slots.is_empty() && !arguments.typed.is_empty() {
        filled.add(&format!("\n\n{}", arguments.typed));
    }
    Ok(filled)
}

/// Words as they are said. The path of a file that is mentioned is held together by quotes.
fn said(words: &[String], is_pointed_at: bool) -> String {
    let is_path = |path: &str| path.contains(char::is_whitespace) && !path.contains('"');
    let spelled = |(at, word): (usize, &String)| match word.strip_prefix('@') {
        Some(path) if is_path(path) => format!("@\"{path}\""),
        None if at == 0 && is_pointed_at && is_path(word) => format!("\"{word}\""),
        Some(_) | None => word.clone(),
    };
    words.iter().enumerate().map(spelled).collect::<Vec<_>>().join(" ")
}

impl Filled {
    /// Adds words to those before them.
    fn add(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(known)) => known.push_str(text),
            Some(Piece::Shell(_)) | None if text.is_empty() => {}
            Some(Piece::Shell(_)) | None => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

impl Slot {
    fn number(self) -> Option<usize> {
        match self {
            Slot::All => None,
            Slot::Nth(number) => Some(number),
        }
    }

    /// The slot at the beginning of a text, and its length.
    pub(super) fn at(text: &str) -> Option<(Slot, usize)> {
        if text.starts_with(ALL) {
            return Some((Slot::All, ALL.len()));
        }
        let after = text.strip_prefix('$')?;
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = after[..digits].parse().ok().filter(|number| *number > 0)?;
        (digits <= DIGITS_MAX).then_some((Slot::Nth(number), 1 + digits))
    }
}

fn tokens(template: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(next) = template[at..].find(['!', '$']).map(|found| at + found) {
        let rest = &template[next..];
        let (token, length) = match (script_at(rest), Slot::at(rest)) {
            (Some(script), _) => {
                (Token::Shell(script), SHELL_BEGINS.len() + script.len() + SHELL_ENDS.len_utf8())
            }
            (None, Some((slot, length))) => (Token::Slot(slot), length),
            (None, None) => {
                at = next + 1;
                continue;
            }
        };
        tokens.push(Token::Literal(&template[from..next]));
        tokens.push(token);
        from = next + length;
        at = from;
    }
    tokens.push(Token::Literal(&template[from..]));
    tokens
}

/// The command at the beginning of a text that is one.
fn script_at(text: &str) -> Option<&str> {
    let (script, _) = text.strip_prefix(SHELL_BEGINS)?.split_once(SHELL_ENDS)?;
    (!script.trim().is_empty()).then_some(script)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(template: &str, typed: &str) -> Vec<Piece> {
        fill(template, &Arguments::typed(typed)).unwrap().pieces
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn shell(script: &str) -> Piece {
        Piece::Shell(script.to_owned())
    }

    #[test]
    fn slots_take_what_was_typed() {
        assert_eq!(filled("Fix $ARGUMENTS now", r#"it "a b""#), [text(r#"Fix it "a b" now"#)]);
        assert_eq!(filled("$2 before $1", r#"a "b c" d"#), [text("b c d before a")]);
        assert_eq!(filled("$1-$3.", "a"), [text("a-.")]);
        assert_eq!(filled("$1$1", "x y"), [text("x yx y")]);
        assert_eq!(filled("costs $100, $0 and $x", "ok"), [text("costs $100, $0 and $x\n\nok")]);
        assert_eq!(filled("Review.", " all of it "), [text("Review.\n\nall of it")]);
        assert_eq!(filled("Review.", "  "), [text("Review.")]);
        assert_eq!(filled("$1 $ARGUMENTS", ""), [text(" ")]);
    }

    #[test]
    fn shell_parts_are_told_from_words() {
        let pieces = filled("Log:\n!`git log -5`\nEnd!` `$", "");
        assert_eq!(pieces, [text("Log:\n"), shell("git log -5"), text("\nEnd!` `$")]);
        assert_eq!(filled("!`a``b`!`c`", ""), [shell("a"), text("`b`"), shell("c")]);
        assert_eq!(filled("!``` x ``` !`open", ""), [text("!``` x ``` !`open")]);
        // What is typed is never a shell part, nor a slot.
        assert_eq!(filled("say $1", "!`rm -rf x` $1 $ARGUMENTS"), [text("say !`rm -rf x` $1 $ARGUMENTS")]);
        // Where two pieces meet, nothing new begins.
        assert_eq!(filled("!$1", "`touch x`"), [text("!`touch x`")]);
        assert_eq!(filled("$$1", "1"), [text("$1")]);
    }

    #[test]
    fn the_path_of_a_file_stays_together() {
        assert_eq!(filled("See $1.", r#"@"a b.txt" c"#), [text(r#"See @"a b.txt" c."#)]);
        assert_eq!(filled("See @$1.", r#""a b.txt" c"#), [text(r#"See @"a b.txt" c."#)]);
        assert_eq!(filled("See $1.", r#""a b.txt" c"#), [text("See a b.txt c.")]);
        let pointed = |template: &str| fill(template, &Arguments::typed(".env")).unwrap().pointed;
        assert_eq!(pointed("@.env $1 @a/$1 @$1"), ["@.env"]);
        assert!(pointed("@.env $1 @a/$1 $ARGUMENTS").is_empty());
    }

    #[test]
    fn a_slot_in_a_shell_part_counts_like_any_other() {
        assert_eq!(filled("!`git diff $1`", "a.rs 'b c.rs'"), [shell("git diff a.rs 'b c.rs'")]);
        assert_eq!(filled("!`git diff $1` $2", "a b"), [shell("git diff a"), text(" b")]);
        let error = fill("!`echo $(cat $1)`", &Arguments::typed("x")).unwrap_err();
        assert!(error.to_string().contains("echo $(cat $1)"), "{error}");
    }

    proptest! {
        #[test]
        fn a_template_without_slots_stays_as_it_is(template in "[a-z!`@ \\n.{}é]{0,60}") {
            let pieces = filled(&template, "");
            let again: String = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => text.clone(),
                    Piece::Shell(script) => format!("!`{script}`"),
                })
                .collect();
            prop_assert_eq!(again, template);
        }

        #[test]
        fn what_is_typed_is_put_in_as_it_is_and_never_looked_at_again(
            typed in "[ a-z!`$@19'\"ARGUMENTS\\\\]{0,40}",
        ) {
            let arguments = Arguments::typed(&typed);
            let expected = [text(&format!("a {} b", arguments.typed))];
            prop_assert_eq!(filled("a $ARGUMENTS b", &typed), expected);
            // Quotes that kept the path of a file together keep it together still.
            let is_held = |word: &&String| word.starts_with('@') && word.contains(' ') && !word.contains('"');
            let held = |word: &String| format!("@\"{}\"", &word[1..]);
            let words = arguments.words.iter().map(|word| Some(word).filter(is_held).map_or(word.clone(), held));
            let words = words.collect::<Vec<_>>().join(" ");
            prop_assert_eq!(filled("a $1 b", &typed), [text(&format!("a {words} b"))]);
        }
    }
}
