//! The questions that have to be answered before a place is touched, in their order.

use haft::Action;
use haft::permission::{Question, Resource};

use super::place::{Kind, Place};
use super::protected::Protection;

/// Leaving the workspace comes first, then what is protected, then the tool's own action.
pub(super) fn questions(place: &Place, protection: Protection, action: &Action) -> Vec<Question> {
    let mut questions = Vec::new();
    if !place.is_inside() {
        questions.push(leaving(place));
    }
    match protection {
        Protection::None => {}
        Protection::Protected => questions.push(protected(place)),
    }
    questions.push(Question {
        action: action.clone(),
        resources: place.resources(),
        save: vec!["*".to_owned()],
    });
    questions
}

/// The questions about several places, one per action, in the order in which each place asks.
pub(super) fn merged(all: impl Iterator<Item = Vec<Question>>) -> Vec<Question> {
    let mut merged = Question::merged(all.flatten());
    merged.sort_by_key(|question| match &question.action {
        action if *action == leaving_action() => 0,
        action if *action == protected_action() => 1,
        _ => 2,
    });
    merged
}

/// An "always" holds for this very path and no other.
pub(super) fn protected(place: &Place) -> Question {
    let resources = place.resources();
    let save = resources.iter().map(|resource| exactly(resource.name())).collect();
    Question { action: protected_action(), resources, save }
}

/// Looking at the content of a file.
pub(super) fn looking(place: &Place) -> Question {
    Question { action: Action::new("read"), resources: place.resources(), save: vec!["*".to_owned()] }
}

/// Leaving the workspace for where a place really is.
pub(super) fn leaving(place: &Place) -> Question {
    let directory = place.surroundings().to_string_lossy();
    let directory = directory.trim_end_matches('/');
    // Below these lies everything, or all that is the person's own: an "always" is for what lies directly in them. A
    // question mark matches the star of the question about that, and no other.
    let below = if place.is_wide() { "?" } else { "*" };
    let (everything, save) = (format!("{directory}/*"), format!("{}/{below}", exactly(directory)));
    Question::new(leaving_action(), Resource::new(everything)).saving(save)
}

/// The same where rules speak of the link that leads there: the last rule about either decides.
pub(super) fn leaving_by_link(place: &Place) -> Question {
    let mut question = leaving(place);
    let by_link = everything_below_spelled(place);
    question.resources = question.resources.into_iter().map(|real| real.or(by_link.clone())).collect();
    question
}

/// What a rule about a link, not about where it leads, would have to match.
pub(super) fn everything_below_spelled(place: &Place) -> String {
    let spelled = match place.kind() {
        Kind::Directory => place.spelled(),
        Kind::Missing | Kind::File | Kind::Special(_) => place.spelled().parent().unwrap_or(place.spelled()),
    };
    format!("{}/*", spelled.to_string_lossy().trim_end_matches('/'))
}

pub(crate) fn leaving_action() -> Action {
    Action::new("external_directory")
}

fn protected_action() -> Action {
    Action::new("protected_path")
}

/// A pattern for one path. A star in a name must not become a wildcard; a question mark matches it, and little else.
fn exactly(path: &str) -> String {
    path.replace('*', "?")
}
