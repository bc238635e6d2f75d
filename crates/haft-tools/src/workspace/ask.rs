//! The questions that have to be answered before a place is touched, in their order.

use haft::Action;
use haft::permission::{Question, Resource};

use super::place::Place;
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

/// An "always" holds for this very path and no other.
fn protected(place: &Place) -> Question {
    let resources = place.resources();
    let save = resources.iter().map(|resource| exactly(resource.name())).collect();
    Question { action: Action::new("protected_path"), resources, save }
}

fn leaving(place: &Place) -> Question {
    let directory = place.surroundings().to_string_lossy();
    let directory = directory.trim_end_matches('/');
    let (everything, save) = (format!("{directory}/*"), format!("{}/*", exactly(directory)));
    Question::new(Action::new("external_directory"), Resource::new(everything)).saving(save)
}

/// A pattern for one path. A star in a name must not become a wildcard; a question mark matches it, and little else.
fn exactly(path: &str) -> String {
    path.replace('*', "?")
}
