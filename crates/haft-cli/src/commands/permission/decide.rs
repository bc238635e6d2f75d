//! `haft permission check`, `explain` and `list`: the rules that hold and what they decide.

use haft::Action;
use haft::permission::{
    Allowed, Ask, Decision, Effect, Grant, GrantBook, Question, Reason, Resource, Rule, decide,
    decide_perhaps,
};
use haft_tools::Workspace;
use haft_tools::shell::{self, CommandTarget, Held};
use serde_json::{Value, json};

use crate::cli::ConsentArgs;
use crate::exit::{Exit, Failure};
use crate::location::{open_store, ruleset};
use crate::setting::Setting;
use crate::skills;

/// Prints the decision, and leaves with 0 for allow, 5 for deny and 6 for ask.
pub(super) async fn check(
    setting: &Setting,
    action: &str,
    resource: &str,
    consent: &ConsentArgs,
) -> Result<Exit, Failure> {
    let decided = decided(setting, action, resource, consent).await?;
    match setting.terminal.json {
        true => setting.terminal.document(&whole_document(setting, action, resource, &decided))?,
        false => setting.terminal.line(strictest(&decided).as_str())?,
    }
    Ok(exit(strictest(&decided)))
}

/// Prints every decision with its reason, the strictest first.
pub(super) async fn explain(
    setting: &Setting,
    action: &str,
    resource: &str,
    consent: &ConsentArgs,
) -> Result<Exit, Failure> {
    let decided = decided(setting, action, resource, consent).await?;
    match setting.terminal.json {
        true => setting.terminal.document(&whole_document(setting, action, resource, &decided))?,
        false => decided.iter().try_for_each(|(action, decision)| explain_one(setting, action, decision))?,
    }
    if decided.is_empty() && !setting.terminal.json {
        let wanted = haft::visible(&format!("{action} {resource}"));
        setting.terminal.line(&format!("{wanted}  →  {}", painted(setting, Effect::Allow)))?;
        setting.terminal.line("  because      it runs nothing and touches nothing outside")?;
    }
    Ok(exit(strictest(&decided)))
}

fn explain_one(setting: &Setting, action: &Action, decision: &Decision) -> Result<(), Failure> {
    let terminal = setting.terminal;
    let style = terminal.out();
    let wanted = haft::visible(&format!("{action} {}", decision.resource.name()));
    terminal.line(&format!("{}  →  {}", style.bold(&wanted), painted(setting, decision.effect)))?;
    match &decision.reason {
        Reason::Rule(rule) => {
            terminal.line(&format!("  decided by   {}", line(setting, rule)))?;
            if let Some(why) = setting.config.why(&rule.origin) {
                terminal.line(&format!("  because      {}", haft::visible(why)))?;
            }
        }
        Reason::Grant { grant, instead_of } => {
            let pattern = haft::visible(grant.resource.as_str());
            terminal.line(&format!(
                "  decided by   saved consent {} {pattern}   {} ({})",
                grant.action, grant.id, grant.scope
            ))?;
            if let Some(rule) = instead_of {
                terminal.line(&format!("  instead of   {}", line(setting, rule)))?;
            }
        }
        Reason::Possibly(rule) => {
            terminal.line(&format!("  might match  {}", line(setting, rule)))?;
            terminal.line("  because      what it does is known only when it runs")?;
        }
        Reason::Silence => terminal.line("  decided by   no rule matches, which means ask")?,
    }
    match decision.resource.allowance() {
        Allowed::ByAnyMatch => {}
        Allowed::ByEverythingOnly => {
            terminal.line("  allowed by   \"*\" only: it does more than its text says")?;
        }
        Allowed::ByNothing => terminal.line("  allowed by   nothing: it cannot be read")?,
    }
    for rule in &decision.overridden {
        terminal.line(&style.dim(&format!("  overridden   {}", line(setting, rule))))?;
    }
    Ok(())
}

pub(super) fn list(setting: &Setting) -> Result<Exit, Failure> {
    let terminal = setting.terminal;
    let rules = ruleset(setting, &ConsentArgs::default())?;
    let saved = open_store(setting)?.grants_of_project()?;
    let grants: Vec<Grant> = saved.into_iter().map(|saved| saved.grant).collect();
    if terminal.json {
        let rules: Vec<Value> =
            rules.rules().map(|rule| rule_document(setting, rule, rules.only_narrows(rule))).collect();
        let grants: Vec<Value> = grants.iter().map(grant_document).collect();
        terminal.document(
            &json!({ "v": 1, "agent": setting.agent.as_str(), "rules": rules, "grants": grants }),
        )?;
        return Ok(Exit::Ok);
    }
    let style = terminal.out();
    let agent = setting.config.as_written(setting.agent.as_str());
    terminal.line(&style.bold(&format!("rules for {agent} (the last that matches decides)")))?;
    for rule in rules.rules() {
        let note =
            if rules.only_narrows(rule) { "   only narrows: its directory is not trusted" } else { "" };
        terminal.line(&format!("  {}{note}", line(setting, rule)))?;
    }
    terminal.line(&style.bold("saved consents"))?;
    for grant in &grants {
        let pattern = haft::visible(grant.resource.as_str());
        terminal.line(&format!("  {}  {} {pattern}   ({})", grant.id, grant.action, grant.scope))?;
    }
    if grants.is_empty() {
        terminal.line("  none")?;
    }
    Ok(Exit::Ok)
}

