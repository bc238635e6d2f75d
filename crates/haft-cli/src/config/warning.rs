//! Warnings of one source, of which only so many are told one by one.

use super::error::{Located, Problem};
use super::text::Span;

/// The most warnings about one source.
const WARNINGS_MAX: usize = 20;

/// Collects warnings about one source.
#[derive(Default)]
pub(crate) struct Warnings {
    told: Vec<Located>,
    further: Option<(usize, Span)>,
}

impl Warnings {
    /// Adds a warning. It is worked out only if it will be told.
    pub(crate) fn add(&mut self, at: &Span, problem: impl FnOnce() -> Problem) {
        match &mut self.further {
            Some((count, _)) => *count += 1,
            None if self.told.len() < WARNINGS_MAX => self.told.push(Located::new(problem(), at)),
            None => self.further = Some((1, at.clone())),
        }
    }

    /// The warnings, the last of which counts those that are not told.
    pub(crate) fn into_list(self) -> Vec<Located> {
        let further = self.further.map(|(count, at)| Located::new(Problem::More { count }, &at));
        self.told.into_iter().chain(further).collect()
    }
}
