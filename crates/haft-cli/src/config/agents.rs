//! Who works: the agents that haft ships and those that the configuration adds.

use std::collections::BTreeSet;

use super::defaults;
use super::error::shown;
use super::node::Node;
use super::rules::{AGENT_KEYS, SourceRules, Standing};

/// The agent that works when nobody names one.
pub(crate) const DEFAULT_AGENT: &str = "build";

/// Why an agent cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AgentError {
    /// Nobody has described such an agent.
    #[error("unknown agent \"{name}\"; known are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Only the project describes it, and nobody has trusted that.
    #[error("the agent \"{name}\" is the project's, which is not trusted (haft trust); known are {known}")]
    Untrusted {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The configuration switched it off.
    #[error("the agent \"{name}\" is disabled at {place}; known are {known}")]
    Disabled {
        /// The name.
        name: String,
        /// Where.
        place: String,
        /// Those that there are.
        known: String,
    },
}

/// The agents that may work, sorted.
pub(crate) fn known(merged: &Node) -> BTreeSet<String> {
    let configured = AGENT_KEYS.iter().filter_map(|key| merged.get(key)).flat_map(Node::entries);
    let names = defaults::agents().map(str::to_owned).chain(configured.map(|entry| entry.key.clone()));
    names.filter(|name| disabled(merged, name).is_none()).collect()
}

/// Checks that an agent may work.
pub(crate) fn check(name: &str, merged: &Node, sources: &[SourceRules]) -> Result<(), AgentError> {
    let known = known(merged);
    if known.contains(name) {
        return Ok(());
    }
    let listed = known.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    let (name, known) = (name.to_owned(), listed);
    if let Some(switch) = disabled(merged, &name) {
        let place = format!("{}:{}:{}", switch.span.name(), switch.span.line, switch.span.column);
        return Err(AgentError::Disabled { name: shown(&name), place, known });
    }
    let narrowing = sources.iter().filter(|source| source.standing() == Standing::Narrowing);
    let is_projects = narrowing.flat_map(SourceRules::agents).any(|agent| agent == name);
    let name = shown(&name);
    match is_projects {
        true => Err(AgentError::Untrusted { name, known }),
        false => Err(AgentError::Unknown { name, known }),
    }
}

/// The switch that disables an agent.
fn disabled<'a>(merged: &'a Node, name: &str) -> Option<&'a Node> {
    let switch = |key: &&str| merged.get(key)?.get(name)?.get("disable");
    AGENT_KEYS.iter().rev().find_map(switch).filter(|switch| switch.as_bool() == Some(true))
}
