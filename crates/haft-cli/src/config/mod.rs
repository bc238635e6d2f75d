//! The configuration: opencode's, read as opencode reads it, and haft's own beside it.
//!
//! [`discover`] says which sources there are and in which order; [`text`] reads one and puts in what it refers to;
//! [`parse`] and [`markdown`] make [`node`]s of it that know their places; [`schema`] checks the keys; [`rules`] takes the permission
//! rules out, [`merge`] joins the rest, and [`idle`] looks at what came of it. Everything is read once.
//! [`masked`] keeps secrets out of the lines that messages quote.
//!
//! Until the person trusts a directory of a project, its files can only narrow: their rules count where they are stricter, nothing
//! in them is replaced by variables or other files, and none of their other keys has any effect. The files of a trusted directory
//! around the project narrow too.

mod agents;
mod around;
mod commands;
mod defaults;
mod discover;
mod error;
mod idle;
mod markdown;
mod masked;
mod merge;
mod node;
mod parse;
mod permission;
mod providers;
mod read;
mod references;
mod rules;
mod schema;
mod settings;
mod settled;
mod shipped;
mod text;
mod warning;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::permission::{Layer, Origin, Rule, Ruleset};
use haft::secrets::command_without_secrets;
use serde_json::Value;

pub(crate) use agents::{Agent, AgentError, AgentMode, DEFAULT_AGENT};
pub(crate) use commands::{CommandError, CustomCommand, FaultyCommand, StrangeCommand};
pub(crate) use defaults::{GUARDED, PERSONS};
pub(crate) use discover::{Directory, directories, persons};
pub(crate) use error::{ConfigError, Located};
pub(crate) use node::Node;
pub(crate) use permission::{permission_file, permission_rules, plain_rules};
pub(crate) use read::{Unread, read_bounded};
pub(crate) use rules::Standing;
pub(crate) use settings::{LanguageWords, NamedPlugin};
pub(crate) use settled::unsettled;

use crate::paths::{Env, Paths};
use crate::trusted::Trusted;
use discover::{Content, Source};
use permission::{Collector, Voice};
use rules::SourceRules;
use settings::AskedFor;
use text::{PutIn, References, Text};
use warning::Warnings;

/// So many plugins are told that are named where nobody trusts it.
const STRANGE_PLUGINS_MAX: usize = 100;

/// The configuration of one working directory.
#[derive(Debug)]
pub(crate) struct Config {
    sources: Vec<ReadSource>,
    rules: Vec<SourceRules>,
    reasons: Vec<(Origin, String)>,
    merged: Node,
    warnings: Vec<Located>,
    asked_for: AskedFor,
    data: PathBuf,
    put_in: Vec<PutIn>,
    strange_plugins: Vec<NamedPlugin>,
    strange_commands: Vec<StrangeCommand>,
    faulty_commands: Vec<FaultyCommand>,
}

/// What a plugin says in place of a file.
pub(crate) struct PluginWords {
    /// What it is called in messages.
    pub(crate) name: String,
    /// A document.
    pub(crate) text: String,
}

/// A source that was found and read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadSource {
    /// The file or the variable.
    pub(crate) name: String,
    /// The file, if it is one.
    pub(crate) path: Option<PathBuf>,
    /// Whose word it is.
    pub(crate) layer: Layer,
    /// Whether its word counts in full.
    pub(crate) standing: Standing,
}

impl Config {
    /// Reads all sources for a working directory, which lies in a git worktree or in none. Links in both are resolved.
    pub(crate) fn load(
        env: &Env,
        paths: &Paths,
        cwd: &Path,
        worktree: Option<&Path>,
        trusted: &Trusted,
    ) -> Result<Config, ConfigError> {
        Config::load_with(env, paths, cwd, worktree, trusted, &[])
    }

    /// The same, with what plugins say. It comes after every file and before the environment.
    pub(crate) fn load_with(
        env: &Env,
        paths: &Paths,
        cwd: &Path,
        worktree: Option<&Path>,
        trusted: &Trusted,
        words: &[PluginWords],
    ) -> Result<Config, ConfigError> {
        let root = worktree.unwrap_or(cwd);
        let mut sources = discover::sources(env, paths, cwd, root)?;
        let files = sources.iter().take_while(|source| !source.is_variable()).count();
        sources.splice(files..files, words.iter().map(Source::of_plugin));
        Config::load_from(env, paths, cwd, root, trusted, sources)
    }

    /// What the person says, without a word of the project.
    pub(crate) fn load_persons(
        env: &Env,
        paths: &Paths,
        cwd: &Path,
        worktree: Option<&Path>,
    ) -> Result<Config, ConfigError> {
        let root = worktree.unwrap_or(cwd);
        let mut sources = discover::sources(env, paths, cwd, root)?;
        sources.retain(|source| source.layer != Layer::Project);
        Config::load_from(env, paths, cwd, root, &Trusted::default(), sources)
    }

