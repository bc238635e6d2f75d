//! The questions that a script raises: about directories outside, protected paths, and every command in it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use haft::permission::{Allowed, Question, Resource};

use super::analysis::Analysis;
use super::arity::arity;
use super::command::{Command, Sort};
use super::effects::{FileEffect, Touch, effects, is_dynamic};
use super::globs::NAMES_MAX;
use super::guesses::guesses;
use super::options::behind_options;
use super::word::{Certainty, Word};
use super::wrappers::{does_launch, is_launcher, runs_anything};
use crate::workspace::{Place, Workspace, leaving_action};

/// Leaving the workspace comes first, then what is protected, then the commands.
pub(super) fn questions(workspace: &Workspace, analysis: &Analysis, workdir: &Place) -> Vec<Question> {
    let touched = touched(workspace, analysis);
    let outside = std::iter::once(workdir).chain(touched.iter().map(|(place, _)| place));
    let leaving = outside.filter_map(|place| leaving_for_itself(place).or_else(|| place.leaving()));
    let protected = protected(workspace, &touched).into_iter().map(|(_, question)| question);
    Question::merged(leaving.chain(protected)).into_iter().chain(commands(analysis)).collect()
}

/// What haft sees as its own process is another one to a command: that command itself.
fn leaving_for_itself(place: &Place) -> Option<Question> {
    let own = format!("/proc/{}", std::process::id());
    let below = place.surroundings().strip_prefix(own).ok()?;
    let everything = Path::new("/proc/self").join(below).join("*").to_string_lossy().into_owned();
    Some(Question::new(leaving_action(), Resource::new(&everything)).saving(everything))
}

/// The commands of a script, and what those of them run that only launch others.
pub(super) fn every(analysis: &Analysis) -> impl Iterator<Item = &Command> {
    analysis.commands.iter().flat_map(|command| std::iter::once(command).chain(&command.within))
}

/// The question whether commands may leave the workspace by words that are known only when they run.
pub(super) fn perhaps_outside(analysis: &Analysis) -> Option<Question> {
    let named = every(analysis).filter(|command| is_dynamic(command)).map(|command| &command.text);
    let mut seen = HashSet::new();
    let resources: Vec<Resource> = named
        .filter(|text| seen.insert(*text))
        .map(|text| Resource::new(text).allowed(Allowed::ByNothing).beginning(""))
        .collect();
    (!resources.is_empty()).then(|| Question { action: leaving_action(), resources, save: Vec::new() })
}

/// The directories outside the workspace that a script would touch.
pub(super) fn outside(workspace: &Workspace, analysis: &Analysis) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for (place, _) in touched(workspace, analysis) {
        let directory = place.surroundings();
        if !place.is_inside() && !found.iter().any(|known| known == directory) {
            found.push(directory.to_owned());
        }
    }
    found
}

/// The directories outside the workspace that agreeing to a script agrees to, and what it does to what is there.
pub(super) fn agreed_outside(workspace: &Workspace, analysis: &Analysis) -> Vec<(PathBuf, Touch)> {
    let touched = touched(workspace, analysis);
    let outside = touched.iter().filter(|(place, _)| !place.is_inside());
    outside.map(|(place, touch)| (place.surroundings().to_owned(), *touch)).collect()
}

/// A file that a script names and that is nobody's, whoever agrees.
pub(super) fn withheld(workspace: &Workspace, analysis: &Analysis) -> Option<PathBuf> {
    let touched = touched(workspace, analysis);
    let withheld = touched.iter().find(|(place, _)| workspace.is_withheld(place.real()));
    withheld.map(|(place, _)| place.real().to_owned())
}

/// The protected paths that agreeing to a script agrees to change.
pub(super) fn agreed_protected(workspace: &Workspace, analysis: &Analysis) -> Vec<PathBuf> {
    let touched = touched(workspace, analysis);
    protected(workspace, &touched).into_iter().map(|(place, _)| place.real().to_owned()).collect()
}

/// The places among these that are protected and would be changed, each with the question about it.
fn protected<'t>(workspace: &Workspace, touched: &'t [(Place, Touch)]) -> Vec<(&'t Place, Question)> {
    let changed = touched.iter().filter(|(_, touch)| *touch > Touch::Looks);
    let mut changed = changed.map(|(place, _)| place).peekable();
    if changed.peek().is_none() {
        return Vec::new();
    }
    let guarded = workspace.guarded();
    changed.filter_map(|place| Some((place, workspace.changing_protected(&guarded, place)?))).collect()
}

/// Where the files that a script names really are, and what it does to them.
fn touched(workspace: &Workspace, analysis: &Analysis) -> Vec<(Place, Touch)> {
    let mut seen: HashSet<FileEffect> = HashSet::new();
    let mut names: Names<'_> =
        Names { base: workspace.directory(), known: HashSet::new(), missing: HashSet::new() };
    let mut places = Vec::new();
    let mut left = NAMES_MAX;
    for effect in every(analysis).flat_map(|command| effects(command, &mut left)) {
        // Most of them do not matter, and to see that costs less than to see whether it was seen.
        if is_of_its_own(&effect) || !names.may_matter(&effect.path) || seen.contains(&effect) {
            continue;
        }
        // What cannot be reached cannot be touched either.
        places.extend(workspace.locate(&effect.path).ok().map(|place| (place, effect.touch)));
        seen.insert(effect);
    }
    places
}

