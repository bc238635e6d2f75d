//! Commands that an option or a subcommand of another command introduces, as data: `jobs -x rm f`, `cargo watch -s 'rm f'`.

use super::inner::{Inner, joined, script, words_or_script};
use super::options::subcommand;
use super::word::Word;

/// In which form a command stands behind what introduces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// All the words that follow.
    Words,
    /// All the words that follow, or one word that is a script.
    WordsOrScript,
    /// The next word, which is a script.
    Script,
    /// The next word, which is what follows the name of the program in a script.
    Own,
}

/// Programs, the subcommand that has the options if there is one, the options, and what stands behind them.
const INTRODUCING: &[(&str, &str, &str, Behind)] = &[
    ("jobs", "", "-x", Behind::Words),
    ("dpkg-architecture", "", "-c --command", Behind::WordsOrScript),
    ("just", "", "-c --command", Behind::Words),
    ("coreutils", "", "--coreutils-prog --coreutils-prog-shebang", Behind::Words),
    ("cargo", "watch", "-s --shell", Behind::Script),
    ("cargo", "watch", "-x --exec", Behind::Own),
    ("cargo", "watch", "--", Behind::WordsOrScript),
    ("asciinema", "rec", "-c --command", Behind::Script),
    ("flatpak", "run", "--command", Behind::Words),
    ("sbatch", "", "--wrap", Behind::Script),
    ("vagrant", "ssh", "-c --command", Behind::Script),
    ("bpftrace", "", "-c", Behind::Script),
];

/// The commands that options of a command introduce.
pub(super) fn introduced(name: &str, arguments: &[Word]) -> Vec<Inner> {
    let rows = INTRODUCING.iter().filter(|(program, ..)| *program == name);
    let is_of =
        |second: &str| second.is_empty() || subcommand(name, arguments).is_some_and(|one| lists(second, one));
    let mut found = Vec::new();
    for (_, _, options, behind) in rows.filter(|(_, second, ..)| is_of(second)) {
        let introducing =
            arguments.iter().enumerate().filter_map(|(at, word)| Some((at, attached(options, word)?)));
        found.extend(introducing.map(|(at, attached)| {
            let words: Vec<Word> = attached.into_iter().chain(arguments[at + 1..].iter().cloned()).collect();
            command(name, *behind, &words)
        }));
    }
    found
}

fn command(name: &str, behind: Behind, words: &[Word]) -> Inner {
    match (behind, words.first()) {
        (_, None) => Inner::Opaque,
        (Behind::Words, Some(_)) => Inner::Words(words.to_vec()),
        (Behind::WordsOrScript, Some(_)) => words_or_script(words),
        (Behind::Script, Some(first)) => script(first),
        (Behind::Own, Some(first)) => joined(&[Word::exact(name), first.clone()]),
    }
}

/// What is attached to a word that is one of these options; nothing at all, if it is none.
fn attached(options: &str, word: &Word) -> Option<Option<Word>> {
    let text = word.text();
    if lists(options, text) {
        return Some(None);
    }
    let value = match text.split_once('=') {
        Some((option, value)) if option.starts_with("--") => lists(options, option).then_some(value),
        _ => text.get(..2).filter(|option| lists(options, option)).map(|option| &text[option.len()..]),
    }?;
    Some(Some(if word.known().is_some() { Word::exact(value) } else { Word::unknown() }))
}

fn lists(list: &str, one: &str) -> bool {
    list.split(' ').any(|listed| listed == one)
}