/// What is decided about a resource; about a script, what is decided about each of its commands and files. The strictest
/// come first.
async fn decided(
    setting: &Setting,
    action: &str,
    resource: &str,
    consent: &ConsentArgs,
) -> Result<Vec<(Action, Decision)>, Failure> {
    let rules = ruleset(setting, consent)?;
    let grants = match setting.paths.data.join(haft_store::FILE).exists() {
        true => GrantBook::grants(&open_store(setting)?, &setting.session).await?,
        false => Vec::new(),
    };
    let action = Action::new(action);
    let mut held = Held::default();
    let (questions, perhaps) = match action == shell::action() {
        true => {
            let workspace = Workspace::open(&setting.directory, setting.worktree.as_deref())
                .map_err(|error| Failure::new(Exit::Usage, error))?
                .withholding(&setting.paths.own(), &[skills::installed(setting)])
                .guarding(setting.guarding());
            let home = setting.env.home();
            let target = CommandTarget::new(&workspace, resource, None, home).map_err(Failure::usage)?;
            target.check(&workspace).map_err(Failure::usage)?;
            held = target.held(&workspace, &rules);
            (target.questions(), target.perhaps())
        }
        false => (vec![Question::new(action, Resource::new(resource))], Vec::new()),
    };
    let decide_each = |question: Question| {
        let Question { action, resources, .. } = question;
        let decide = |resource: Resource| (action.clone(), decide(&rules, &grants, &action, &resource));
        resources.into_iter().map(decide).collect::<Vec<_>>()
    };
    let questions = questions.into_iter().chain(held.questions);
    let mut decided: Vec<(Action, Decision)> = questions.flat_map(decide_each).collect();
    for question in perhaps.into_iter().chain(held.perhaps) {
        let possible = decide_perhaps(&rules, &question);
        decided.extend(possible.into_iter().map(|decision| (question.action.clone(), decision)));
    }
    decided.sort_by_key(|(_, decision)| std::cmp::Reverse(decision.effect));
    Ok(decided)
}

/// About nothing, everything is allowed.
fn strictest(decided: &[(Action, Decision)]) -> Effect {
    decided.first().map_or(Effect::Allow, |(_, decision)| decision.effect)
}

/// One decision as it is; several as a list, with the strictest above it.
fn whole_document(setting: &Setting, action: &str, resource: &str, decided: &[(Action, Decision)]) -> Value {
    if let [(only, decision)] = decided
        && only.as_str() == action
        && decision.resource.name() == resource
    {
        return document(setting, action, decision);
    }
    let each: Vec<Value> =
        decided.iter().map(|(action, decision)| document(setting, action.as_str(), decision)).collect();
    json!({
        "v": 1,
        "permission": action,
        "pattern": resource,
        "action": strictest(decided).as_str(),
        "decisions": each,
    })
}

fn exit(effect: Effect) -> Exit {
    match effect {
        Effect::Allow => Exit::Ok,
        Effect::Ask => Exit::Unanswered,
        Effect::Deny => Exit::Denied,
    }
}

/// An effect in its colour.
pub(super) fn painted(setting: &Setting, effect: Effect) -> String {
    let style = setting.terminal.out();
    match effect {
        Effect::Allow => style.green("allow"),
        Effect::Ask => style.yellow("ask"),
        Effect::Deny => style.red("deny"),
    }
}

fn line(setting: &Setting, rule: &Rule) -> String {
    let text = haft::visible(&setting.config.as_written(&rule.to_string()));
    format!("{text}   {} ({})", haft::visible(&rule.origin.to_string()), rule.origin.layer)
}

fn document(setting: &Setting, action: &str, decision: &Decision) -> Value {
    let (matched, grant) = match &decision.reason {
        Reason::Rule(rule) | Reason::Possibly(rule) => (Some(rule), None),
        Reason::Grant { grant, instead_of } => (instead_of.as_ref(), Some(grant)),
        Reason::Silence => (None, None),
    };
    let overridden: Vec<Value> =
        decision.overridden.iter().map(|rule| rule_document(setting, rule, false)).collect();
    json!({
        "v": 1,
        "permission": action,
        "pattern": decision.resource.name(),
        "action": decision.effect.as_str(),
        "matched": matched.map(|rule| rule_document(setting, rule, false)),
        "grant": grant.map(grant_document),
        "overridden": overridden,
    })
}

fn rule_document(setting: &Setting, rule: &Rule, only_narrows: bool) -> Value {
    let (line, column) = rule.origin.position.unzip();
    let mut document = json!({
        "permission": rule.action.as_str(),
        "pattern": setting.config.as_written(rule.resource.as_str()),
        "action": rule.effect.as_str(),
        "layer": rule.origin.layer.to_string(),
        "source": &*rule.origin.source,
        "line": line,
        "column": column,
    });
    if only_narrows {
        document["onlyNarrows"] = true.into();
    }
    document
}

fn grant_document(grant: &Grant) -> Value {
    json!({
        "id": grant.id.as_str(),
        "scope": grant.scope.as_str(),
        "session": grant.session.as_str(),
        "permission": grant.action.as_str(),
        "pattern": grant.resource.as_str(),
    })
}
