//! What an answer in one line chooses of a question's options.

use haft::permission::{Choice, Inquired};

/// What a line chooses: options by number or label, or else words of one's own. Nothing if it is no answer.
pub(crate) fn chosen(question: &Inquired, line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let labelled =
        |word: &str| question.options.iter().find(|option| option.label.eq_ignore_ascii_case(word));
    let numbered = |word: &str| {
        let number: usize = word.parse().ok()?;
        question.options.get(number.checked_sub(1)?)
    };
    let label = |option: &Choice| option.label.clone();
    if let Some(option) = labelled(line).or_else(|| numbered(line)) {
        return Some(vec![label(option)]);
    }
    let words = line.split(SEPARATORS).filter(|word| !word.is_empty());
    let options: Option<Vec<&Choice>> = words.map(|word| labelled(word).or_else(|| numbered(word))).collect();
    match options.filter(|options| question.is_multiple && !options.is_empty()) {
        Some(options) => Some(options.into_iter().map(label).collect()),
        // Numbers that are no option's are a slip.
        None if !question.options.is_empty() && is_numbers(line) => None,
        None if question.takes_words && !line.is_empty() => Some(vec![line.to_owned()]),
        None => None,
    }
}

/// What stands between several that are chosen.
const SEPARATORS: [char; 2] = [',', ' '];

fn is_numbers(line: &str) -> bool {
    line.chars().all(|letter| letter.is_ascii_digit() || SEPARATORS.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_chooses_by_number_label_or_words_and_a_slip_chooses_nothing() {
        let choice = |label: &str| Choice { label: label.to_owned(), description: String::new() };
        let options = || vec![choice("Yes"), choice("No"), choice("Only later")];
        let asked = |options, is_multiple, takes_words| Inquired {
            question: "Now?".to_owned(),
            header: "Now".to_owned(),
            options,
            is_multiple,
            takes_words,
        };
        let told =
            |line: &str, is_multiple, takes_words| chosen(&asked(options(), is_multiple, takes_words), line);
        let said = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(told("1", false, false), said(&["Yes"]));
        assert_eq!(told(" only later ", false, false), said(&["Only later"]));
        assert_eq!(told("1, 3", true, false), said(&["Yes", "Only later"]));
        assert_eq!(told("yes,no", true, true), said(&["Yes", "No"]));
        assert_eq!(told("when it rains", false, true), said(&["when it rains"]));
        assert_eq!(told("no, yes", false, true), said(&["no, yes"]));
        for slip in ["", " ", "0", "4", "1 2", "1, 4"] {
            assert_eq!((told(slip, false, true), told(slip, false, false)), (None, None), "{slip}");
        }
        assert_eq!((told("1 4", true, true), told("maybe", false, false)), (None, None));
        assert_eq!(chosen(&asked(Vec::new(), false, true), "42"), said(&["42"]));
    }
}
