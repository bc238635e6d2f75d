//! A question for consent, as it is answered key by key: choose, confirm what is allowed for always, say what instead.

use std::time::Duration;

use haft::permission::{Effect, Reason, Reply, Request, Scope};

use serde_json::Value;

use super::attention::Attention;
use super::editor::Editor;
use super::keys::Key;
use super::row::{Paint, Row};
use super::view::diff_rows;

/// So much of what will happen is shown at once.
const DETAIL_LINES_MAX: usize = 40;

/// A question that is being answered.
pub(crate) struct Approval {
    request: Request,
    step: Step,
    attention: Attention,
}

enum Step {
    /// Which of the choices is highlighted.
    Choose(usize),
    /// How far an "always" would reach.
    Always(Scope),
    /// What to do instead.
    Words(Editor),
    /// The input of the call, as it is being changed, and what is wrong with it.
    Input(Editor, Option<String>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Once,
    Always,
    Edit,
    No,
}

/// What came of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pressed<A> {
    /// It was typed before the question could be seen.
    TooEarly,
    /// The question changed.
    Taken,
    /// Everything is to be shown.
    ShowAll,
    Answered(A),
}

impl Approval {
    pub(crate) fn new(request: Request, now: Duration) -> Approval {
        Approval { request, step: Step::Choose(0), attention: Attention::new(now) }
    }

    pub(crate) fn attention(&mut self) -> &mut Attention {
        &mut self.attention
    }

    fn choices(&self) -> Vec<Choice> {
        let mut choices = vec![Choice::Once];
        choices.extend((!self.request.question.save.is_empty()).then_some(Choice::Always));
        choices.extend(self.request.input.is_some().then_some(Choice::Edit));
        choices.push(Choice::No);
        choices
    }

    pub(crate) fn press(&mut self, key: &Key, now: Duration) -> Pressed<Reply> {
        if !self.attention.press(now) {
            return Pressed::TooEarly;
        }
        let choices = self.choices();
        match &mut self.step {
            Step::Choose(at) => match key {
                Key::Up => *at = at.saturating_sub(1),
                Key::Down => *at = (*at + 1).min(choices.len() - 1),
                Key::Enter => {
                    let choice = choices[*at];
                    return self.choose(choice);
                }
                Key::Char('y') => return self.choose(Choice::Once),
                Key::Char('n') | Key::Escape => return self.choose(Choice::No),
                Key::Char('e') if choices.contains(&Choice::Edit) => return self.choose(Choice::Edit),
                Key::Char('v') => return Pressed::ShowAll,
                Key::Char(key @ ('s' | 'p' | 'u')) if choices.contains(&Choice::Always) => {
                    self.step = Step::Always(scope(*key));
                }
                Key::Char(digit @ '1'..='9') => {
                    let at = digit.to_digit(10).map_or(0, |digit| digit as usize - 1);
                    if let Some(choice) = choices.get(at) {
                        return self.choose(*choice);
                    }
                }
                _ => {}
            },
            Step::Always(reach) => match key {
                Key::Enter => return Pressed::Answered(Reply::Always(*reach)),
                Key::Char(key @ ('s' | 'p' | 'u')) => *reach = scope(*key),
                Key::Left | Key::Up => *reach = next(*reach, 2),
                Key::Right | Key::Down | Key::Tab => *reach = next(*reach, 1),
                Key::Escape => self.step = Step::Choose(1),
                _ => {}
            },
            Step::Words(editor) => match key {
                Key::Enter => {
                    let words = editor.take().trim().to_owned();
                    return Pressed::Answered(Reply::Reject(Some(words).filter(|words| !words.is_empty())));
                }
                Key::Escape => self.step = Step::Choose(choices.len() - 1),
                key => editor.press(key),
            },
            Step::Input(editor, problem) => match key {
                Key::Enter => match changed(editor.text(), self.request.input.as_ref()) {
                    Ok(input) => return Pressed::Answered(Reply::Edit(input)),
                    Err(why) => *problem = Some(why),
                },
                Key::Escape => self.step = Step::Choose(choices.len() - 2),
                key => editor.press(key),
            },
        }
        Pressed::Taken
    }

    fn choose(&mut self, choice: Choice) -> Pressed<Reply> {
        match choice {
            Choice::Once => return Pressed::Answered(Reply::Once),
            Choice::Always => self.step = Step::Always(Scope::Session),
            Choice::Edit => {
                let mut editor = Editor::default();
                let input = self.request.input.as_ref();
                editor.put_back(&input.map(|input| format!("{input:#}")).unwrap_or_default());
                self.step = Step::Input(editor, None);
            }
            Choice::No => self.step = Step::Words(Editor::default()),
        }
        Pressed::Taken
    }

