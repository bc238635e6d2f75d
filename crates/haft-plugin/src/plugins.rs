//! The files of a location, kept as they are on disk: found, loaded, registered, and again whenever one has changed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::permission::Gate;
use haft::{Action, Registrar, ToolName};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::desk::{Desk, Engine};
use crate::discovery::{CodeFile, Owner, Places, Role, Unfound};
use crate::error::Fault;
use crate::manifest::{Content, Failed, Kept};
use crate::offers::{self, Registering};
use crate::report::{Outcome, Report, Unused};
use crate::served::{House, PluginLimits, Served};
use crate::source_place::Source;
use crate::words::Skipped;

/// So many files are loaded at once.
const LOADING_MAX: usize = 4;
/// So many hosts stay after their files were loaded, for what is called next.
const HOSTS_KEPT: usize = 4;

/// What plugins need of a location.
pub struct Parts {
    /// Starts hosts, and answers them.
    pub desk: Arc<dyn Desk>,
    /// Where tools are registered, and nothing else.
    pub registrar: Registrar,
    /// Decides about every call.
    pub gate: Gate,
    /// The action that rules about a tool of some name are filed under.
    pub action_of: fn(&str) -> Action,
    /// Names that no tool may have.
    pub reserved: Vec<&'static str>,
    /// Where to look for files.
    pub places: Places,
    /// Which engine runs which file, for those that are not run by the first that can; the last match counts.
    pub engines: Vec<(String, Engine)>,
    /// How far they may go.
    pub limits: PluginLimits,
    /// The directory that is worked in.
    pub directory: PathBuf,
    /// The root of the project.
    pub worktree: PathBuf,
    /// What a plugin is told about where it is.
    pub input: Value,
    /// Where what files offer is kept.
    pub cache: Option<PathBuf>,
}

/// The custom tools and plugins of a location. Cloning is cheap.
#[derive(Clone)]
pub struct Plugins(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    parts: Parts,
    house: Arc<House>,
    state: Mutex<State>,
    /// Whether the next refresh loads again what failed.
    tries_again: AtomicBool,
    /// One refresh at a time.
    refreshing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    unfound: Vec<Unfound>,
}

/// A file, and what became of it.
#[derive(Clone)]
struct Entry {
    file: CodeFile,
    fate: Fate,
}

#[derive(Clone)]
enum Fate {
    Served {
        served: Arc<Served>,
        faults: Vec<Fault>,
    },
    /// It could not be loaded, as it was then.
    Faulty {
        fault: Fault,
        content: Option<Content>,
    },
    Untrusted,
}

impl Plugins {
    /// Plugins of a location. Nothing is looked for until [`Plugins::refresh`].
    pub fn new(parts: Parts) -> Plugins {
        let house = Arc::new(House {
            desk: parts.desk.clone(),
            limits: parts.limits,
            input: parts.input.clone(),
            directory: parts.directory.clone(),
            worktree: parts.worktree.clone(),
        });
        Plugins(Arc::new(Inner {
            parts,
            house,
            state: Mutex::default(),
            tries_again: AtomicBool::new(false),
            refreshing: tokio::sync::Mutex::default(),
        }))
    }

    /// Has the next refresh load again what failed, though it has not changed since.
    pub fn try_again(&self) {
        self.0.tries_again.store(true, Ordering::Relaxed);
    }

    /// Makes what is registered agree with the files as they are now. What has not changed is left alone.
    pub async fn refresh(&self) {
        let _alone = self.0.refreshing.lock().await;
        let (files, unfound) = self.0.parts.places.find();
        let known = self.0.state().entries.clone();
        if known.is_empty() && files.is_empty() {
            self.0.state().unfound = unfound;
            return;
        }
        let again = self.0.tries_again.swap(false, Ordering::Relaxed);
        let mut kept: Option<Kept> = None;
        let mut entries: Vec<Entry> = Vec::new();
        let mut loading = Vec::new();
        for file in files {
            let wanted = self.0.engine_for(&file.path);
            let before = known.iter().find(|entry| entry.file == file).filter(|entry| entry.is_current());
            let before = before.filter(|entry| !again || entry.served().is_some());
            let tried_with = self.0.tried_with(wanted);
            let fate = match before {
                _ if file.owner == Owner::Stranger => Fate::Untrusted,
                Some(entry) => entry.fate.clone(),
                None => {
                    let kept = kept.get_or_insert_with(|| self.0.kept());
                    let failed = kept.recall_failure(&file, &tried_with).filter(|_| !again);
                    match (kept.recall(&file, wanted), failed) {
                        (Some(manifest), _) => {
                            let served = Served::recalled(&self.0.house, file.clone(), manifest.clone());
                            Fate::Served { served, faults: Vec::new() }
                        }
                        (None, Some(Failed { fault, content, .. })) => {
                            Fate::Faulty { fault: fault.clone(), content: Some(content.clone()) }
                        }
                        (None, None) => {
                            loading.push((entries.len(), wanted));
                            Fate::Faulty { fault: Fault::new("it could not be loaded"), content: None }
                        }
                    }
                }
            };
            entries.push(Entry { file, fate });
        }
        let learnt = !loading.is_empty();
        self.0.load_all(&mut entries, loading).await;
        self.0.register(&known, &mut entries);
        if let (Some(mut kept), Some(place), true) = (kept, self.0.kept_at(), learnt) {
            kept.keep(
                entries.iter().filter_map(Entry::served).map(|served| (&served.file, &served.manifest)),
            );
            kept.keep_failures(entries.iter().map(|entry| (&entry.file, self.0.failed(entry))));
            // The next start finds out again what is not kept.
            let _unkept = kept.write(&place);
        }
        *self.0.state() = State { entries, unfound };
    }