/// Whether a command only looks at what the kernel shows of itself: a confined command has a `/proc` and a `/dev` of its
/// own. What leads back out of them is no part of that.
pub(super) fn is_of_its_own(effect: &FileEffect) -> bool {
    const TREES: [&str; 2] = ["/proc", "/dev"];
    const WAYS_OUT: [&str; 8] = ["root", "cwd", "fd", "exe", "map_files", "task", "..", "shm"];
    let is_there = TREES.iter().any(|tree| effect.path.starts_with(tree));
    let leads_out = |part: std::path::Component<'_>| WAYS_OUT.iter().any(|way| part.as_os_str() == *way);
    effect.touch == Touch::Looks && is_there && !effect.path.components().any(leads_out)
}

/// Most words of a script name nothing. Only the first step into the workspace is looked at to see that.
struct Names<'w> {
    base: &'w Path,
    known: HashSet<String>,
    missing: HashSet<String>,
}

impl Names<'_> {
    /// Whether a path may lead outside or to something protected.
    fn may_matter(&mut self, path: &Path) -> bool {
        let Some(below) = path.strip_prefix(self.base).ok().and_then(Path::to_str) else { return true };
        let first = below.split('/').next().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c.is_ascii_punctuation() || c == ' ';
        let is_special = |name: &str| name.starts_with('.') || name.to_ascii_lowercase().contains(".json");
        if below.split('/').any(is_special) || !below.chars().all(is_plain) || self.known.contains(first) {
            return true;
        }
        if self.missing.contains(first) {
            return false;
        }
        let exists = self.base.join(first).symlink_metadata().is_ok();
        let names = if exists { &mut self.known } else { &mut self.missing };
        names.insert(first.to_owned());
        exists
    }
}

fn commands(analysis: &Analysis) -> Option<Question> {
    let is_asked = |command: &&Command| !command.only_moves() && command.sort != Sort::Setting;
    let asked = || analysis.commands.iter().filter(is_asked);
    let mut resources: Vec<Resource> = Vec::new();
    let mut seen = HashSet::new();
    for resource in asked().map(resource) {
        if seen.insert(resource.clone()) {
            resources.push(resource);
        }
    }
    if resources.is_empty() {
        return None;
    }
    // An "always" that does not cover all of it would be no always.
    let save: Option<Vec<String>> = asked().map(always).collect();
    let mut save = save.unwrap_or_default();
    let mut seen = HashSet::new();
    save.retain(|pattern| seen.insert(pattern.clone()));
    Some(Question { action: super::action(), resources, save })
}

/// By which texts rules speak of a command, and how wide one has to be to allow it.
pub(super) fn resource(command: &Command) -> Resource {
    let mut resource = Resource::new(&command.text).allowed(match command.sort {
        Sort::Unread => Allowed::ByNothing,
        _ if command.is_plain() => Allowed::ByAnyMatch,
        _ => Allowed::ByEverythingOnly,
    });
    if !command.words.is_empty() {
        resource = resource.or(command.spelled());
    }
    forbidden(resource, command)
}

/// Adds by which texts it can be denied and asked about but not allowed.
fn forbidden(mut resource: Resource, command: &Command) -> Resource {
    let behind = behind_options(command);
    let is_told = |word: &Word| Some(word.text().to_owned());
    for words in std::iter::once(&command.words).chain(&behind.words) {
        for spelling in unquoted(words, is_told) {
            resource = resource.or_forbidden_as(spelling);
        }
    }
    for inside in &command.within {
        resource = forbidden(resource, inside);
    }
    let guesses = guesses(command);
    for guess in guesses.commands {
        resource = resource.or_guessed(guess);
    }
    if command.is_opaque || guesses.is_open {
        return resource.beginning("");
    }
    let is_known = |word: &Word| word.certainty() == Certainty::Exact;
    for words in std::iter::once(&command.words).chain(&behind.words) {
        if !words.iter().all(is_known) {
            for beginning in unquoted(words, |word| word.known().map(str::to_owned)) {
                resource = resource.beginning(beginning);
            }
        }
    }
    match command.name().filter(|_| !behind.is_sure) {
        Some(name) => resource.beginning(format!("{name} ")),
        None => resource,
    }
}

/// The words without their quotes, also with the name alone; only up to the first that is not told.
fn unquoted(words: &[Word], told: impl Fn(&Word) -> Option<String>) -> Vec<String> {
    let Some(first) = words.first() else { return Vec::new() };
    let Some(called) = told(first) else { return vec![first.beginning().to_owned()] };
    let mut rest = String::new();
    for word in &words[1..] {
        rest.push(' ');
        match told(word) {
            Some(text) => rest.push_str(&text),
            None => {
                rest.push_str(word.beginning());
                break;
            }
        }
    }
    let name = called.rsplit('/').next().unwrap_or(&called).to_owned();
    vec![format!("{called}{rest}"), format!("{name}{rest}")]
}

/// What an "always" would allow: the command people mean by it, the very same words, or nothing.
pub(super) fn always(command: &Command) -> Option<String> {
    if !command.is_plain() {
        return None;
    }
    let words: Vec<String> = command.words.iter().map(Word::quoted).collect();
    // How many words say what it does depends on the program, wherever it lies.
    let called = command.name().map(str::to_owned).into_iter().chain(words.iter().skip(1).cloned());
    let count = arity(&called.collect::<Vec<_>>());
    let named = words[..count.min(words.len())].to_vec();
    let is_name = |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:@+".contains(c));
    let launches = |name: &str| is_launcher(name) && (count < 2 || does_launch(name, &words));
    let is_general = !command.name().is_some_and(|name| runs_anything(name) || launches(name))
        && named.len() == count
        && named.iter().all(is_name)
        && !named.iter().skip(1).any(|word| word.starts_with('-'));
    let exactly = || command.spelled().replace('*', "?");
    Some(if is_general { format!("{} *", named.join(" ")) } else { exactly() })
}
