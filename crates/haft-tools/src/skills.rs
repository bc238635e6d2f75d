//! Skills: texts that tell a model how something is done, kept as `SKILL.md` with files beside it.
//!
//! A skill is only text for the model, as the instructions of a project are. So those of a project that nobody has
//! trusted are found too, but never take the place of one of the person's own, and nothing outside the project is
//! reached by them.

mod install;
mod remote;
mod read;
mod walk;

use std::collections::BTreeMap;
use std::path::PathBuf;

use haft::visible;

use crate::front_matter;

pub use install::{Fetch, FetchError, InstallError, Installed, Installing, LocalFetch, TIME_MAX, install};
use read::Reach;
pub use remote::RemoteFetch;

/// The file that makes a directory a skill.
pub(crate) const FILE: &str = "SKILL.md";
/// So many are found.
const SKILLS_MAX: usize = 1_000;
/// Longer names are none.
const NAME_CHARS_MAX: usize = 64;
/// Longer descriptions are cut.
const DESCRIPTION_CHARS_MAX: usize = 1_024;
/// So many files of a skill are named.
const SAMPLE_MAX: usize = 10;

/// A directory that skills are looked for in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPlace {
    /// The directory.
    pub directory: PathBuf,
    /// Whose it is.
    pub owner: Owner,
}

/// Whose word a skill is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The person's own. Links in it are theirs and are followed.
    Person,
    /// The project's. Nothing that leads out of it is followed.
    Project {
        /// The root of the project.
        root: PathBuf,
        /// Whether the person trusts it.
        is_trusted: bool,
    },
}

/// Finds skills. They are looked for whenever they are needed, so a new one needs no restart.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    places: Vec<SkillPlace>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When to use it; without one it is not listed to models.
    pub description: Option<String>,
    /// Its file.
    pub file: PathBuf,
    /// The directory that the file and those it speaks of are in.
    pub directory: PathBuf,
    /// Whose it is.
    pub owner: Owner,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct FoundSkills {
    /// The skills by name.
    pub skills: BTreeMap<String, Skill>,
    /// What is probably a mistake, in words for a person.
    pub warnings: Vec<String>,
}

/// What a skill says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText {
    /// The text after the front matter.
    pub body: String,
    /// Some of the files beside it.
    pub files: Vec<PathBuf>,
}

impl Skills {
    /// Skills from these places. Of two with the same name the later wins.
    pub fn new(places: Vec<SkillPlace>) -> Skills {
        Skills { places }
    }

    /// Looks for skills in every place. It reads files, and so blocks.
    pub fn find(&self) -> FoundSkills {
        let mut found = FoundSkills::default();
        let mut budget = walk::Budget::default();
        for place in &self.places {
            let reach = match Reach::of(place) {
                Some(reach) => reach,
                None => continue,
            };
            for file in walk::skill_files(&reach, &mut budget, &mut found.warnings) {
                match described(&reach, file, &place.owner) {
                    Ok(skill) => found.add(skill),
                    Err(problem) => found.warnings.push(problem),
                }
            }
        }
        if budget.is_spent() {
            found.warnings.push(
                "there are too many files where skills are looked for; some were not looked at".to_owned(),
            );
        }
        found
    }

    /// Reads a skill, with the names of some of its files.
    pub fn load(&self, skill: &Skill) -> Result<SkillText, String> {
        let place = SkillPlace { directory: skill.directory.clone(), owner: skill.owner.clone() };
        let reach = Reach::of(&place).ok_or_else(|| format!("{} is gone", shown(&skill.directory)))?;
        let text = reach.text(&skill.file)?;
        let split =
            front_matter::split(&text).ok_or_else(|| format!("{} has changed", shown(&skill.file)))?;
        let files = walk::sample(&reach, &skill.file, SAMPLE_MAX);
        Ok(SkillText { body: split.body.trim().to_owned(), files })
    }
}

impl FoundSkills {
    fn add(&mut self, skill: Skill) {
        if let Some(before) = self.skills.get(&skill.name) {
            let wins = before.owner.yields_to(&skill.owner);
            let (kept, left) = if wins { (&skill, before) } else { (before, &skill) };
            self.warnings.push(format!(
                "the skill {} is there twice: {} counts, {} does not",
                visible(&skill.name),
                shown(&kept.file),
                shown(&left.file)
            ));
            if !wins {
                return;
            }
        } else if self.skills.len() >= SKILLS_MAX {
            self.warnings.push(format!("more than {SKILLS_MAX} skills; {} is left out", shown(&skill.file)));
            return;
        }
        self.skills.insert(skill.name.clone(), skill);
    }
}

impl Owner {
    /// What a project says that nobody has trusted takes nobody else's place.
    fn yields_to(&self, later: &Owner) -> bool {
        !matches!(later, Owner::Project { is_trusted: false, .. }) || self == later
    }
}

/// Reads what a skill is called and good for.
fn described(reach: &Reach, file: PathBuf, owner: &Owner) -> Result<Skill, String> {
    let text = reach.text(&file)?;
    let at = |line: u32, problem: &str| format!("{}:{line}: {problem}; the skill is left out", shown(&file));
    let split =
        front_matter::split(&text).ok_or_else(|| at(1, "expected front matter between two lines ---"))?;
    let yaml =
        front_matter::parse(split.yaml).map_err(|error| at(error.line + 1, &visible(&error.message)))?;
    let name = yaml.get("name").ok_or_else(|| at(1, "expected a name in the front matter"))?;
    let line = name.line + 1;
    let name = name.as_text().ok_or_else(|| at(line, "expected the name to be a text"))?;
    if !is_name(name) {
        let problem = format!("expected a name of 1 to {NAME_CHARS_MAX} letters, digits and hyphens");
        return Err(at(line, &problem));
    }
    let description = yaml.get("description").and_then(|text| text.as_text()).map(str::trim);
    let description = description.filter(|text| !text.is_empty()).map(|text| {
        match text.char_indices().nth(DESCRIPTION_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        }
    });
    let directory = file.parent().map(PathBuf::from).unwrap_or_default();
    Ok(Skill { name: name.to_owned(), description, file, directory, owner: owner.clone() })
}

/// A name is put into prompts and rules, so it may hold nothing that means something there.
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | ' ');
    (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && name.trim() == name && name.chars().all(allowed)
}

fn shown(path: &std::path::Path) -> String {
    visible(&path.to_string_lossy())
}

#[cfg(test)]
mod tests;
