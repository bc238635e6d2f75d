//! Questions of the model's own, as they are answered key by key: options by number, several if asked for, own words.

use std::time::Duration;

use haft::permission::{Inquired, Inquiry, Told};

use super::approval::Pressed;
use super::attention::Attention;
use super::editor::Editor;
use super::keys::Key;
use super::row::{Paint, Row};

/// Questions that are being answered.
pub(crate) struct Asking {
    inquiry: Inquiry,
    /// What was answered so far; its length says which question is asked.
    answers: Vec<Vec<String>>,
    highlighted: usize,
    chosen: Vec<usize>,
    words: Option<Editor>,
    attention: Attention,
}

impl Asking {
    pub(crate) fn new(inquiry: Inquiry, now: Duration) -> Asking {
        Asking {
            inquiry,
            answers: Vec::new(),
            highlighted: 0,
            chosen: Vec::new(),
            words: None,
            attention: Attention::new(now),
        }
        .opened()
    }

    pub(crate) fn attention(&mut self) -> &mut Attention {
        &mut self.attention
    }

    fn question(&self) -> Option<&Inquired> {
        self.inquiry.questions.get(self.answers.len())
    }

    /// The rows of the question: its options and, if they are welcome, one's own words.
    fn count(&self) -> usize {
        self.question().map_or(0, |question| question.options.len() + usize::from(question.takes_words))
    }

    /// A question without options is answered in words at once.
    fn opened(mut self) -> Asking {
        if self.question().is_some_and(|question| question.options.is_empty()) {
            self.words = Some(Editor::default());
        }
        self
    }

    pub(crate) fn press(&mut self, key: &Key, now: Duration) -> Pressed<Told> {
        if !self.attention.press(now) {
            return Pressed::TooEarly;
        }
        let Some(question) = self.question().cloned() else {
            return Pressed::Answered(Told::Answers(std::mem::take(&mut self.answers)));
        };
        if let Some(editor) = &mut self.words {
            match key {
                Key::Enter => {
                    let words = editor.take().trim().to_owned();
                    let mut answer = self.labels(&question);
                    answer.extend(Some(words).filter(|words| !words.is_empty()));
                    return self.answer(answer);
                }
                Key::Escape if question.options.is_empty() => return Pressed::Answered(Told::Dismissed),
                Key::Escape => self.words = None,
                key => editor.press(key),
            }
            return Pressed::Taken;
        }
        match key {
            Key::Escape => return Pressed::Answered(Told::Dismissed),
            Key::Up => self.highlighted = self.highlighted.saturating_sub(1),
            Key::Down => self.highlighted = (self.highlighted + 1).min(self.count().saturating_sub(1)),
            Key::Char(digit @ '1'..='9') => {
                let at = digit.to_digit(10).map_or(0, |digit| digit as usize - 1);
                if at < self.count() {
                    self.highlighted = at;
                    return self.pick(&question, question.is_multiple);
                }
            }
            Key::Char(' ') => return self.pick(&question, question.is_multiple),
            Key::Enter if question.is_multiple && self.highlighted < question.options.len() => {
                let answer = self.labels(&question);
                return self.answer(answer);
            }
            Key::Enter => return self.pick(&question, false),
            _ => {}
        }
        Pressed::Taken
    }

    /// Takes the highlighted row: an option, which may be one of several, or one's own words.
    fn pick(&mut self, question: &Inquired, several: bool) -> Pressed<Told> {
        let at = self.highlighted;
        if at >= question.options.len() {
            self.words = Some(Editor::default());
        } else if !several {
            return self.answer(vec![question.options[at].label.clone()]);
        } else if let Some(known) = self.chosen.iter().position(|chosen| *chosen == at) {
            self.chosen.remove(known);
        } else {
            self.chosen.push(at);
            self.chosen.sort_unstable();
        }
        Pressed::Taken
    }

    fn labels(&self, question: &Inquired) -> Vec<String> {
        self.chosen.iter().filter_map(|at| Some(question.options.get(*at)?.label.clone())).collect()
    }

    fn answer(&mut self, answer: Vec<String>) -> Pressed<Told> {
        self.answers.push(answer);
        (self.highlighted, self.words) = (0, None);
        self.chosen.clear();
        match self.question() {
            None => Pressed::Answered(Told::Answers(std::mem::take(&mut self.answers))),
            Some(next) => {
                self.words = next.options.is_empty().then(Editor::default);
                Pressed::Taken
            }
        }
    }

    /// The question as it stands, and where the cursor is if something is written.
    pub(crate) fn rows(&self, now: Duration, columns: usize) -> (Vec<Row>, Option<(usize, usize)>) {
        let Some(question) = self.question() else { return (Vec::new(), None) };
        let number = match self.inquiry.questions.len() {
            1 => String::new(),
            count => format!("({}/{count}) ", self.answers.len() + 1),
        };
        let text = format!("{number}{}", question.question);
        let mut rows = Row::new().with(Paint::Yellow, "? ").with(Paint::Bold, &text).wrapped(columns);
        let is_ready = self.attention.is_ready(now);
        let lead = |at: usize| match at == self.highlighted && is_ready && self.words.is_none() {
            true => Row::new().with(Paint::Yellow, "  › "),
            false => Row::new().plain("    "),
        };
        for (at, option) in question.options.iter().enumerate() {
            let mark = match (question.is_multiple, self.chosen.contains(&at)) {
                (false, _) => "",
                (true, true) => "[x] ",
                (true, false) => "[ ] ",
            };
            let row = lead(at).with(Paint::Bold, &format!("{} ", at + 1)).plain(mark).plain(&option.label);
            let row = row.with(Paint::Dim, &format!("  {}", option.description));
            rows.extend(row.wrapped(columns));
        }
        if let Some(editor) = &self.words {
            let (written, (row, column)) = editor.rows("  > ", columns);
            let above = rows.len();
            rows.extend(written);
            rows.push(Row::new().with(Paint::Dim, "  Enter answers · Esc goes back"));
            return (rows, Some((above + row, column)));
        }
        if question.takes_words {
            let at = question.options.len();
            let row = lead(at)
                .with(Paint::Bold, &format!("{} ", at + 1))
                .plain("something else, in your own words");
            rows.push(row);
        }
        let help = match question.is_multiple {
            true => "  numbers choose · Enter answers · Esc leaves it open and stops",
            false => "  a number or Enter answers · Esc leaves it open and stops",
        };
        rows.push(Row::new().with(Paint::Dim, help));
        (rows, None)
    }

    /// What was answered, for the record on screen.
    pub(crate) fn summary(inquiry: &Inquiry, told: &Told) -> Vec<Row> {
        let Told::Answers(answers) = told else {
            return vec![Row::new().with(Paint::Red, "✘ ").plain("left open")];
        };
        let row = |(question, answer): (&Inquired, &Vec<String>)| {
            let answer = if answer.is_empty() { "left open".to_owned() } else { answer.join(", ") };
            let row = Row::new().with(Paint::Green, "✔ ").plain(&answer);
            row.with(Paint::Dim, &format!("  {}", question.question))
        };
        inquiry.questions.iter().zip(answers).map(row).collect()
    }

    pub(crate) fn inquiry(&self) -> &Inquiry {
        &self.inquiry
    }
}

#[cfg(test)]
mod tests;
