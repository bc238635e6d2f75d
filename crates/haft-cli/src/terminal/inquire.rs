//! Putting the model's own questions to a person, one after the other, in plain lines.

use haft::permission::{Inquired, Inquiry};
use haft::visible;

use super::Style;
use super::prompt::{read_line, say};

/// Asks every question. `None` at the end of input, which answers nothing.
pub(super) fn converse(inquiry: &Inquiry, style: Style) -> Option<Vec<Vec<String>>> {
    inquiry.questions.iter().map(|question| answer(question, style)).collect()
}

fn answer(asked: &Inquired, style: Style) -> Option<Vec<String>> {
    say(&render(asked, style));
    loop {
        let line = read_line(&style.bold(&format!("{}? ", hint(asked))))?;
        match chosen(asked, &line) {
            Ok(answer) => return Some(answer),
            Err(problem) => say(&problem),
        }
    }
}

/// A question as a person sees it.
fn render(asked: &Inquired, style: Style) -> String {
    let mut text = format!("\n{}\n", style.bold(&visible(&asked.question)));
    for (at, option) in asked.options.iter().enumerate() {
        let means =
            if option.description.is_empty() { String::new() } else { format!(": {}", option.description) };
        text.push_str(&format!("  {} {}{}\n", at + 1, visible(&option.label), style.dim(&visible(&means))));
    }
    text
}

fn hint(asked: &Inquired) -> &'static str {
    match (asked.options.is_empty(), asked.is_multiple, asked.takes_words) {
        (true, ..) => "your answer",
        (false, false, false) => "a number",
        (false, true, false) => "numbers",
        (false, false, true) => "a number, or your own words",
        (false, true, true) => "numbers, or your own words",
    }
}

/// What a line chooses: numbers, labels, or words of one's own. An empty line leaves the question open.
fn chosen(asked: &Inquired, line: &str) -> Result<Vec<String>, String> {
    let line = line.trim();
    if line.is_empty() {
        return if asked.takes_words { Ok(Vec::new()) } else { Err("Type one of the numbers.".to_owned()) };
    }
    let option = |word: &str| {
        let by_number =
            word.parse::<usize>().ok().and_then(|number| asked.options.get(number.checked_sub(1)?));
        by_number.or_else(|| asked.options.iter().find(|option| option.label.eq_ignore_ascii_case(word)))
    };
    let label = |word: &str| option(word).map(|option| option.label.clone());
    if let Some(label) = label(line) {
        return Ok(vec![label]);
    }
    let words = line.split([',', ' ']).filter(|word| !word.is_empty());
    match words.map(label).collect::<Option<Vec<String>>>() {
        Some(labels) if asked.is_multiple => Ok(labels),
        Some(_) => Err("Choose one of them.".to_owned()),
        None if asked.takes_words => Ok(vec![line.to_owned()]),
        None => Err(format!("Type a number from 1 to {}.", asked.options.len())),
    }
}

#[cfg(test)]
mod tests {
    use haft::permission::{Choice, Inquired};

    use super::chosen;

    fn asked(is_multiple: bool, takes_words: bool) -> Inquired {
        let choice = |label: &str| Choice { label: label.to_owned(), description: String::new() };
        let options = vec![choice("Yes"), choice("No"), choice("Only later")];
        Inquired { question: "Now?".to_owned(), header: "Now".to_owned(), options, is_multiple, takes_words }
    }

    #[test]
    fn a_line_chooses_by_number_label_or_words() {
        let told = |line: &str, is_multiple, takes_words| chosen(&asked(is_multiple, takes_words), line);
        let said = |words: &[&str]| Ok(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(told("1", false, false), said(&["Yes"]));
        assert_eq!(told(" only later ", false, false), said(&["Only later"]));
        assert_eq!(told("1, 3", true, false), said(&["Yes", "Only later"]));
        assert_eq!(told("when it rains", false, true), said(&["when it rains"]));
        assert_eq!(told("", true, true), said(&[]));
        for bad in ["", "0", "4", "1 2", "maybe"] {
            assert!(told(bad, false, false).is_err(), "{bad}");
        }
    }
}
