//! The configuration as a whole, in a world of temporary directories.

mod agents;
mod commands;
mod errors;
mod narrowing;
mod order;
mod providers;
mod rules;
mod settings;

use std::path::{Path, PathBuf};

use haft::Action;
use haft::permission::{Effect, Layer, Resource};

use super::{Config, ConfigError};
use crate::paths::{Env, Paths, project_root};
use crate::trusted::Trusted;

/// A home directory, a repository and an environment.
struct World {
    temp: tempfile::TempDir,
    variables: Vec<(String, String)>,
    cwd: PathBuf,
}

impl World {
    fn new() -> World {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for directory in ["home", "repo/.git", "repo/sub"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        let home = root.join("home").to_str().unwrap().to_owned();
        World { temp, variables: vec![("HOME".to_owned(), home)], cwd: root.join("repo/sub") }
    }

    /// A world with one file.
    fn with(path: &str, text: &str) -> World {
        World::new().file(path, text)
    }

    fn file(self, path: &str, text: impl AsRef<[u8]>) -> World {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn variable(mut self, name: &str, value: &str) -> World {
        self.variables.push((name.to_owned(), value.replace("{world}", &self.root())));
        self
    }

    fn in_directory(mut self, path: &str) -> World {
        self.cwd = self.path(path);
        std::fs::create_dir_all(&self.cwd).unwrap();
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        Path::new(&self.root()).join(path)
    }

    fn root(&self) -> String {
        self.temp.path().canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    fn env(&self) -> Env {
        self.variables.iter().cloned().collect()
    }

    fn load(&self, trusted: bool) -> Result<Config, ConfigError> {
        let env = self.env();
        let paths = Paths::from_env(&env).unwrap();
        let trusted = Trusted::new(trusted, Vec::new());
        Config::load(&env, &paths, &self.cwd, project_root(&self.cwd).as_deref(), &trusted)
    }

    fn trusted(&self) -> Config {
        self.load(true).unwrap_or_else(|error| panic!("{error}"))
    }

    fn untrusted(&self) -> Config {
        self.load(false).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A text without the path of this world.
    fn local(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root()), "")
    }

    /// The error, its causes, and the warnings before it.
    fn complaint(&self) -> String {
        match self.load(true) {
            Ok(config) => {
                let faults = config.faulty_commands().iter().map(|faulty| faulty.fault.clone());
                let warnings: Vec<String> =
                    config.warnings().iter().map(ToString::to_string).chain(faults).collect();
                self.local(&warnings.join("\n"))
            }
            Err(error) => {
                let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
                self.local(&format!("{error}{}", source.unwrap_or_default()))
            }
        }
    }
}

/// The rules that the configuration holds for an agent, without those that are shipped.
fn configured(world: &World, config: &Config, agent: &str) -> Vec<String> {
    let rules = config.ruleset(agent, Vec::new()).unwrap();
    let written = rules.rules().filter(|rule| rule.origin.layer != Layer::Defaults);
    written.map(|rule| world.local(&format!("{}: {rule}", rule.origin))).collect()
}

fn effect(config: &Config, agent: &str, action: &str, resource: &str) -> Effect {
    let rules = config.ruleset(agent, Vec::new()).unwrap();
    rules.effect(&Action::new(action), &Resource::new(resource))
}
