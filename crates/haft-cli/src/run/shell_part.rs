//! What is typed, put into the shell part of a custom command: quoted, so that it stays an argument and is never code.
//!
//! Whoever decides about the command sees it as it will run. Where it cannot be told how the shell would read what is
//! put in, nothing is.

use super::arguments::Arguments;
use super::template::{Slot, TemplateError};

/// What leaves open how the shell reads what follows, or has it evaluate a word.
const UNCLEAR: [&str; 9] = ["$(", "${", "$[", "$'", "$\"", "<<", "((", "[[", "#"];
/// What a word may hold that needs no quotes, besides letters and digits.
const PLAIN: &str = "_-./:@%+,";

/// What a slot stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Nothing: it is a word of its own.
    Spaces,
    /// Part of a word.
    Word,
    /// Double quotes.
    Quotes,
}

/// A slot, and where it stands.
struct Found {
    slot: Slot,
    within: Within,
    start: usize,
    end: usize,
}

/// The slots of a shell part.
pub(super) fn slots(script: &str) -> Result<Vec<Slot>, TemplateError> {
    Ok(found(script)?.into_iter().map(|found| found.slot).collect())
}

/// Fills a shell part. Words stay apart where nothing holds them together.
pub(super) fn fill(script: &str, arguments: &Arguments, last: usize) -> Result<String, TemplateError> {
    let (mut filled, mut from) = (String::with_capacity(script.len()), 0);
    for Found { slot, within, start, end } in found(script)? {
        filled.push_str(&script[from..start]);
        let words = match slot {
            Slot::All => arguments.words.as_slice(),
            Slot::Nth(number) => arguments.of_slot(number, last),
        };
        let separate = |quoted: fn(&str) -> String| {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            words.join(" ")
        };
        match within {
            Within::Spaces => filled.push_str(&separate(quoted)),
            // Without quotes it could become part of a name, of a variable for instance.
            Within::Word => filled.push_str(&separate(single_quoted)),
            Within::Quotes if words.is_empty() => {}
            // Within double quotes the shell looks for more than a slot, so they end here and begin again.
            Within::Quotes => filled.push_str(&format!("\"{}\"", single_quoted(&words.join(" ")))),
        }
        from = end;
    }
    filled.push_str(&script[from..]);
    Ok(filled)
}

/// A word that the shell reads as this very word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => single_quoted(word),
    }
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Finds the slots that the shell would take for variables: none in single quotes or after a backslash.
fn found(script: &str) -> Result<Vec<Found>, TemplateError> {
    let mut found = Vec::new();
    let (mut in_single, mut in_double, mut at) = (false, false, 0);
    while let Some(c) = script[at..].chars().next() {
        let mut length = c.len_utf8();
        match c {
            '\\' if !in_single => length += script[at + 1..].chars().next().map_or(0, char::len_utf8),
            '\'' if !in_double => in_single = !in_single,
            '"' if !in_single => in_double = !in_double,
            '$' if !in_single => match slot_at(&script[at..]) {
                Some((slot, of_slot)) => {
                    let end = at + of_slot;
                    let is_apart = |c: Option<char>| c.is_none_or(char::is_whitespace);
                    let stands_alone =
                        is_apart(script[..at].chars().next_back()) && is_apart(script[end..].chars().next());
                    let within = match (in_double, stands_alone) {
                        (true, _) => Within::Quotes,
                        (false, true) => Within::Spaces,
                        (false, false) => Within::Word,
                    };
                    found.push(Found { slot, within, start: at, end });
                    length = of_slot;
                }
                // The number of the shell's own process.
                None if script[at + 1..].starts_with('$') => length += 1,
                None => {}
            },
            _ => {}
        }
        at += length;
    }
    let unclear = UNCLEAR.into_iter().find(|unclear| script.contains(unclear));
    match unclear.filter(|_| !found.is_empty()) {
        Some(because) => Err(TemplateError::Unquotable { script: script.to_owned(), because }),
        None => Ok(found),
    }
}

/// A slot; a variable whose name only begins like one is the shell's own.
fn slot_at(text: &str) -> Option<(Slot, usize)> {
    let (slot, length) = Slot::at(text)?;
    let goes_on = text[length..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (slot != Slot::All || !goes_on).then_some((slot, length))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn filled(script: &str, typed: &str) -> String {
        fill(script, &Arguments::typed(typed), 1).unwrap()
    }

    #[test]
    fn what_is_typed_is_quoted_where_it_stands() {
        assert_eq!(filled("git diff $1", "src/a.rs"), "git diff src/a.rs");
        assert_eq!(filled("git log $1", "'x; rm -rf y' $(id)"), "git log 'x; rm -rf y' '$(id)'");
        assert_eq!(filled(r#"echo "of $1!""#, "a `id` 'b'"), r#"echo "of "'a `id` b'"!""#);
        assert_eq!(filled("grep $ARGUMENTS src", r#""two words" -n"#), "grep 'two words' -n src");
        assert_eq!(filled("git diff $1 --stat", ""), "git diff  --stat");
        assert_eq!(filled(r#"test -n "$1""#, ""), r#"test -n """#);
        assert_eq!(filled("echo $1", "it's"), r"echo 'it'\''s'");
    }

    #[test]
    fn nothing_that_is_typed_joins_what_stands_before_or_after_it() {
        assert_eq!(filled("cat src/$1.rs", "a"), "cat src/'a'.rs");
        assert_eq!(filled("echo $HOME$1", "_X"), "echo $HOME'_X'");
        assert_eq!(filled("$1=5 env", "PATH"), "'PATH'=5 env");
        assert_eq!(filled("echo $$$1", r"\';id"), r"echo $$'\'\'';id'");
    }

    #[test]
    fn what_is_the_shells_own_stays_so() {
        for script in [
            "echo $$1 \"$$1\"",
            r"awk '{ print $1 }' a",
            r"echo \$1",
            "echo $ARGUMENTS_X $HOME $0",
            "a # $(b) ${c}",
        ] {
            assert_eq!(filled(script, "x"), script);
        }
    }

    #[test]
    fn nothing_is_put_where_the_shell_might_read_it_otherwise() {
        for script in
            ["echo $(cat $1)", "echo ${x:-$1}", "cat <<E\n$1\nE", "(( $1 ))", "[[ $1 -eq 1 ]]", "a # $1"]
        {
            assert!(fill(script, &Arguments::typed("x"), 1).is_err(), "{script}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_shell_reads_back_what_was_typed(typed in "[ a-c$`\\\\'\"*?~;&|<>(){}\\[\\]!#=é-]{1,24}") {
            let arguments = Arguments::typed(&typed);
            prop_assume!(!arguments.words.is_empty());
            let script = fill("printf '%s\\0' $$ $1 \"<$1>\" x$1 $$$1", &arguments, 1).unwrap();
            let output = Command::new("bash").args(["-c", &script]).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            let process = printed.split('\0').next().unwrap_or_default();
            let (words, whole) = (arguments.words.join("\0"), arguments.words.join(" "));
            let expected = format!("{process}\0{words}\0<{whole}>\0x{words}\0{process}{words}\0");
            prop_assert_eq!(&printed, &expected, "{}", script);
        }
    }
}