    /// Has the process start that would serve a tool which is about to be called, if it is one of theirs, and end with
    /// that call: there must be no other. Nothing of its file is run before that. Says whether it is one of theirs.
    pub fn expect_one_call(&self, tool: &str) -> bool {
        let offers = |served: &&Arc<Served>| {
            let names = offers::names(&served.file, &served.manifest.loaded);
            names.iter().flatten().any(|name| name.as_str() == tool)
        };
        // Of several files with a tool of this name, the last one's counts. A tool of somebody else may still cover it, and
        // the call may come to nothing: then the process has started for nothing, and has run nothing.
        let served = self.0.state().entries.iter().rev().filter_map(Entry::served).find(offers).cloned();
        served.inspect(|served| served.expect_one_call()).is_some()
    }

    /// What became of each file.
    pub fn reports(&self) -> Vec<Report> {
        let state = self.0.state();
        let served = state.entries.iter().map(Entry::report);
        let unfound = state.unfound.iter().map(|Unfound { spec, fault }| Report {
            source: PathBuf::from(&spec.name),
            role: Role::Plugin,
            outcome: Outcome::Faulty(fault.clone()),
        });
        served.chain(unfound).collect()
    }

    /// Lets code end what it was told to stop, for a moment. Call this when the calls have been dropped.
    pub async fn stopped(&self) {
        let mut stopping = JoinSet::new();
        for served in self.all_served() {
            stopping.spawn(async move { served.stopped().await });
        }
        while stopping.join_next().await.is_some() {}
    }

    /// Lets every host end.
    pub async fn close(&self) {
        let entries = std::mem::take(&mut self.0.state().entries);
        let mut closing = JoinSet::new();
        // All at once: one that takes its time leaves the others theirs.
        for served in entries.iter().filter_map(Entry::served) {
            let served = served.clone();
            closing.spawn(async move { served.close().await });
        }
        while closing.join_next().await.is_some() {}
    }

    /// The files that are served, in order.
    pub(crate) fn all_served(&self) -> Vec<Arc<Served>> {
        self.0.state().entries.iter().filter_map(Entry::served).cloned().collect()
    }

    /// The files that have a hook, in order.
    pub(crate) fn with_hook(&self, name: &str) -> Vec<Arc<Served>> {
        let state = self.0.state();
        state
            .entries
            .iter()
            .filter_map(Entry::served)
            .filter(|served| served.has_hook(name))
            .cloned()
            .collect()
    }
}

impl Entry {
    /// The file as it is served, if it is.
    fn served(&self) -> Option<&Arc<Served>> {
        match &self.fate {
            Fate::Served { served, .. } => Some(served),
            Fate::Faulty { .. } | Fate::Untrusted => None,
        }
    }

    fn serves(&self, other: &Arc<Served>) -> bool {
        self.served().is_some_and(|served| Arc::ptr_eq(served, other))
    }

    /// Whether nothing has to be done about it.
    fn is_current(&self) -> bool {
        match &self.fate {
            Fate::Served { served, .. } => served.is_current(),
            Fate::Faulty { content: Some(content), .. } => content.holds(),
            // It could not be read.
            Fate::Faulty { content: None, .. } => Content::of(&self.file.path).is_none(),
            Fate::Untrusted => true,
        }
    }

    fn report(&self) -> Report {
        let outcome = match &self.fate {
            Fate::Served { served, faults } => {
                let loaded = &served.manifest.loaded;
                let source = (!loaded.skipped.is_empty()).then(|| Source::read(&self.file.path));
                let skipped = loaded.skipped.iter().map(|Skipped { export, why, .. }| {
                    let place = source.as_ref().and_then(|source| source.export(export));
                    Unused { export: export.clone(), why: why.clone(), place }
                });
                Outcome::Served {
                    engine: served.manifest.engine,
                    tools: offers::names(&self.file, loaded)
                        .into_iter()
                        .flatten()
                        .map(|name| name.to_string())
                        .collect(),
                    hooks: loaded.hooks.clone(),
                    auth: loaded.auth.clone(),
                    models: loaded.models.clone(),
                    skipped: skipped.collect(),
                    faults: faults.clone(),
                }
            }
            Fate::Faulty { fault, .. } => Outcome::Faulty(fault.clone()),
            Fate::Untrusted => Outcome::Untrusted,
        };
        Report { source: self.file.path.clone(), role: self.file.role, outcome }
    }
}

