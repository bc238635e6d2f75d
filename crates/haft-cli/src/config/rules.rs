//! The rules of all sources, kept apart until they are joined for one agent.
//!
//! The order is: shipped defaults, those of the agent, `tools` and then `permission` of every source, `tools` and then
//! `permission` of the agent in every source, the session's. Within each, later sources come later and win. What a
//! project says that nobody has trusted stands beside all that and can only narrow it, and so does what is said in a trusted
//! directory around the project.

use std::path::Path;

use haft::permission::{Layer, Rule, Ruleset};

use super::around;
use super::defaults;
use super::error::ConfigError;
use super::node::{Entry, Node};
use super::permission::{Collector, Voice};
use super::warning::Warnings;

/// Where agents are configured; the first is the old name.
pub(crate) const AGENT_KEYS: [&str; 2] = ["mode", "agent"];
const TOOLS: &str = "tools";
const PERMISSION: &str = "permission";
/// Where private hosts are granted.
const ALLOW_PRIVATE: [&str; 2] = ["webfetch", "allow_private"];

/// Whether the word of a source counts in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// In full.
    Full,
    /// Only where it is stricter: the directory it stands in is not trusted.
    Narrowing,
    /// The same, though it is trusted: it stands in a directory around the project, in which the project may have been
    /// made only to be rid of it.
    Around,
}

/// The rules of one source.
#[derive(Debug, Clone)]
pub(crate) struct SourceRules {
    standing: Standing,
    own: Spoken,
    agents: Vec<(String, Spoken)>,
}

/// The rules of one object.
#[derive(Debug, Clone, Default)]
struct Spoken {
    tools: Vec<Rule>,
    permission: Vec<Rule>,
}

impl SourceRules {
    /// Rules that stand alone, outside of any object.
    pub(crate) fn alone(standing: Standing, permission: Vec<Rule>) -> SourceRules {
        SourceRules { standing, own: Spoken { tools: Vec::new(), permission }, agents: Vec::new() }
    }

    /// Takes the rules out of the root of a source, so that what is left can be merged.
    pub(crate) fn take(
        root: &mut Node,
        standing: Standing,
        collector: &mut Collector<'_>,
        voice: Voice,
        warnings: &mut Warnings,
    ) -> Result<SourceRules, ConfigError> {
        let mut own = Spoken::take(root, collector, voice, warnings)?;
        let granted = ALLOW_PRIVATE.iter().try_fold(&*root, |node, key| node.get(key));
        // Before the others, so that a rule of the same source can take back what is granted here.
        own.permission.splice(..0, collector.private_hosts(granted, voice)?);
        let mut agents = Vec::new();
        let voice = Voice { layer: Layer::Agent, ..voice };
        for key in AGENT_KEYS {
            for Entry { key, value, .. } in root.get_mut(key).map(Node::entries_mut).unwrap_or_default() {
                agents.push((key.clone(), Spoken::take(value, collector, voice, warnings)?));
            }
        }
        Ok(SourceRules { standing, own, agents })
    }

    /// The same rules for a project that lies below the directory they were written in: what they say of files there is
    /// said of their absolute paths, since here the relative ones mean other files.
    pub(crate) fn written_in(mut self, directory: &Path) -> SourceRules {
        let agents = self.agents.iter_mut().map(|(_, spoken)| spoken);
        for spoken in std::iter::once(&mut self.own).chain(agents) {
            let rules = std::mem::take(&mut spoken.permission);
            spoken.permission = rules.into_iter().flat_map(|rule| around::placed(rule, directory)).collect();
        }
        self
    }

    /// The names of the agents it speaks of.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|(name, _)| name.as_str())
    }

    /// Whether its word counts in full.
    pub(crate) fn standing(&self) -> Standing {
        self.standing
    }
}

impl Spoken {
    fn take(
        object: &mut Node,
        collector: &mut Collector<'_>,
        voice: Voice,
        warnings: &mut Warnings,
    ) -> Result<Spoken, ConfigError> {
        let mut spoken = Spoken::default();
        if let Some(entry) = object.remove(TOOLS) {
            spoken.tools = collector.tools(&entry.value, voice)?;
        }
        if let Some(entry) = object.remove(PERMISSION) {
            spoken.permission = collector.permission(&entry.at, &entry.value, voice, warnings)?;
        }
        Ok(spoken)
    }
}

/// Joins everything for one agent.
pub(crate) fn join(sources: &[SourceRules], agent: &str, data: &Path, session: Vec<Rule>) -> Ruleset {
    let mut ruleset = Ruleset::new(defaults::rules(agent, data));
    ruleset.extend(spoken(sources, Standing::Full, agent));
    ruleset.extend(session);
    ruleset.narrow(spoken(sources, Standing::Narrowing, agent));
    ruleset.narrow(spoken(sources, Standing::Around, agent));
    let guards = guards(&ruleset);
    ruleset.narrow(guards);
    ruleset
}

/// What other programs execute is guarded whatever `*` allows: only a rule that names the action can relax it.
fn guards(ruleset: &Ruleset) -> Vec<Rule> {
    let names_it =
        |rule: &&Rule| defaults::GUARDED.contains(&rule.action.as_str()) && !ruleset.only_narrows(rule);
    ruleset.rules().filter(names_it).cloned().collect()
}

fn spoken(sources: &[SourceRules], standing: Standing, agent: &str) -> Vec<Rule> {
    let sources = || sources.iter().filter(move |source| source.standing == standing);
    let own = || sources().map(|source| &source.own);
    let of_agent = || {
        let agents = sources().flat_map(|source| &source.agents);
        agents.filter(|(name, _)| name == agent).map(|(_, spoken)| spoken)
    };
    let tools = |spoken: &Spoken| spoken.tools.clone();
    let permission = |spoken: &Spoken| spoken.permission.clone();
    let own = own().flat_map(tools).chain(own().flat_map(permission));
    own.chain(of_agent().flat_map(tools)).chain(of_agent().flat_map(permission)).collect()
}
