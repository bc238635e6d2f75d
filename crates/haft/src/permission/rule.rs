//! Rules and rulesets: an ordered list in which the last matching rule decides, and nothing matching means ask.

use std::fmt;
use std::sync::Arc;

use super::resource::Resource;
use super::wildcard::Pattern;
use crate::name::Action;
use crate::secrets::without_secrets;

/// What a rule says about an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// Goes ahead.
    Allow,
    /// Somebody has to agree first.
    Ask,
    /// Is refused.
    Deny,
}

impl Effect {
    /// Reads `allow`, `ask` or `deny`.
    pub fn parse(raw: &str) -> Option<Effect> {
        [Effect::Allow, Effect::Ask, Effect::Deny].into_iter().find(|effect| effect.as_str() == raw)
    }

    /// The word for it in configuration files.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::Allow => "allow",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whose word a rule is. Later layers come later in the ruleset and therefore win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Shipped with haft.
    Defaults,
    /// The person's own configuration, for all projects.
    Global,
    /// The project's configuration.
    Project,
    /// The agent's own rules.
    Agent,
    /// Given for this session or this command alone.
    Session,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Defaults => "defaults",
            Layer::Global => "global",
            Layer::Project => "project",
            Layer::Agent => "agent",
            Layer::Session => "session",
        })
    }
}

/// Where a rule was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whose word it is.
    pub layer: Layer,
    /// The file or the flag it stands in.
    pub source: Arc<str>,
    /// Line and column, counted from one, where the source is a file.
    pub position: Option<(u32, u32)>,
}

impl Origin {
    /// An origin that is not a place in a file.
    pub fn named(layer: Layer, source: &str) -> Origin {
        Origin { layer, source: source.into(), position: None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some((line, column)) => write!(f, "{}:{line}:{column}", self.source),
            None => f.write_str(&self.source),
        }
    }
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The actions it speaks of.
    pub action: Pattern,
    /// The resources it speaks of.
    pub resource: Pattern,
    /// What it says.
    pub effect: Effect,
    /// Where it was written.
    pub origin: Origin,
}

impl Rule {
    /// Compiles a rule.
    pub fn new(action: &str, resource: &str, effect: Effect, origin: Origin) -> Rule {
        Rule { action: Pattern::new(action), resource: Pattern::new(resource), effect, origin }
    }

    /// The resources it speaks of as models and programs are told, which need not know the secrets that somebody wrote
    /// into a rule.
    pub fn told_resource(&self) -> String {
        without_secrets(self.resource.as_str())
    }

    /// Whether the rule speaks of this action on this resource. To allow takes more than to forbid.
    pub fn covers(&self, action: &Action, resource: &Resource) -> bool {
        let covers = match self.effect {
            Effect::Allow => resource.may_be_allowed_by(&self.resource),
            Effect::Ask | Effect::Deny => resource.is_spoken_of_by(&self.resource),
        };
        covers && self.action.matches(action.as_str())
    }

    /// Whether the rule, which does not allow, would speak of the resource if what is unknown about it were known.
    fn might_cover(&self, action: &Action, resource: &Resource) -> bool {
        self.effect != Effect::Allow
            && resource.might_be_spoken_of_by(&self.resource)
            && self.action.matches(action.as_str())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}: {}", self.action, self.resource.as_str(), self.effect)
    }
}

/// An ordered list of rules. Joining two appends the second.
///
/// Beside it stand further lists that may only narrow, such as the word of a project nobody has trusted yet. Each is
/// read like the first, but counts only where it is stricter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ruleset {
    rules: Vec<Rule>,
    narrowing: Vec<Vec<Rule>>,
}