    fn load_from(
        env: &Env,
        paths: &Paths,
        cwd: &Path,
        root: &Path,
        trusted: &Trusted,
        sources: Vec<Source>,
    ) -> Result<Config, ConfigError> {
        let empty = Text::new("no configuration", "")?;
        let mut loading = Loading {
            env,
            home: paths.home.as_deref(),
            cwd,
            root,
            collector: Collector::new(paths.home.as_deref()),
            config: Config {
                sources: Vec::new(),
                rules: Vec::new(),
                reasons: Vec::new(),
                merged: parse::parse(&empty)?,
                warnings: Vec::new(),
                asked_for: AskedFor::by(env),
                data: paths.data.clone(),
                put_in: Vec::new(),
                strange_plugins: Vec::new(),
                strange_commands: Vec::new(),
                faulty_commands: Vec::new(),
            },
        };
        for (level, source) in discover::around(env, paths, cwd, &around::levels(root, trusted)) {
            loading.around(source, &level)?;
        }
        for source in sources {
            let level = source.level.as_deref().unwrap_or(root);
            let standing = match source.layer {
                Layer::Project if !trusted.holds(level) => Standing::Narrowing,
                _ => Standing::Full,
            };
            loading.source(source, standing)?;
        }
        let Loading { collector, mut config, .. } = loading;
        let mut warnings = Warnings::default();
        idle::warn(&config.merged, &mut warnings);
        config.warnings.extend(warnings.into_list());
        Ok(Config { reasons: collector.reasons, ..config })
    }

    /// The rules that an agent works under. Those of the session win.
    pub(crate) fn ruleset(&self, agent: &str, session: Vec<Rule>) -> Result<Ruleset, AgentError> {
        agents::check(agent, &self.merged, &self.rules)?;
        Ok(rules::join(&self.rules, agent, &self.data, session))
    }

    /// The names of the agents that may work, sorted, without those that haft keeps to itself.
    pub(crate) fn agent_names(&self) -> BTreeSet<String> {
        agents::names(&self.merged)
    }

    /// An agent that may work.
    pub(crate) fn agent(&self, name: &str) -> Result<Agent, AgentError> {
        agents::check(name, &self.merged, &self.rules)?;
        Ok(agents::read(name, &self.merged))
    }

    /// The agents that may work, sorted by name, those that haft keeps to itself among them.
    pub(crate) fn agents(&self) -> Vec<Agent> {
        agents::known(&self.merged).iter().map(|name| agents::read(name, &self.merged)).collect()
    }

    /// What stands under a key at the top, merged. Rules are not part of it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.merged.get(key)
    }

    /// Everything that is merged, without rules.
    pub(crate) fn document(&self) -> serde_json::Value {
        self.merged.json()
    }

    /// Why a rule was written, if its author said so.
    pub(crate) fn why(&self, origin: &Origin) -> Option<&str> {
        self.reasons.iter().find(|(rule, _)| rule == origin).map(|(_, why)| why.as_str())
    }

    /// A text that speaks of what is configured, with what was put in for `{env:X}` and `{file:p}` as it was written.
    pub(crate) fn as_written(&self, text: &str) -> String {
        text::as_written(&self.put_in, text)
    }

    /// The same without the secrets that were written into a command or an address.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        command_without_secrets(&self.as_written(text))
    }

    /// The same for all texts in a document.
    pub(crate) fn document_as_written(&self, document: Value) -> Value {
        match document {
            Value::String(text) => self.as_written(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.document_as_written(item)).collect(),
            Value::Object(fields) => {
                let written = |(name, value): (String, Value)| {
                    (self.as_written(&name), self.document_as_written(value))
                };
                fields.into_iter().map(written).collect()
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }

    /// What was read, in order.
    pub(crate) fn sources(&self) -> &[ReadSource] {
        &self.sources
    }

    /// What is probably a mistake.
    pub(crate) fn warnings(&self) -> &[Located] {
        &self.warnings
    }
}

/// Whether an agent is one of those that haft brings along.
pub(crate) fn is_shipped(agent: &str) -> bool {
    shipped::agent(agent).is_some()
}

/// The directories of a project that bring configuration of their own, which somebody would have to trust.
pub(crate) fn levels_with_files(
    env: &Env,
    paths: &Paths,
    cwd: &Path,
    worktree: Option<&Path>,
) -> Result<BTreeSet<PathBuf>, ConfigError> {
    let sources = discover::sources(env, paths, cwd, worktree.unwrap_or(cwd))?;
    let are_there = sources.into_iter().filter(|source| source.path().is_some_and(Path::exists));
    Ok(are_there.filter_map(|source| source.level).collect())
}

struct Loading<'a> {
    env: &'a Env,
    home: Option<&'a Path>,
    cwd: &'a Path,
    root: &'a Path,
    collector: Collector<'a>,
    config: Config,
}

