//! Whom a turn is for, and which tools are shown to whom.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::id::AgentId;
use crate::permission::Ruleset;

/// The model of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Model {
    /// Who serves it, such as `anthropic`.
    pub provider: String,
    /// Its id with the provider.
    pub id: String,
}

/// Whom a turn is prepared for.
#[derive(Debug, Clone)]
pub struct TurnSpec {
    /// The agent.
    pub agent: AgentId,
    /// The agent's rules, all layers joined.
    pub rules: Arc<Ruleset>,
    /// What decides which tools are shown.
    pub audience: Audience,
    /// A number that grows whenever the configuration changes, so that tools are initialised again.
    pub configuration: u64,
}

/// Who is shown the tools.
#[derive(Debug, Clone)]
pub enum Audience {
    /// A person who names the tool: everything that is registered.
    Operator,
    /// A model: what its agent, provider, client and flags let it see.
    Model(Viewer),
}

/// A model that is shown tools, through a client.
#[derive(Debug, Clone, Default)]
pub struct Viewer {
    /// The model. Without one there is no model filter.
    pub model: Option<Model>,
    /// The program the person uses, such as `cli`.
    pub client: String,
    /// Features that were switched on, such as `lsp`.
    pub flags: BTreeSet<String>,
}

/// When a tool is shown to a model.
#[derive(Debug, Clone)]
pub enum When {
    /// Always.
    Always,
    /// Never; it can still be called by name.
    Never,
    /// To people who use one of these clients.
    Client(&'static [&'static str]),
    /// If a feature is switched on.
    Flag(&'static str),
    /// To models of these providers. It opens what would otherwise be closed, so unlike [`Model`](When::Model) it does
    /// not hold where nobody says which model there is.
    Provider(Vec<String>),
    /// To models that fit.
    Model(fn(&Model) -> bool),
    /// If all of these hold.
    All(Vec<When>),
    /// If one of these holds.
    Any(Vec<When>),
}

impl When {
    /// Whether a tool is shown.
    pub fn holds(&self, viewer: &Viewer) -> bool {
        let model = |fits: &dyn Fn(&Model) -> bool| viewer.model.as_ref().is_none_or(fits);
        match self {
            When::Always => true,
            When::Never => false,
            When::Client(clients) => clients.contains(&viewer.client.as_str()),
            When::Flag(flag) => viewer.flags.contains(*flag),
            When::Provider(providers) => {
                viewer.model.as_ref().is_some_and(|model| providers.contains(&model.provider))
            }
            When::Model(fits) => model(fits),
            When::All(conditions) => conditions.iter().all(|condition| condition.holds(viewer)),
            When::Any(conditions) => conditions.iter().any(|condition| condition.holds(viewer)),
        }
    }
}
