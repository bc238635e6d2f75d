//! Scoped registration. The registry is one ordered list; the last entry for a name wins.
//!
//! That the latest registration wins, that closing one removes only its own tools, and that closing the winner reveals
//! the one before, all follow from the list: push, retain, and search from the end.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::BoxFuture;
use crate::audience::{Model, TurnSpec, When};
use crate::catch::caught;
use crate::error::BoxError;
use crate::id::AgentId;
use crate::name::{Action, InvalidName, ToolName};
use crate::permission::Ruleset;
use crate::sync::{Mutex, lock};
use crate::tool::Tool;

/// An ordered list of registrations: the process's own, or a location's on top of it.
#[derive(Clone)]
pub struct Registry {
    entries: Arc<Mutex<Vec<Arc<Entry>>>>,
    below: Option<Box<Registry>>,
}

/// What is registered under a name.
#[derive(Clone)]
pub struct Offer {
    source: Source,
    action: Option<Action>,
    when: When,
}

impl Offer {
    /// Offers a tool, always, under an action of its own name.
    pub fn new(source: impl Into<Source>) -> Offer {
        Offer { source: source.into(), action: None, when: When::Always }
    }

    /// Files the tool under another action than its name. Only what is advertised depends on it.
    pub fn under(mut self, action: Action) -> Offer {
        self.action = Some(action);
        self
    }

    /// Shows the tool only under a condition.
    pub fn when(mut self, when: When) -> Offer {
        self.when = when;
        self
    }
}

impl<S: Into<Source>> From<S> for Offer {
    fn from(source: S) -> Offer {
        Offer::new(source)
    }
}

/// Where a tool comes from.
#[derive(Clone)]
pub enum Source {
    /// It is there.
    Tool(Tool),
    /// It is made for an agent when that agent first needs it.
    Init(Factory),
}

impl From<Tool> for Source {
    fn from(tool: Tool) -> Source {
        Source::Tool(tool)
    }
}

impl From<Factory> for Source {
    fn from(factory: Factory) -> Source {
        Source::Init(factory)
    }
}

/// For whom a tool is made.
#[derive(Debug, Clone)]
pub struct InitContext {
    /// The agent.
    pub agent: AgentId,
    /// The agent's rules.
    pub rules: Arc<Ruleset>,
    /// The model, if there is one.
    pub model: Option<Model>,
}

/// Makes a tool for an agent.
pub type Factory = Arc<dyn Fn(InitContext) -> BoxFuture<'static, Result<Tool, BoxError>> + Send + Sync>;

/// Tools could not be registered. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A name stands twice in one registration.
    #[error("the tool name {0} stands twice in one registration")]
    Twice(ToolName),
}

/// Keeps tools registered. Dropping it removes exactly those, and reveals what they covered.
#[must_use = "dropping a registration removes its tools"]
pub struct Registration {
    entries: Arc<Mutex<Vec<Arc<Entry>>>>,
    id: RegistrationId,
}

/// The right to register in one registry, and nothing else: what a plugin is given.
#[derive(Clone)]
pub struct Registrar(Registry);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RegistrationId(u64);

/// What was advertised under a name: a registration, and for tools that are made for an agent which making of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    registration: RegistrationId,
    made: Option<(Audience, u64)>,
}

/// For whom a tool was made.
type Audience = (AgentId, Option<Model>);

pub(crate) struct Entry {
    id: RegistrationId,
    name: ToolName,
    action: Action,
    when: When,
    source: Source,
    made: Mutex<BTreeMap<Audience, Made>>,
}

