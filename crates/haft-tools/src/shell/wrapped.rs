//! The command that stands among the words of a wrapper or a launcher, found behind their own options.

use super::inner::{Inner, joined, placeholder, replaced, script};
use super::variables::run_by_setting;
use super::word::Word;
use super::wrappers::{Form, LAUNCHERS, SHELL_OTHERWISE, Wrapper};

/// What an option of a wrapper takes.
enum Takes {
    Nothing,
    Value,
    Script,
}

/// What a wrapper runs.
pub(super) fn wrapped(name: &str, wrapper: &'static Wrapper, arguments: &[Word]) -> Vec<Inner> {
    // These take their options wherever they stand.
    if matches!(name, "script" | "runuser")
        && let Some(found) = script_anywhere(arguments, wrapper.scripts)
    {
        return vec![found];
    }
    let mut found = Vec::new();
    let mut reading = Reading { wrapper, arguments, at: 0, is_sure: name != "parallel", replaces: None };
    while let Some(word) = arguments.get(reading.at) {
        let Some(text) = word.known() else { return vec![Inner::Opaque] };
        if text == "--" {
            reading.at += 1;
            break;
        }
        if wrapper.form == Form::Assigned && !text.starts_with('-') && text.contains('=') {
            found.extend(run_by_setting(word));
            reading.at += 1;
        } else if name == "env" && text == "-" {
            reading.at += 1;
        } else if !text.starts_with('-') || text == "-" {
            break;
        } else if let Some(given) = reading.option(text) {
            // What the rest of the words add to it is known only to env.
            let rest = arguments.get(reading.at..).unwrap_or_default();
            let words: Vec<Word> = given.into_iter().chain(rest.iter().cloned()).collect();
            found.push(match (name, words.first()) {
                (_, None) => Inner::Opaque,
                // It has escapes of its own, by which words are separated.
                ("env", Some(first)) if first.text().contains('\\') => Inner::Opaque,
                ("env", _) => joined(&words),
                (_, Some(first)) => script(first),
            });
            return found;
        }
    }
    let Reading { at, mut is_sure, replaces, .. } = reading;
    is_sure &= arguments.iter().skip(at).take(wrapper.operands).all(|operand| operand.known().is_some());
    let mut rest = arguments.get(at + wrapper.operands..).unwrap_or_default();
    if wrapper.operands > 0 && rest.first().is_some_and(|word| word.text().starts_with('-')) {
        (rest, is_sure) = behind_dashes(rest, is_sure);
    }
    // A lock is named before the command, and its script after it.
    if let Some(script) =
        rest.first().filter(|_| name == "flock").and_then(|_| script_anywhere(rest, wrapper.scripts))
    {
        found.push(script);
        return found;
    }
    is_sure &= !rest.is_empty() || !SHELL_OTHERWISE.contains(&name);
    if !rest.is_empty() {
        found.push(match wrapper.form {
            Form::Words | Form::Assigned => Inner::Words(rest.to_vec()),
            Form::Extended => {
                let mark = replaces.as_deref().unwrap_or("{}");
                let words = rest.iter().map(|word| replaced(&placeholder(word), mark));
                Inner::Words(words.chain([Word::unknown()]).collect())
            }
            Form::Joined => joined(rest),
        });
        // The architecture or the context may be left out.
        if matches!(name, "setarch" | "runcon") && rest.len() > 1 {
            found.push(Inner::Words(rest[1..].to_vec()));
        }
    }
    // What it writes may go to a command.
    let is_piped = |word: &Word| word.text().contains(['|', '!']);
    if !is_sure || name == "strace" && arguments.iter().any(is_piped) {
        found.push(Inner::Opaque);
    }
    found
}

/// What stands behind the two dashes that may follow operands, and whether that is sure: only the command itself knows
/// the options before them.
fn behind_dashes(words: &[Word], is_sure: bool) -> (&[Word], bool) {
    match words.iter().position(|word| word.text() == "--") {
        Some(at) => (&words[at + 1..], is_sure && at == 0),
        None => (words, false),
    }
}

struct Reading<'w> {
    wrapper: &'static Wrapper,
    arguments: &'w [Word],
    at: usize,
    is_sure: bool,
    /// What xargs puts its input in the place of.
    replaces: Option<String>,
}