    /// What is wanted and exactly what will happen, as far as it is shown at once, or all of it.
    pub(crate) fn head(&self, all: bool) -> Vec<Row> {
        let request = &self.request;
        let who = request.context.agent.as_str();
        let lead = Row::new().with(Paint::Yellow, "? ").with(Paint::Bold, who).plain(" wants  ");
        let mut rows = vec![lead.with(Paint::Bold, &request.wanted())];
        let title = &request.showing.title;
        if !title.is_empty() && haft::visible(title) != request.wanted() {
            rows.push(Row::new().plain("  ").plain(title));
        }
        let lines_max = if all { usize::MAX } else { DETAIL_LINES_MAX };
        rows.extend(diff_rows(&request.showing.detail, lines_max, 2, "v shows them"));
        rows.extend(
            because(request).into_iter().map(|why| Row::new().with(Paint::Dim, &format!("  because {why}"))),
        );
        rows
    }

    /// The choices as they stand, and where the cursor is if something is written.
    pub(crate) fn rows(&self, now: Duration, columns: usize) -> (Vec<Row>, Option<(usize, usize)>) {
        match &self.step {
            Step::Choose(at) => (self.choice_rows(*at, now), None),
            Step::Always(reach) => (self.always_rows(*reach, columns), None),
            Step::Words(editor) => {
                let lead = Row::new().plain("  What instead?  ");
                let mut rows = vec![lead.with(Paint::Dim, "Enter sends · empty just stops · Esc goes back")];
                let (written, (row, column)) = editor.rows("  > ", columns);
                rows.extend(written);
                (rows, Some((row + 1, column)))
            }
            Step::Input(editor, problem) => {
                let lead = Row::new().plain("  The call, as it is to be:  ");
                let mut rows = vec![lead.with(
                    Paint::Dim,
                    "Enter asks about this instead · Alt-Enter a new line · Esc goes back",
                )];
                rows.extend(problem.iter().map(|why| Row::new().with(Paint::Red, &format!("  {why}"))));
                let above = rows.len();
                let (written, (row, column)) = editor.rows("  > ", columns);
                rows.extend(written);
                (rows, Some((row + above, column)))
            }
        }
    }

    fn choice_rows(&self, at: usize, now: Duration) -> Vec<Row> {
        let is_ready = self.attention.is_ready(now);
        let row = |(number, choice): (usize, &Choice)| {
            let (keys, text) = match choice {
                Choice::Once => ("y", "Yes, once".to_owned()),
                Choice::Always => {
                    let patterns = self.request.question.save.join(", ");
                    ("s p u", format!("Yes, and stop asking for {} {patterns}", self.request.question.action))
                }
                Choice::Edit => ("e", "Change the call first".to_owned()),
                Choice::No => ("n", "No, and say what to do instead".to_owned()),
            };
            let lead = if number == at && is_ready { "  › " } else { "    " };
            let paint = if is_ready { Paint::Bold } else { Paint::Dim };
            Row::new().with(Paint::Yellow, lead).with(paint, keys).pad(10).plain(&text)
        };
        self.choices().iter().enumerate().map(row).collect()
    }

    fn always_rows(&self, reach: Scope, columns: usize) -> Vec<Row> {
        let question = &self.request.question;
        let lead = Row::new().plain("  From now on, allow");
        let mut rows = vec![lead.with(Paint::Bold, &format!(" {}", question.action)).plain(" on")];
        // All of it is seen before it is agreed to.
        for pattern in &question.save {
            let wrapped = Row::new().with(Paint::Bold, pattern).wrapped(columns.saturating_sub(4));
            rows.extend(wrapped.into_iter().map(|row| Row::new().pad(4).joined(row)));
        }
        for (key, scope, meaning) in [
            ("s", Scope::Session, "in this session"),
            ("p", Scope::Project, "in this project"),
            ("u", Scope::User, "in everything I do"),
        ] {
            let lead = if scope == reach { "  › " } else { "    " };
            rows.push(Row::new().with(Paint::Yellow, lead).with(Paint::Bold, key).pad(10).plain(meaning));
        }
        rows.push(Row::new().with(Paint::Dim, "  Enter agrees · Esc goes back"));
        rows
    }
}

/// The input that was written, if it is one and another than before.
pub(crate) fn changed(text: &str, before: Option<&Value>) -> Result<Value, String> {
    let input: Value = serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?;
    match (input.is_object(), Some(&input) == before) {
        (false, _) => Err("a call takes an object: { … }".to_owned()),
        (true, true) => Err("this is the call as it was; Esc goes back".to_owned()),
        (true, false) => Ok(input),
    }
}

fn scope(key: char) -> Scope {
    match key {
        'p' => Scope::Project,
        'u' => Scope::User,
        _ => Scope::Session,
    }
}

fn next(scope: Scope, steps: usize) -> Scope {
    let scopes = [Scope::Session, Scope::Project, Scope::User];
    let at = scopes.iter().position(|known| *known == scope).unwrap_or(0);
    scopes[(at + steps) % scopes.len()]
}

/// Why somebody is asked, each reason once.
fn because(request: &Request) -> Vec<String> {
    let mut reasons = Vec::new();
    for decision in request.decisions.iter().filter(|decision| decision.effect == Effect::Ask) {
        let reason = match &decision.reason {
            Reason::Rule(rule) => format!("{rule}  {}", rule.origin),
            Reason::Possibly(rule) => format!("{rule} may speak of it  {}", rule.origin),
            Reason::Silence => "no rule allows it".to_owned(),
            Reason::Grant { .. } => continue,
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

#[cfg(test)]
mod tests;