async fn load(house: &Arc<House>, file: CodeFile, wanted: Option<Engine>) -> Fate {
    let content = Content::of(&file.path);
    match Served::load(house, file, wanted).await {
        Ok(served) => Fate::Served { served, faults: Vec::new() },
        Err(fault) => Fate::Faulty { fault, content },
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_at(&self) -> Option<PathBuf> {
        let directory = self.parts.cache.as_ref()?;
        let project = blake3::hash(self.parts.worktree.as_os_str().as_encoded_bytes()).to_hex();
        Some(directory.join(format!("{}.json", &project[..32])))
    }

    fn kept(&self) -> Kept {
        self.kept_at().map_or_else(|| Kept::read(Path::new("")), |place| Kept::read(&place))
    }

    /// What a file is loaded with, by which it is known whether loading it again could do better.
    fn tried_with(&self, wanted: Option<Engine>) -> String {
        let PluginLimits { load, busy, .. } = self.parts.limits;
        format!("{} {} {}", wanted.map_or("any", Engine::as_str), load.as_millis(), busy.as_millis())
    }

    /// What is kept of a file that failed, if that is.
    fn failed(&self, entry: &Entry) -> Option<Failed> {
        match &entry.fate {
            Fate::Faulty { fault, content: Some(content) } if fault.is_remembered => Some(Failed {
                fault: fault.clone(),
                content: content.clone(),
                tried_with: self.tried_with(self.engine_for(&entry.file.path)),
            }),
            Fate::Faulty { .. } | Fate::Served { .. } | Fate::Untrusted => None,
        }
    }

    /// The engine that is configured for a file.
    fn engine_for(&self, path: &Path) -> Option<Engine> {
        let text = path.to_string_lossy();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let matches = |pattern: &str| {
            let pattern = haft::permission::Pattern::new(pattern);
            pattern.matches(&text) || pattern.matches(&name)
        };
        self.parts.engines.iter().rev().find(|(pattern, _)| matches(pattern)).map(|(_, engine)| *engine)
    }

    /// Loads files, a few at once. Of those that only bring tools, most hosts rest as soon as it is known what they offer;
    /// those of plugins go on, since they may have begun something.
    async fn load_all(&self, entries: &mut [Entry], files: Vec<(usize, Option<Engine>)>) {
        let (mut waiting, mut loads) = (files.into_iter().enumerate(), JoinSet::new());
        loop {
            while loads.len() < LOADING_MAX
                && let Some((nth, (at, wanted))) = waiting.next()
            {
                let (house, file) = (self.house.clone(), entries[at].file.clone());
                loads.spawn(async move { (nth, at, load(&house, file, wanted).await) });
            }
            let Some(done) = loads.join_next().await else { return };
            // One that panicked stays what it was said to be.
            let Ok((nth, at, fate)) = done else { continue };
            entries[at].fate = fate;
            if let Some(served) =
                entries[at].served().filter(|served| nth >= HOSTS_KEPT && served.has_no_hooks())
            {
                served.rest().await;
            }
        }
    }

    /// Registers what is new. What comes later wins, so files that share a name with a new one that comes before them
    /// are registered again, after it.
    fn register(&self, known: &[Entry], entries: &mut [Entry]) {
        let remains = |served: &&Arc<Served>| entries.iter().any(|now| now.serves(served));
        known
            .iter()
            .filter_map(Entry::served)
            .filter(|served| !remains(served))
            .for_each(|gone| gone.unregister());
        let mut claimed: HashMap<ToolName, PathBuf> = HashMap::new();
        let mut renewed: HashSet<ToolName> = HashSet::new();
        for entry in entries.iter_mut() {
            let Fate::Served { served, faults } = &mut entry.fate else { continue };
            let names: Vec<ToolName> =
                offers::names(&served.file, &served.manifest.loaded).into_iter().flatten().collect();
            let is_new = !known.iter().any(|before| before.serves(served));
            if is_new || names.iter().any(|name| renewed.contains(name)) {
                served.unregister();
                let Parts { registrar, gate, action_of, reserved, .. } = &self.parts;
                *faults = offers::register(
                    served,
                    &Registering { registrar, gate, action_of: *action_of, reserved },
                );
                renewed.extend(names.iter().cloned());
            }
            for name in names {
                if let Some(before) = claimed.insert(name.clone(), served.file.path.clone()) {
                    let message = format!(
                        "the tool {name} is also in {}, which it takes the place of",
                        before.display()
                    );
                    let twice = Fault::new(message).fix("rename one of them");
                    if !faults.contains(&twice) {
                        faults.push(twice);
                    }
                }
            }
        }
    }
}
