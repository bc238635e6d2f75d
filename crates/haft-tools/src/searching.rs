//! What searching tools share: whom to ask before a search, and which of the files found may be shown.

use std::time::Duration;

use haft::permission::{Effect, Gate, Question, Reason};
use haft::{Action, ToolContext, ToolError};

use crate::workspace::{Candidate, Link, Place, SearchTarget};

/// A search that takes longer shows what it has found by then. Waiting for consent does not count.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(30);
const GLOB_BYTES_MAX: usize = 4096;

/// A glob that is longer is nobody's, and expensive to compile.
pub(crate) fn check_glob(glob: &str) -> Result<(), ToolError> {
    if glob.len() <= GLOB_BYTES_MAX {
        return Ok(());
    }
    let bytes = glob.len();
    Err(ToolError::Failure(format!(
        "the pattern has {bytes} bytes; use a simpler one, of at most {GLOB_BYTES_MAX}"
    )))
}

/// What is to be searched. A rule that allows a link by its very name allows to go where it leads; one that merely
/// covers it with a wildcard does not, or whoever can make a link could go anywhere.
pub(crate) async fn target(
    gate: &Gate,
    context: &ToolContext,
    place: Place,
    action: Action,
    pattern: &str,
) -> Result<SearchTarget, ToolError> {
    let mut link = Link::Resolved;
    if let Some(question) = place.leaving_by_its_name() {
        let names_it = |text: &str| text.starts_with(&*place.spelled().to_string_lossy());
        let decisions = gate.decisions(context, &question).await?;
        let is_named = decisions.iter().all(|decision| match &decision.reason {
            Reason::Rule(rule) => rule.effect == Effect::Allow && names_it(rule.resource.as_str()),
            Reason::Possibly(_) | Reason::Grant { .. } | Reason::Silence => false,
        });
        link = if is_named { Link::Named } else { Link::Resolved };
    }
    Ok(SearchTarget::new(place, action, pattern, link))
}

/// The files whose content may be shown without asking anybody, in their order.
///
/// The others are left out without a word: that one of them matched would already tell something of its content.
pub(crate) async fn readable(
    gate: &Gate,
    context: &ToolContext,
    files: Vec<Candidate>,
) -> Result<Vec<Candidate>, ToolError> {
    let questions: Vec<Question> = files.iter().map(|file| file.place().looking()).collect();
    let Some(first) = questions.first() else { return Ok(files) };
    // All in one question, because each costs a look at the saved grants.
    let action = first.action.clone();
    let resources = questions.iter().flat_map(|question| question.resources.clone()).collect();
    let decisions = gate.decisions(context, &Question { action, resources, save: Vec::new() }).await?;
    let mut decisions = decisions.iter();
    let judged = files.into_iter().zip(&questions).filter_map(|(file, question)| {
        let own = decisions.by_ref().take(question.resources.len());
        // Every one of them has to be taken, so that the next file meets its own.
        let refused = own.filter(|decision| decision.effect != Effect::Allow).count();
        (refused == 0).then_some(file)
    });
    Ok(judged.collect())
}

/// What a result has to say beside what was found.
pub(crate) fn caveats(unreadable: usize, partial: bool) -> String {
    let mut text = String::new();
    match unreadable {
        0 => {}
        1 => text.push_str("\n\n(1 path could not be read and was skipped.)"),
        paths => text.push_str(&format!("\n\n({paths} paths could not be read and were skipped.)")),
    }
    if partial {
        text.push_str(
            "\n\n(The search was ended before it had seen everything. Consider using a more specific path or pattern.)",
        );
    }
    text
}

#[cfg(test)]
mod tests;
