//! Decisions, with everything needed to explain them: the rule, where it stands, what it overrode.

use super::ask::Question;
use super::grant::Grant;
use super::resource::Resource;
use super::rule::{Effect, Rule, Ruleset};
use crate::name::Action;

/// What was decided about one resource, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The resource.
    pub resource: Resource,
    /// What was decided.
    pub effect: Effect,
    /// What decided it.
    pub reason: Reason,
    /// Rules that also match but lost, the nearest to winning first.
    pub overridden: Vec<Rule>,
}

impl Decision {
    /// Whether a rule denies it that speaks of its action by name, and not of all actions at once.
    pub fn is_denied_by_name(&self) -> bool {
        let is_by_name =
            |reason: &Reason| matches!(reason, Reason::Rule(rule) if !rule.action.is_everything());
        self.effect == Effect::Deny && is_by_name(&self.reason)
    }
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A rule.
    Rule(Rule),
    /// A saved grant, where the rules (this one, or none) would have asked.
    Grant {
        /// The grant.
        grant: Grant,
        /// The rule that would have asked.
        instead_of: Option<Rule>,
    },
    /// A rule that might speak of the resource, which is not known well enough to say. That means ask.
    Possibly(Rule),
    /// Nothing matched, which means ask.
    Silence,
}

/// Decides about one resource. A grant answers a question; it never outranks a rule that denies.
pub fn decide(rules: &Ruleset, grants: &[Grant], action: &Action, resource: &Resource) -> Decision {
    let said = rules.deciding(action, resource);
    let overridden = rules
        .rules()
        .rev()
        .filter(|rule| rule.covers(action, resource) && !said.is_some_and(|said| std::ptr::eq(said, *rule)))
        .cloned();
    let possible = rules.possibly_deciding(action, resource);
    let asked = possible.or(said).is_none_or(|rule| rule.effect == Effect::Ask);
    let granted = grants.iter().find(|grant| asked && grant.covers(action, resource));
    // What might be asked, a grant answers as if it were. What might be denied it cannot answer.
    if let Some(possible) = possible {
        let (effect, reason) = match granted {
            Some(grant) => {
                let instead_of = Some(possible.clone());
                (Effect::Allow, Reason::Grant { grant: grant.clone(), instead_of })
            }
            None => (Effect::Ask, Reason::Possibly(possible.clone())),
        };
        let overridden = said.cloned().into_iter().chain(overridden).collect();
        return Decision { resource: resource.clone(), effect, reason, overridden };
    }
    let (effect, reason) = match (granted, said) {
        (Some(grant), instead_of) => {
            (Effect::Allow, Reason::Grant { grant: grant.clone(), instead_of: instead_of.cloned() })
        }
        (None, Some(rule)) => (rule.effect, Reason::Rule(rule.clone())),
        (None, None) => (Effect::Ask, Reason::Silence),
    };
    Decision { resource: resource.clone(), effect, reason, overridden: overridden.collect() }
}

/// Decides about what might be done, as far as anybody can tell: where a rule denies something of the kind, that means
/// ask, and otherwise there is nothing to decide.
pub fn decide_perhaps(rules: &Ruleset, question: &Question) -> Vec<Decision> {
    let Some(rule) = rules.might_deny(&question.action) else { return Vec::new() };
    let denying = |resource: &Resource| {
        let rule = rules.deciding(&question.action, resource);
        rule.filter(|rule| rule.effect == Effect::Deny)
    };
    let possibly = |resource: &Resource| Decision {
        resource: resource.clone(),
        effect: Effect::Ask,
        reason: Reason::Possibly(denying(resource).unwrap_or(rule).clone()),
        overridden: Vec::new(),
    };
    question.resources.iter().map(possibly).collect()
}

/// The strictest of several decisions. About nothing, everything is allowed.
pub fn strictest(decisions: &[Decision]) -> Effect {
    decisions.iter().map(|decision| decision.effect).max().unwrap_or(Effect::Allow)
}
