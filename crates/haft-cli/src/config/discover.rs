//! Which sources there are, in which order. Later ones win.
//!
//! 1. `<config>/opencode/`: `config.json`, then the four names
//! 2. `<config>/haft/`: the four names
//! 3. the files that `OPENCODE_CONFIG` and `HAFT_CONFIG` name
//! 4. the project, from its root down to the working directory: the four names
//! 5. `.opencode/`, then `.haft/`, from the working directory up to the root: the four names
//! 6. `~/.opencode/` and the directory that `OPENCODE_CONFIG_DIR` names: the four names
//! 7. what plugins say in their hook `config`, where they are asked
//! 8. the text in `OPENCODE_CONFIG_CONTENT` and `HAFT_CONFIG_CONTENT`
//! 9. the rules in `OPENCODE_PERMISSION` and `HAFT_PERMISSION`
//!
//! The four names are `opencode.json`, `opencode.jsonc`, `haft.json` and `haft.jsonc`. In the directories of 1, 2, 5
//! and 6 agents and custom commands follow that are written in Markdown. Numbers 4 and 5 are the project's word; all others are the
//! person's. A directory that is both is the person's. What 4 and 5 would be in trusted directories around the project
//! is read beside all that, and only narrows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::permission::Layer;

use super::PluginWords;
use super::error::ConfigError;
use super::markdown::{self, Described};
use super::read::shown_path;
use super::text::Text;
use crate::paths::{Env, Paths};

/// Whose keys a source holds, and how strictly they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Written for opencode: what haft does not know is passed over with a warning.
    Opencode,
    /// Written for haft: what haft does not know is a mistake.
    Haft,
}

/// A place where configuration may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    /// What it is called in messages and origins.
    pub(crate) name: String,
    /// Where its text is.
    pub(crate) content: Content,
    /// How it is read.
    pub(crate) family: Family,
    /// Whose word it is.
    pub(crate) layer: Layer,
    /// The directory of the project that it stands in, if it is a file of the project.
    pub(crate) level: Option<PathBuf>,
}

/// A directory that holds more than files of configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    /// The directory of the project that it stands in; none, if it is the person's.
    pub(crate) level: Option<PathBuf>,
}

/// Where the text of a source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// In a file, if it exists.
    File(PathBuf),
    /// In a file that a variable names, and which therefore has to exist.
    Named {
        /// The variable.
        variable: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// In a variable.
    Inline(String),
    /// In a variable that holds nothing but rules.
    Rules(String),
    /// In a Markdown file that describes one agent or one command.
    Markdown(Described),
    /// In what a plugin says.
    Plugin(String),
}

impl Source {
    /// The file it is in, if it is in one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.content {
            Content::File(path) | Content::Named { path, .. } => Some(path),
            Content::Markdown(file) => Some(&file.path),
            Content::Inline(_) | Content::Rules(_) | Content::Plugin(_) => None,
        }
    }

    /// The name of the custom command that it describes, if it does nothing else.
    pub(super) fn command(&self) -> Option<&str> {
        match &self.content {
            Content::Markdown(file) => file.command(),
            Content::File(_) | Content::Named { .. } | Content::Inline(_) => None,
            Content::Rules(_) | Content::Plugin(_) => None,
        }
    }

    /// Its text, if it is there.
    pub(super) fn text(&self) -> Result<Option<Arc<Text>>, ConfigError> {
        let name = &self.name;
        match &self.content {
            Content::File(path) | Content::Markdown(Described { path, .. }) => Text::read(name, path),
            Content::Named { variable, path } => match Text::read(name, path)? {
                Some(text) => Ok(Some(text)),
                None => Err(ConfigError::Missing { variable, name: name.clone() }),
            },
            Content::Inline(text) | Content::Rules(text) | Content::Plugin(text) => {
                Text::new(name, text).map(Some)
            }
        }
    }

    /// What a plugin says, as a source.
    pub(crate) fn of_plugin(words: &PluginWords) -> Source {
        let (name, content) = (words.name.clone(), Content::Plugin(words.text.clone()));
        Source { name, content, family: Family::Opencode, layer: Layer::Project, level: None }
    }

    /// Whether rules may stand in it.
    fn may_have_rules(&self) -> bool {
        self.command().is_none()
    }

    /// Whether its text is in a variable.
    pub(crate) fn is_variable(&self) -> bool {
        matches!(self.content, Content::Inline(_) | Content::Rules(_))
    }
}