impl Loading<'_> {
    fn source(&mut self, source: Source, standing: Standing) -> Result<(), ConfigError> {
        let command = source.command().map(str::to_owned);
        match (self.taken(source, standing), command) {
            // Commands hold no rules, so that nothing is lost but the command.
            (Err(error), Some(name)) => {
                self.config.leave_out(name, &error, standing);
                Ok(())
            }
            (taken, _) => taken,
        }
    }

    fn taken(&mut self, source: Source, standing: Standing) -> Result<(), ConfigError> {
        if standing == Standing::Narrowing {
            self.check_inside(&source)?;
        }
        let Some(text) = source.text()? else { return Ok(()) };
        let mut warnings = Warnings::default();
        let voice = Voice { family: source.family, layer: source.layer };
        let rules = match &source.content {
            Content::Rules(_) => {
                let value = parse::parse(&text)?;
                let rules = self.collector.permission(&value.span, &value, voice, &mut warnings)?;
                SourceRules::alone(standing, rules)
            }
            Content::Plugin(_) => {
                let mut root = parse::parse(&text)?;
                self.config.complete_commands(&mut root);
                schema::check(&root, source.family, &mut warnings)?;
                // Code is no person: its rules only ever narrow.
                let (narrowing, collector) = (Standing::Narrowing, &mut self.collector);
                let rules = SourceRules::take(&mut root, narrowing, collector, voice, &mut warnings)?;
                merge::merge(&mut self.config.merged, root);
                rules
            }
            Content::File(_) | Content::Named { .. } | Content::Inline(_) | Content::Markdown(_) => {
                let mut root = match (&source.content, standing) {
                    (Content::Markdown(file), _) => markdown::parse(&text, file)?,
                    (_, Standing::Full | Standing::Around) => {
                        parse::parse(&self.expand(text, &source, &mut warnings)?)?
                    }
                    (_, Standing::Narrowing) => parse::parse(&text)?,
                };
                self.config.leave_out_faulty(&mut root, source.family, standing);
                schema::check(&root, source.family, &mut warnings)?;
                let rules =
                    SourceRules::take(&mut root, standing, &mut self.collector, voice, &mut warnings)?;
                match standing {
                    Standing::Full => merge::merge(&mut self.config.merged, root),
                    Standing::Narrowing => self.take_note_of(&root),
                    Standing::Around => {}
                }
                rules
            }
        };
        self.config.rules.push(rules);
        self.config.warnings.extend(warnings.into_list());
        let path = source.path().map(Path::to_path_buf);
        self.config.sources.push(ReadSource { name: source.name, path, layer: source.layer, standing });
        Ok(())
    }

    /// Takes what stands in a trusted directory around the project.
    fn around(&mut self, source: Source, level: &Path) -> Result<(), ConfigError> {
        let before = self.config.rules.len();
        self.source(source, Standing::Around)?;
        let added =
            self.config.rules.drain(before..).map(|rules| rules.written_in(level)).collect::<Vec<_>>();
        self.config.rules.extend(added);
        Ok(())
    }

    /// A link out of a project that nobody trusts could lead to anything, and an error would quote it.
    fn check_inside(&self, source: &Source) -> Result<(), ConfigError> {
        // To follow a path takes as many questions as it has names; most are not there.
        match source.path().filter(|path| path.exists()).map(Path::canonicalize) {
            Some(Ok(real)) if !real.starts_with(self.root) => {
                Err(ConfigError::LeadsOutside { name: source.name.clone() })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What a source names that does not count is known, so that people can be told of it.
    fn take_note_of(&mut self, root: &Node) {
        self.config.take_note_of_commands(root);
        let known = &mut self.config.strange_plugins;
        let left = STRANGE_PLUGINS_MAX.saturating_sub(known.len());
        known.extend(settings::named_plugins(root).into_iter().take(left));
    }

    fn expand(
        &mut self,
        text: Arc<Text>,
        source: &Source,
        warnings: &mut Warnings,
    ) -> Result<Arc<Text>, ConfigError> {
        let base = source.path().and_then(Path::parent).unwrap_or(self.cwd);
        let text = text.expand(&References { env: self.env, base, home: self.home }, warnings)?;
        self.config.put_in.extend(text.put_in().cloned());
        Ok(text)
    }
}