impl Reading<'_> {
    /// Reads an option and what it takes. If that is a script, it is returned, unless it is a word of its own.
    fn option(&mut self, text: &str) -> Option<Option<Word>> {
        self.at += 1;
        match text.strip_prefix("--") {
            Some(_) => self.long(text),
            None => self.short(text),
        }
    }

    fn long(&mut self, text: &str) -> Option<Option<Word>> {
        let (option, value) =
            text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
        match self.takes(option) {
            Takes::Script => return Some(value.map(Word::exact)),
            Takes::Value => self.at += usize::from(value.is_none()),
            Takes::Nothing => {}
        }
        if option.len() > 2 && "--replace".starts_with(option) {
            self.replaces = value.map(str::to_owned);
        }
        None
    }

    fn short(&mut self, text: &str) -> Option<Option<Word>> {
        if lists(self.wrapper.flags, text) {
            return None;
        }
        let cluster = &text[1..];
        for (at, letter) in cluster.char_indices() {
            let attached = &cluster[at + letter.len_utf8()..];
            if letter == 'i' && self.wrapper.names.contains("xargs") && !attached.is_empty() {
                self.replaces = Some(attached.to_owned());
                return None;
            }
            if letter.is_ascii_digit() {
                continue;
            }
            match self.takes(&format!("-{letter}")) {
                Takes::Nothing => {}
                Takes::Script => return Some((!attached.is_empty()).then(|| Word::exact(attached))),
                Takes::Value => {
                    if matches!(letter, 'I' | 'J') {
                        let next = self.arguments.get(self.at).map(Word::text);
                        self.replaces =
                            Some(attached).filter(|mark| !mark.is_empty()).or(next).map(str::to_owned);
                    }
                    self.at += usize::from(attached.is_empty());
                    return None;
                }
            }
        }
        None
    }

    /// What an option takes. Where that is not known, or where it is abbreviated, the command may begin elsewhere.
    fn takes(&mut self, option: &str) -> Takes {
        let Wrapper { values, flags, scripts, .. } = self.wrapper;
        let abbreviates = |list: &str| {
            option.len() > 2
                && option.starts_with("--")
                && list.split(' ').any(|long| long.starts_with(option))
        };
        if lists(scripts, option) {
            Takes::Script
        } else if lists(values, option) {
            Takes::Value
        } else if lists(flags, option) {
            Takes::Nothing
        } else if abbreviates(scripts) {
            Takes::Script
        } else if abbreviates(values) {
            self.is_sure &= !abbreviates(flags);
            Takes::Value
        } else {
            self.is_sure &= abbreviates(flags);
            Takes::Nothing
        }
    }
}

fn lists(list: &str, option: &str) -> bool {
    list.split(' ').any(|one| one == option)
}

/// The script that an option brings, wherever it stands: as the next word, behind an equals sign, at the end of a cluster.
pub(super) fn script_anywhere(arguments: &[Word], options: &str) -> Option<Inner> {
    let behind = |at: usize| arguments.get(at + 1).map_or(Inner::Opaque, script);
    arguments.iter().enumerate().find_map(|(at, word)| {
        let text = word.text();
        let (option, value) =
            text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
        if option.starts_with("--") && option.len() > 3 {
            let is_given = options.split(' ').any(|long| long.starts_with(option));
            return is_given.then(|| match (value, word.known()) {
                (Some(_), None) => Inner::Opaque,
                (Some(value), Some(_)) => Inner::Script(value.to_owned()),
                (None, _) => behind(at),
            });
        }
        let cluster = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
        let (_, attached) = cluster.split_once('c').filter(|_| lists(options, "-c"))?;
        Some(match (attached, word.known()) {
            (_, None) => Inner::Opaque,
            ("", Some(_)) => behind(at),
            (attached, Some(_)) => Inner::Script(attached.to_owned()),
        })
    })
}

/// What a launcher runs: the words behind its subcommand and the options of that.
pub(super) fn launched(name: &str, arguments: &[Word]) -> Vec<Inner> {
    let subcommands = LAUNCHERS.iter().filter(|(launcher, ..)| *launcher == name);
    let behind = subcommands.filter_map(|(_, subcommand, operands)| {
        if subcommand.is_empty() {
            return Some((arguments, *operands));
        }
        let at = arguments.iter().position(|word| word.text() == *subcommand)?;
        // Before it stand options and what they take.
        let options = arguments[..at].iter().filter(|word| word.text().starts_with('-')).count();
        (at <= options * 2).then(|| (&arguments[at + 1..], *operands))
    });
    let Some((rest, operands)) = behind.into_iter().next() else { return Vec::new() };
    let is_option = |word: &&Word| word.text().starts_with('-') && word.text() != "--";
    let options = rest.iter().take_while(is_option).count();
    let ends = rest.get(options).is_some_and(|word| word.text() == "--");
    let mut words = rest.get(options + usize::from(ends) + operands..).unwrap_or_default();
    // What an option takes, only the launcher knows; behind two dashes there is none.
    let mut is_sure = options == 0 || ends;
    if words.first().is_some_and(|word| word.text().starts_with('-')) {
        (words, is_sure) = behind_dashes(words, is_sure);
    }
    let is_setting =
        |word: &&Word| word.known().is_some_and(|text| text.contains('=') && !text.starts_with('-'));
    let settings = words.iter().take_while(is_setting).count();
    let found: Vec<Inner> = words[..settings].iter().filter_map(run_by_setting).collect();
    words = &words[settings..];
    if words.is_empty() {
        return found;
    }
    let opaque = (!is_sure).then_some(Inner::Opaque);
    found.into_iter().chain([Inner::Words(words.to_vec())]).chain(opaque).collect()
}