/// A variable that holds a text, how that is read, and what it is.
type Variable = (&'static str, Family, fn(String) -> Content);

const NAMES: [(&str, Family); 4] = [
    ("opencode.json", Family::Opencode),
    ("opencode.jsonc", Family::Opencode),
    ("haft.json", Family::Haft),
    ("haft.jsonc", Family::Haft),
];

/// Lists every place where configuration may be, the most important last. `cwd` lies at or below `root`.
pub(crate) fn sources(env: &Env, paths: &Paths, cwd: &Path, root: &Path) -> Result<Vec<Source>, ConfigError> {
    let Persons { dot_opencode, named_directory } = Persons::of(env, paths, cwd);
    let mut sources = Vec::new();
    if let Some(directory) = &paths.opencode {
        sources.push(file(directory.join("config.json"), Family::Opencode, None));
        sources.extend(in_directory(directory, None));
        sources.extend(described_in(directory, None));
    }
    sources.extend(in_directory(&paths.config, None));
    sources.extend(described_in(&paths.config, None));
    sources.extend(named_file(env, cwd, "OPENCODE_CONFIG", Family::Opencode));
    sources.extend(named_file(env, cwd, "HAFT_CONFIG", Family::Haft));
    if !env.is_on("OPENCODE_DISABLE_PROJECT_CONFIG") {
        let (plain, hidden) = of_project(env, paths, cwd, cwd, root);
        sources.extend(plain.iter().flat_map(|level| in_directory(level, Some(level))));
        for directory in &hidden {
            sources.extend(in_directory(directory, directory.parent()));
            sources.extend(described_in(directory, directory.parent()));
        }
    }
    for directory in [dot_opencode, named_directory].into_iter().flatten() {
        sources.extend(in_directory(&directory, None));
        sources.extend(described_in(&directory, None));
    }
    let variables: [Variable; 4] = [
        ("OPENCODE_CONFIG_CONTENT", Family::Opencode, Content::Inline),
        ("HAFT_CONFIG_CONTENT", Family::Haft, Content::Inline),
        ("OPENCODE_PERMISSION", Family::Opencode, Content::Rules),
        ("HAFT_PERMISSION", Family::Haft, Content::Rules),
    ];
    for (variable, family, content) in variables {
        let Some(value) = env.get(variable) else { continue };
        let text = value.to_str().ok_or(ConfigError::NotText { variable })?;
        let content = content(text.to_owned());
        let name = variable.to_owned();
        sources.push(Source { name, content, family, layer: Layer::Global, level: None });
    }
    Ok(sources)
}

/// The places in directories around the project, each with the directory that they stand in.
pub(crate) fn around(env: &Env, paths: &Paths, cwd: &Path, levels: &[PathBuf]) -> Vec<(PathBuf, Source)> {
    if env.is_on("OPENCODE_DISABLE_PROJECT_CONFIG") {
        return Vec::new();
    }
    let mut sources = Vec::new();
    for level in levels {
        let (plain, hidden) = of_project(env, paths, cwd, level, level);
        let plain = plain.iter().flat_map(|level| in_directory(level, Some(level)));
        let hidden = hidden.iter().flat_map(|directory| {
            let named = in_directory(directory, Some(level)).into_iter();
            // Only rules count there.
            named.chain(described_in(directory, Some(level)).into_iter().filter(Source::may_have_rules))
        });
        sources.extend(plain.chain(hidden).map(|source| (level.clone(), source)));
    }
    sources
}

/// The directories that hold more than files of configuration, such as agents and skills, in the order of their
/// sources.
pub(crate) fn directories(env: &Env, paths: &Paths, cwd: &Path, root: &Path) -> Vec<Directory> {
    let Persons { dot_opencode, named_directory } = Persons::of(env, paths, cwd);
    let hidden = match env.is_on("OPENCODE_DISABLE_PROJECT_CONFIG") {
        true => Vec::new(),
        false => of_project(env, paths, cwd, cwd, root).1,
    };
    let persons = |path: PathBuf| Directory { path, level: None };
    let first = paths.opencode.iter().chain([&paths.config]).cloned().map(persons);
    let last = dot_opencode.into_iter().chain(named_directory).map(persons);
    let projects = |path: PathBuf| Directory { level: path.parent().map(Path::to_path_buf), path };
    first.chain(hidden.into_iter().map(projects)).chain(last).collect()
}

/// The files and directories that hold the person's own word, be they there or not.
pub(crate) fn persons(env: &Env, paths: &Paths, cwd: &Path) -> Vec<PathBuf> {
    let Persons { dot_opencode, named_directory } = Persons::of(env, paths, cwd);
    let named = ["OPENCODE_CONFIG", "HAFT_CONFIG"].map(|variable| Some(cwd.join(env.get(variable)?)));
    let of_system = paths.opencode.iter().chain([&paths.config]).cloned();
    of_system.chain(dot_opencode).chain(named_directory).chain(named.into_iter().flatten()).collect()
}

/// The person's own directories apart from those of the system.
struct Persons {
    dot_opencode: Option<PathBuf>,
    named_directory: Option<PathBuf>,
}

impl Persons {
    fn of(env: &Env, paths: &Paths, cwd: &Path) -> Persons {
        Persons {
            dot_opencode: paths.home.as_ref().map(|home| home.join(".opencode")),
            named_directory: env.get("OPENCODE_CONFIG_DIR").map(|value| cwd.join(value)),
        }
    }
}

/// The directories from the root down to the lowest, then their hidden ones from there up.
fn of_project(
    env: &Env,
    paths: &Paths,
    cwd: &Path,
    lowest: &Path,
    root: &Path,
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let Persons { dot_opencode, named_directory } = Persons::of(env, paths, cwd);
    let persons =
        [paths.opencode.as_ref(), Some(&paths.config), dot_opencode.as_ref(), named_directory.as_ref()];
    let persons: Vec<&PathBuf> = persons.into_iter().flatten().collect();
    let real: Vec<PathBuf> = persons.iter().filter_map(|directory| directory.canonicalize().ok()).collect();
    let is_persons =
        |directory: &PathBuf| persons.contains(&directory) || real.iter().any(|real| real == directory);
    let levels: Vec<&Path> = match lowest.starts_with(root) {
        true => lowest.ancestors().take_while(|level| level.starts_with(root)).collect(),
        false => vec![lowest],
    };
    let plain = levels.iter().rev().map(|level| level.to_path_buf());
    let hidden = levels.iter().flat_map(|level| [level.join(".opencode"), level.join(".haft")]);
    let hidden = hidden.filter(|directory| directory.is_dir());
    let not_persons = |directory: &PathBuf| !is_persons(directory);
    (plain.filter(not_persons).collect(), hidden.filter(not_persons).collect())
}

/// What a directory describes in Markdown.
fn described_in(directory: &Path, level: Option<&Path>) -> Vec<Source> {
    let source = |file: Described| Source {
        name: shown_path(&file.path),
        content: Content::Markdown(file),
        family: Family::Opencode,
        layer: layer_of(level),
        level: level.map(Path::to_path_buf),
    };
    markdown::described_in(directory).into_iter().map(source).collect()
}

fn in_directory(directory: &Path, level: Option<&Path>) -> [Source; 4] {
    NAMES.map(|(name, family)| file(directory.join(name), family, level))
}

fn file(path: PathBuf, family: Family, level: Option<&Path>) -> Source {
    Source {
        name: shown_path(&path),
        content: Content::File(path),
        family,
        layer: layer_of(level),
        level: level.map(Path::to_path_buf),
    }
}

/// What stands in a directory of the project is its word; all else is the person's.
fn layer_of(level: Option<&Path>) -> Layer {
    if level.is_some() { Layer::Project } else { Layer::Global }
}

/// The file that a variable names. Its own name tells the family; any other name is the variable's.
fn named_file(env: &Env, cwd: &Path, variable: &'static str, default: Family) -> Option<Source> {
    let path = cwd.join(env.get(variable)?);
    let known = NAMES.iter().find(|(name, _)| path.ends_with(name));
    Some(Source {
        name: shown_path(&path),
        family: known.map_or(default, |(_, family)| *family),
        content: Content::Named { variable, path },
        layer: Layer::Global,
        level: None,
    })
}