/// A tool that was made for an agent, under a configuration.
#[derive(Clone)]
struct Made {
    generation: u64,
    under: (u64, Arc<Ruleset>),
    tool: Tool,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Registry {
    /// The registry of a process.
    pub fn root() -> Registry {
        Registry { entries: Arc::default(), below: None }
    }

    /// The registry of a location: whatever is registered in it wins over this one.
    pub fn child(&self) -> Registry {
        Registry { entries: Arc::default(), below: Some(Box::new(self.clone())) }
    }

    /// Registers tools under their names, all or none of them.
    pub fn register<N, O>(
        &self,
        tools: impl IntoIterator<Item = (N, O)>,
    ) -> Result<Registration, RegisterError>
    where
        N: AsRef<str>,
        O: Into<Offer>,
    {
        let id = RegistrationId(NEXT.fetch_add(1, Ordering::Relaxed));
        let mut names = HashSet::new();
        let mut entries = Vec::new();
        for (name, offer) in tools {
            let name = ToolName::parse(name.as_ref())?;
            if !names.insert(name.clone()) {
                return Err(RegisterError::Twice(name));
            }
            entries.push(Arc::new(Entry::new(id, name, offer.into())));
        }
        lock(&self.entries).extend(entries);
        Ok(Registration { entries: self.entries.clone(), id })
    }

    /// The right to register here, and nothing else.
    pub fn registrar(&self) -> Registrar {
        Registrar(self.clone())
    }

    /// Every name that has a tool, in the order of registration. Nothing is filtered.
    pub fn ids(&self) -> Vec<ToolName> {
        self.effective().iter().map(|entry| entry.name.clone()).collect()
    }

    /// Everything that is in force, in the order of registration. Nothing is filtered.
    pub fn all(&self) -> Vec<(ToolName, Offer)> {
        self.effective().iter().map(|entry| (entry.name.clone(), entry.offer())).collect()
    }

    /// What is in force under a name.
    pub fn get(&self, name: &str) -> Option<Offer> {
        self.find(name).map(|entry| entry.offer())
    }

    /// The entries that are in force, in the order of registration, the process's before the location's.
    pub(crate) fn effective(&self) -> Vec<Arc<Entry>> {
        let mut all = self.below.as_ref().map(|below| below.effective()).unwrap_or_default();
        all.extend(lock(&self.entries).iter().cloned());
        let mut seen = HashSet::with_capacity(all.len());
        let mut winners: Vec<_> =
            all.into_iter().rev().filter(|entry| seen.insert(entry.name.clone())).collect();
        winners.reverse();
        winners
    }

    /// The entry in force for a name.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Entry>> {
        let own = lock(&self.entries).iter().rev().find(|entry| entry.name.as_str() == name).cloned();
        own.or_else(|| self.below.as_ref().and_then(|below| below.find(name)))
    }
}

impl Registrar {
    /// Registers tools under their names, all or none of them.
    pub fn register<N, O>(
        &self,
        tools: impl IntoIterator<Item = (N, O)>,
    ) -> Result<Registration, RegisterError>
    where
        N: AsRef<str>,
        O: Into<Offer>,
    {
        self.0.register(tools)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // What is removed goes after the lock, because a tool may use the registry while it is dropped.
        let removed: Vec<_> = lock(&self.entries).extract_if(.., |entry| entry.id == self.id).collect();
        drop(removed);
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registration({})", self.id.0)
    }
}

impl Entry {
    fn new(id: RegistrationId, name: ToolName, offer: Offer) -> Entry {
        let Offer { source, action, when } = offer;
        let action = action.unwrap_or_else(|| Action::from(&name));
        Entry { id, name, action, when, source, made: Mutex::default() }
    }

    fn offer(&self) -> Offer {
        Offer { source: self.source.clone(), action: Some(self.action.clone()), when: self.when.clone() }
    }

    pub(crate) fn name(&self) -> &ToolName {
        &self.name
    }

    pub(crate) fn action(&self) -> &Action {
        &self.action
    }

    pub(crate) fn when(&self) -> &When {
        &self.when
    }

    /// The tool as it is for an agent, made now if it has to be, with the identity to advertise.
    pub(crate) async fn tool_for(&self, spec: &TurnSpec) -> Result<(Identity, Tool), BoxError> {
        let factory = match &self.source {
            Source::Tool(tool) => return Ok((self.identity(None), tool.clone())),
            Source::Init(factory) => factory,
        };
        let audience = (spec.agent.clone(), spec.model().cloned());
        let is_current = |made: &Made| made.under.0 == spec.configuration && made.under.1 == spec.rules;
        if let Some(made) = lock(&self.made).get(&audience).filter(|made| is_current(made)) {
            return Ok((self.identity(Some((audience, made.generation))), made.tool.clone()));
        }
        let context = InitContext {
            agent: spec.agent.clone(),
            rules: spec.rules.clone(),
            model: spec.model().cloned(),
        };
        let tool = caught(|| factory(context)).await??;

        let mut all = lock(&self.made);
        let made = match all.get(&audience) {
            // Another turn made it meanwhile; both advertise the same one.
            Some(made) if is_current(made) => made.clone(),
            _ => {
                let generation = NEXT.fetch_add(1, Ordering::Relaxed);
                let made = Made { generation, under: (spec.configuration, spec.rules.clone()), tool };
                all.insert(audience.clone(), made.clone());
                made
            }
        };
        Ok((self.identity(Some((audience, made.generation))), made.tool))
    }

    /// The tool that was advertised, if it is still the one in force.
    pub(crate) fn tool_if(&self, advertised: &Identity) -> Option<Tool> {
        if advertised.registration != self.id {
            return None;
        }
        match (&self.source, &advertised.made) {
            (Source::Tool(tool), _) => Some(tool.clone()),
            (Source::Init(_), Some((audience, generation))) => {
                let all = lock(&self.made);
                all.get(audience).filter(|made| made.generation == *generation).map(|made| made.tool.clone())
            }
            (Source::Init(_), None) => None,
        }
    }

    fn identity(&self, made: Option<(Audience, u64)>) -> Identity {
        Identity { registration: self.id, made }
    }
}
