//! Custom tools and plugins of a location: where they are looked for, and what they get of this machine.

mod chat;
mod client;
mod commanding;
mod configuring;
mod credentials;
mod desk;
mod events;
mod faulty;
mod further_models;
mod host_program;
mod logins;
mod messages;
mod streams;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft::permission::Layer;
use haft::{Events, Registrar};
use haft_plugin::{Engine, Owner, Parts, Places, PluginLimits, Plugins, Spec};
use haft_tools::hosting::Hosting;
use serde_json::{Value, json};

use crate::config::{self, Directory, NamedPlugin, Standing};
use crate::setting::Setting;
pub(crate) use chat::ChatPlugins;
pub(crate) use client::{Client, Sessions};
pub(crate) use commanding::{Commanded, before_command};
pub(crate) use configuring::configured;
pub(crate) use credentials::Credentials;
use desk::CliDesk;
pub(crate) use events::{Telling, tell};
pub(crate) use faulty::{warn_of_faulty, why_missing};
pub(crate) use further_models::further_models;
pub(crate) use host_program::beside as host_beside;
pub(crate) use logins::{Logins, info};

/// Variables that leave all of them out.
const OFF: [&str; 2] = ["HAFT_NO_PLUGINS", "OPENCODE_PURE"];
/// An action that is haft's own besides those that are a person's. A tool of such a name would have it allowed along with
/// itself.
const OWN_ACTION: &str = "doom_loop";
/// Where opencode's server would be; there is none.
const SERVER: &str = "http://localhost:4096/";

/// Those who answer what plugins ask for.
pub(crate) struct Answering {
    /// What of opencode's client there is.
    pub(crate) client: Arc<Client>,
    /// What was got by logging in.
    pub(crate) credentials: Arc<Credentials>,
}

/// The plugins of a location, or none where somebody wants none.
pub(crate) fn of(
    setting: &Setting,
    hosting: Hosting,
    registrar: Registrar,
    events: &Events,
    answering: Answering,
) -> Plugins {
    let words = setting.config.plugin_words();
    let limits = PluginLimits::default();
    let seconds = |given: Option<u64>, otherwise| given.map_or(otherwise, Duration::from_secs);
    let gate = hosting.gate.clone();
    let desk = CliDesk::new(hosting, setting.terminal, events.clone(), answering, words.memory_bytes);
    Plugins::new(Parts {
        desk: Arc::new(desk),
        registrar,
        gate,
        action_of: haft_tools::action_of,
        reserved: config::PERSONS.into_iter().chain([OWN_ACTION]).collect(),
        places: if is_off(setting) { Places::default() } else { places(setting) },
        engines: words.engines,
        limits: PluginLimits {
            call: seconds(words.seconds, limits.call),
            busy: seconds(words.busy_seconds, limits.busy),
            ..limits
        },
        directory: setting.directory.clone(),
        worktree: setting.project().clone(),
        input: input(setting),
        cache: Some(setting.paths.manifests()),
    })
}

/// Whether nobody wants any.
pub(crate) fn is_off(setting: &Setting) -> bool {
    setting.pure || OFF.iter().any(|variable| setting.env.is_on(variable))
}

/// Whether there are files with code here at all. Nothing is run to find out.
pub(crate) fn are_there(setting: &Setting) -> bool {
    !is_off(setting) && !places(setting).find().0.is_empty()
}

/// Where files with code may be.
fn places(setting: &Setting) -> Places {
    let projects = |is_trusted: bool| if is_trusted { Owner::Project } else { Owner::Stranger };
    let of_level =
        |level: Option<PathBuf>| level.map_or(Owner::Person, |level| projects(setting.trusted.holds(&level)));
    let directories =
        config::directories(&setting.env, &setting.paths, &setting.directory, setting.project());
    let directories: Vec<(PathBuf, Owner)> =
        directories.into_iter().map(|directory| (directory.path, of_level(directory.level))).collect();
    let mut specs: Vec<Spec> = Vec::new();
    let spec = |named: NamedPlugin| {
        let source = setting.config.sources().iter().find(|source| source.name == named.source);
        let owner = match source {
            Some(source) if source.layer == Layer::Project => projects(source.standing == Standing::Full),
            Some(_) | None => Owner::Person,
        };
        let directory = source.and_then(|source| source.path.as_deref()).and_then(Path::parent);
        let directory = directory.unwrap_or(&setting.directory).to_owned();
        Spec { name: expanded(setting, &named.name), options: named.options, directory, owner }
    };
    for named in setting.config.plugin_specs() {
        let spec = spec(named);
        // A package that is named again is the one that was named last.
        specs.retain(|known| known.name != spec.name);
        specs.push(spec);
    }
    specs.sort_by_key(|spec| spec.owner != Owner::Person);
    // Last, since they take the place of nothing.
    let strange = setting.config.strange_plugins().iter().cloned();
    specs.extend(strange.map(|named| Spec { owner: Owner::Stranger, ..spec(named) }));
    let project = Some((setting.project().clone(), projects(setting.is_trusted())));
    Places { directories, specs, project }
}

fn expanded(setting: &Setting, name: &str) -> String {
    match (name.strip_prefix("~/"), setting.env.home()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => name.to_owned(),
    }
}

/// The directories of a project that bring code of their own, which somebody would have to trust.
pub(crate) fn levels_with_code(directories: Vec<Directory>) -> BTreeSet<PathBuf> {
    let brings_code = |path: PathBuf| {
        let places = Places { directories: vec![(path, Owner::Stranger)], ..Places::default() };
        !places.find().0.is_empty()
    };
    let bringing = |Directory { path, level }: Directory| level.filter(|_| brings_code(path));
    directories.into_iter().filter_map(bringing).collect()
}

/// What a plugin is told about where it is.
fn input(setting: &Setting) -> Value {
    json!({
        "directory": setting.directory,
        "worktree": setting.project(),
        "serverUrl": SERVER,
        "project": project(setting),
    })
}

/// The project as plugins know it.
fn project(setting: &Setting) -> Value {
    let mut project =
        json!({ "id": project_id(setting), "worktree": setting.project(), "time": { "created": 0 } });
    if setting.worktree.is_some() {
        project["vcs"] = "git".into();
    }
    project
}

fn project_id(setting: &Setting) -> String {
    let worktree = setting.worktree.as_ref();
    worktree.map_or("global".to_owned(), |root| blake3_hex(root.to_string_lossy().as_bytes()))
}

fn blake3_hex(bytes: &[u8]) -> String {
    haft_tools::workspace::Digest::of(bytes).to_string()
}

/// What the configuration says about an engine by its name.
pub(crate) fn engine(name: &str) -> Option<Engine> {
    match name {
        "embedded" => Some(Engine::Embedded),
        "bun" => Some(Engine::Bun),
        "node" => Some(Engine::Node),
        _ => None,
    }
}
