//! Searching on this machine: the workspace, and the sources of the packages that it depends on.
//!
//! Sources that lie outside the workspace take the same consent as every other look outside; where nobody can give it,
//! the rest is searched and the answer says what was left out.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use haft::permission::{Effect, Gate};
use haft::{Action, Refusal, ToolContext, ToolError, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ACTION;
use crate::blocking::blocking;
use crate::code::{CodeSearch, Extent, Found, Passage, Query, SourceStores, Surroundings, show};
use crate::searching;
use crate::workspace::{Candidate, Place, Sources, SourcesTarget, Watch, Workspace};

/// A search that takes longer shows what it has found by then.
pub(super) const TIME_MAX: Duration = Duration::from_secs(15);
/// About as many characters make a token.
const CHARS_PER_TOKEN: usize = 4;

/// What was found on this machine.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Local {
    /// The passages, the best first.
    pub(super) passages: Vec<Passage>,
    /// Whether there are more than there was room for.
    pub(super) truncated: bool,
    /// So many files were read.
    files: usize,
    /// So many packages that the workspace depends on were searched.
    packages: usize,
    /// So many packages have their sources here.
    packages_known: usize,
    /// Directories of packages that were not searched, because nobody allowed it.
    unsearched: Vec<String>,
    /// Whether time ran out before everything was seen.
    partial: bool,
}

/// Searches on this machine.
pub(super) struct LocalSearch {
    pub(super) workspace: Workspace,
    pub(super) gate: Gate,
    pub(super) stores: SourceStores,
    pub(super) time_max: Duration,
}

/// What may be searched, and the directories that may not.
struct Allowed {
    sources: Sources,
    surroundings: Surroundings,
    unsearched: Vec<String>,
}

impl LocalSearch {
    pub(super) async fn search(
        &self,
        words: &str,
        tokens: u64,
        context: &ToolContext,
    ) -> Result<Local, ToolError> {
        let query = Query::new(words).ok_or_else(|| {
            ToolError::failure("the query holds no word to look for; name a library, a type or a function")
        })?;
        let Allowed { sources, surroundings, unsearched } = self.allowed(words, context).await?;
        let search = CodeSearch::new(sources, surroundings, query);
        let deadline = Instant::now() + self.time_max;
        let looking = search.clone();
        blocking(move |stop| looking.look(&Watch::new(stop, deadline))).await;
        let mut found = self.readable(&search, context).await?;
        if !search.is_enough(&found) {
            let looking = search.clone();
            blocking(move |stop| looking.look_further(&Watch::new(stop, deadline))).await;
            found = self.readable(&search, context).await?;
        }
        let chars_max = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN);
        let Extent { files, packages, packages_known, is_partial: partial } = search.extent();
        let workspace = self.workspace.clone();
        let showing = blocking(move |_| show(&workspace, &search, &search.worth_showing(found), chars_max));
        let (passages, truncated) = showing.await;
        Ok(Local { passages, truncated, files, packages, packages_known, unsearched, partial })
    }

    async fn allowed(&self, words: &str, context: &ToolContext) -> Result<Allowed, ToolError> {
        let (workspace, stores) = (self.workspace.clone(), self.stores.clone());
        let around = blocking(move |_| Surroundings::of(&workspace, &stores)).await;
        let around = around.map_err(|error| ToolError::Failure(error.to_string()))?;
        let mut effects = Vec::new();
        for tree in around.trees() {
            let decisions = match tree.leaving() {
                Some(leaving) => self.gate.decisions(context, &leaving).await?,
                None => Vec::new(),
            };
            effects.push(decisions.iter().map(|decision| decision.effect).max().unwrap_or(Effect::Allow));
        }
        let only = |keeps: fn(Effect) -> bool| {
            let mut effects = effects.iter();
            around.only(|_| effects.next().is_some_and(|effect| keeps(*effect)))
        };
        let target = |around: &Surroundings| {
            SourcesTarget::new(around.trees().cloned().collect(), Action::new(ACTION), words)
        };
        let wanted = only(|effect| effect != Effect::Deny);
        let (permit, surroundings) = match self.gate.grant(context, target(&wanted)).await {
            // There is nobody who could let us out, so we go where no question is asked.
            Err(ToolError::Refused(Refusal::Unanswered { .. })) => {
                let unasked = only(|effect| effect == Effect::Allow);
                (self.gate.grant(context, target(&unasked)).await?, unasked)
            }
            granted => (granted?, wanted),
        };
        let is_searched = |tree: &&Place| surroundings.trees().any(|other| other.real() == tree.real());
        let unsearched = around.trees().filter(|tree| !is_searched(tree)).map(Place::shown).collect();
        Ok(Allowed { sources: self.workspace.sources(permit), surroundings, unsearched })
    }

    /// What was found in files that may be shown without asking anybody.
    async fn readable(&self, search: &CodeSearch, context: &ToolContext) -> Result<Vec<Found>, ToolError> {
        let (found, files): (Vec<Found>, Vec<Candidate>) = search.found().into_iter().unzip();
        let readable = searching::readable(&self.gate, context, files.clone()).await?;
        let readable: HashSet<&Path> = readable.iter().map(|file| file.place().real()).collect();
        let judged = found.into_iter().zip(&files);
        let judged = judged.filter(|(_, file)| readable.contains(file.place().real()));
        Ok(judged.map(|(found, _)| found).collect())
    }
}

impl Local {
    /// The passages, and what there is to say about the search.
    pub(super) fn shown(&self) -> String {
        let mut text = match self.passages.as_slice() {
            [] => super::NOTHING.to_owned(),
            passages => passages.iter().map(shown).collect::<Vec<_>>().join("\n\n"),
        };
        text.push_str(&format!("\n\n({})", self.extent()));
        if self.truncated {
            text.push_str(
                "\n(There are more passages; a larger tokensNum or a more specific query shows others.)",
            );
        }
        if !self.unsearched.is_empty() {
            let places: Vec<String> = self.unsearched.iter().map(|place| visible(place)).collect();
            text.push_str(&format!(
                "\n(Not searched, because no rule allows external_directory there: {}.)",
                places.join(", ")
            ));
        }
        if self.partial {
            text.push_str(
                "\n(Time ran out before everything was seen. A query that names the library is answered faster.)",
            );
        }
        text
    }

    /// What was searched, in a sentence.
    fn extent(&self) -> String {
        let files = if self.files == 1 { "1 file".to_owned() } else { format!("{} files", self.files) };
        let packages = match (self.packages, self.packages_known) {
            (_, 0) => "; no sources of packages that it depends on are here".to_owned(),
            (1, 1) => " and the package that it depends on".to_owned(),
            (some, all) if some == all => format!(" and {all} packages that it depends on"),
            (some, all) => format!(" and {some} of {all} packages that it depends on"),
        };
        format!("Searched locally: {files}, in the workspace{packages}.")
    }
}

fn shown(passage: &Passage) -> String {
    let Passage { path, line, text, package, .. } = passage;
    let last = line + text.lines().count().max(1) - 1;
    let package = package.as_ref().map_or_else(String::new, |package| format!("  [{}]", visible(package)));
    format!("{}:{line}-{last}{package}\n{text}", visible(path))
}
