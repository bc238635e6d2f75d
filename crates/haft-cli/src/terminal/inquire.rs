//! Putting the model's own questions to a person, one after the other, in plain lines.

use haft::permission::{Inquired, Inquiry};
use haft::visible;

use super::Style;
use super::prompt::{read_line, say};
use crate::choice::chosen;

/// Asks every question. `None` at the end of input, which answers nothing.
pub(super) fn converse(inquiry: &Inquiry, style: Style) -> Option<Vec<Vec<String>>> {
    inquiry.questions.iter().map(|question| answer(question, style)).collect()
}

fn answer(asked: &Inquired, style: Style) -> Option<Vec<String>> {
    say(&render(asked, style));
    loop {
        let line = read_line(&style.bold(&format!("{}? ", hint(asked))))?;
        match chosen(asked, &line) {
            Some(answer) => return Some(answer),
            // An empty line leaves the question open.
            None if asked.takes_words && line.trim().is_empty() => return Some(Vec::new()),
            None => say(&format!("Type {}.", hint(asked))),
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