impl Ruleset {
    /// A ruleset of these rules, in this order.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Ruleset {
        Ruleset { rules: rules.into_iter().collect(), narrowing: Vec::new() }
    }

    /// The rules in their order, those that only narrow last.
    pub fn rules(&self) -> impl DoubleEndedIterator<Item = &Rule> {
        self.rules.iter().chain(self.narrowing.iter().flatten())
    }

    /// Appends further rules, which win over these.
    pub fn extend(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.rules.extend(rules);
    }

    /// Adds a list of rules that counts only where it is stricter than all others.
    pub fn narrow(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.narrowing.push(rules.into_iter().collect());
    }

    /// These rules, where those of an outer one allow it too: whoever works for somebody may do no more than they may.
    pub fn within(mut self, outer: &Ruleset) -> Ruleset {
        // Where the outer rules say nothing, they ask.
        let silence = Rule::new("*", "*", Effect::Ask, Origin::named(Layer::Defaults, "the caller's rules"));
        self.narrow(std::iter::once(silence).chain(outer.rules.iter().cloned()));
        self.narrowing.extend(outer.narrowing.iter().cloned());
        self
    }

    /// Whether a rule is one of those that only narrow.
    pub fn only_narrows(&self, rule: &Rule) -> bool {
        self.narrowing.iter().flatten().any(|narrowing| std::ptr::eq(narrowing, rule))
    }

    /// The rule that decides: the last that matches, unless one that narrows is stricter.
    pub fn deciding(&self, action: &Action, resource: &Resource) -> Option<&Rule> {
        let last = |rules: &[Rule]| rules.iter().rposition(|rule| rule.covers(action, resource));
        let mut deciding = last(&self.rules).map(|at| &self.rules[at]);
        for rules in &self.narrowing {
            let strictness = deciding.map_or(Effect::Ask, |rule| rule.effect);
            let narrowed = last(rules).map(|at| &rules[at]);
            deciding = narrowed.filter(|rule| rule.effect > strictness).or(deciding);
        }
        deciding
    }

    /// The strictest rule that would have been stricter than what is decided, if what is unknown about the resource
    /// were known.
    pub fn possibly_deciding(&self, action: &Action, resource: &Resource) -> Option<&Rule> {
        self.possible(action, resource).into_iter().max_by_key(|rule| rule.effect)
    }

    /// The rules that would have been stricter than what is decided, if what is unknown about the resource were known.
    /// Each list is read for itself: what stands in it after its last word on the resource might have been that word.
    pub fn possible(&self, action: &Action, resource: &Resource) -> Vec<&Rule> {
        if resource.is_known_whole() {
            return Vec::new();
        }
        let strictness = self.deciding(action, resource).map_or(Effect::Ask, |rule| rule.effect);
        let lists = std::iter::once(&self.rules).chain(&self.narrowing);
        let possible = lists.flat_map(|rules| {
            let later = rules.iter().rev().take_while(|rule| !rule.covers(action, resource));
            later.filter(|rule| rule.effect > strictness && rule.might_cover(action, resource))
        });
        possible.collect()
    }

    /// What the rules say. Nothing said means ask, and so does what might be said.
    pub fn effect(&self, action: &Action, resource: &Resource) -> Effect {
        match self.possibly_deciding(action, resource) {
            Some(_) => Effect::Ask,
            None => self.deciding(action, resource).map_or(Effect::Ask, |rule| rule.effect),
        }
    }

    /// A rule that denies something under an action, unless a later one settles everything under it otherwise.
    pub fn might_deny(&self, action: &Action) -> Option<&Rule> {
        std::iter::once(&self.rules).chain(&self.narrowing).find_map(|rules| {
            let settles = |rule: &&Rule| rule.effect == Effect::Deny || rule.resource.is_everything();
            let last = rules.iter().rev().filter(settles).find(|rule| rule.action.matches(action.as_str()));
            last.filter(|rule| rule.effect == Effect::Deny)
        })
    }

    /// Whether a rule denies anything under an action that it speaks of by name.
    pub fn denies_some(&self, action: &Action) -> bool {
        let denies = |rule: &Rule| {
            rule.effect == Effect::Deny
                && !rule.action.is_everything()
                && rule.action.matches(action.as_str())
        };
        self.rules().any(denies)
    }

    /// Whether nothing at all may be done under an action: its last rule denies `*`. Such tools are not advertised.
    pub fn disables(&self, action: &Action) -> bool {
        let denies_all = |rule: &Rule| rule.effect == Effect::Deny && rule.resource.is_everything();
        std::iter::once(&self.rules).chain(&self.narrowing).any(|rules| {
            // Most rulesets deny nothing whole, and matching is what costs.
            let last = || rules.iter().rev().find(|rule| rule.action.matches(action.as_str()));
            rules.iter().any(denies_all) && last().is_some_and(denies_all)
        })
    }
}
