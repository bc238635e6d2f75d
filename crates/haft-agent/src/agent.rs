//! Who works, on what, and under which rules.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use haft::permission::{Effect, Layer, Origin, Policy, Rule, Ruleset};
use haft::{AgentId, BoxError, Model, SessionId, ToolContext};

use crate::provider::{ModelInfo, Options, Provider};

/// An agent: a model with a task of its own.
#[derive(Debug, Clone)]
pub struct AgentSpec {
    /// Its name.
    pub name: AgentId,
    /// What it is good for, for whoever gives it tasks.
    pub description: Option<String>,
    /// Who may have it work.
    pub mode: Mode,
    /// The model it wants, as `provider/model`.
    pub model: Option<String>,
    /// How its model is to answer.
    pub options: Options,
    /// Which of the model's variants is wanted.
    pub variant: Option<String>,
    /// How often its model may answer before it has to come to an end.
    pub steps: Option<u32>,
    /// Its rules, all layers joined.
    pub rules: Arc<Ruleset>,
}

/// Who may have an agent work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// People.
    Primary,
    /// Other agents.
    Subagent,
    /// Both.
    All,
}

/// Knows the agents.
pub trait Agents: Send + Sync {
    /// An agent by its name.
    fn agent(&self, name: &AgentId) -> Result<Arc<AgentSpec>, BoxError>;

    /// How an agent is to behave: its own prompt, the project's instructions, where it is.
    fn system(&self, agent: &AgentSpec, model: &Model) -> Vec<String>;
}

/// A model, and who serves it.
#[derive(Clone)]
pub struct Served {
    /// Who serves it.
    pub provider: Arc<dyn Provider>,
    /// The model.
    pub model: Model,
    /// What is known of it.
    pub info: ModelInfo,
}

impl Served {
    /// Its name, as `provider/model`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.model.provider, self.model.id)
    }
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// Knows the models.
pub trait Models: Send + Sync {
    /// A model by its name, `provider/model`; without one, the model that is used unless one is named.
    fn serve(&self, name: Option<&str>) -> Result<Served, BoxError>;
}

/// The rules of the sessions under way, and of the one session that a process is about. Nobody else may do anything.
/// Cloning is cheap.
#[derive(Clone)]
pub struct Policies(Arc<Shared>);

struct Shared {
    own: Own,
    nobody: Arc<Ruleset>,
    sessions: Mutex<HashMap<SessionId, Arc<Ruleset>>>,
}

/// The session that a process is about, which also makes calls where no conversation is held.
#[derive(Debug, Clone)]
pub struct Own {
    /// The session.
    pub session: SessionId,
    /// The agent in it.
    pub agent: AgentId,
    /// The agent's rules.
    pub rules: Arc<Ruleset>,
}

impl Policies {
    /// Rules for this session, until conversations bring theirs.
    pub fn new(own: Own) -> Policies {
        let origin = Origin::named(Layer::Defaults, "no rules are known for this session");
        let nobody = Arc::new(Ruleset::new([Rule::new("*", "*", Effect::Deny, origin)]));
        Policies(Arc::new(Shared { own, nobody, sessions: Mutex::default() }))
    }

    pub(crate) fn of(&self, session: &SessionId) -> Option<Arc<Ruleset>> {
        self.sessions().get(session).cloned()
    }

    pub(crate) fn set(&self, session: &SessionId, rules: Arc<Ruleset>) {
        self.sessions().insert(session.clone(), rules);
    }

    pub(crate) fn forget(&self, session: &SessionId) {
        self.sessions().remove(session);
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<Ruleset>>> {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Policy for Policies {
    fn rules(&self, context: &ToolContext) -> Arc<Ruleset> {
        let Shared { own, nobody, .. } = &*self.0;
        match self.of(&context.session) {
            Some(rules) => rules,
            None if (&own.session, &own.agent) == (&context.session, &context.agent) => own.rules.clone(),
            None => nobody.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use haft::{CallId, MessageId};

    use super::*;

    #[test]
    fn whoever_has_no_rules_may_do_nothing() {
        let allowing = || {
            let rule = Rule::new("*", "*", Effect::Allow, Origin::named(Layer::Global, "test"));
            Arc::new(Ruleset::new([rule]))
        };
        let agent = |name: &str| AgentId::parse(name).unwrap();
        let (own, other) = (SessionId::mint(), SessionId::mint());
        let policies = Policies::new(Own { session: own.clone(), agent: agent("build"), rules: allowing() });
        let may = |session: &SessionId, name: &str| {
            let (message, call) = (MessageId::mint(), CallId::mint());
            let context = ToolContext { session: session.clone(), agent: agent(name), message, call };
            let rules = Policy::rules(&policies, &context);
            Ruleset::rules(&rules).all(|rule| rule.effect == Effect::Allow)
        };
        assert!(may(&own, "build"));
        assert!(!may(&own, "other") && !may(&other, "build"));
        policies.set(&other, allowing());
        assert!(may(&other, "build"));
        policies.forget(&other);
        assert!(!may(&other, "build"));
    }
}
