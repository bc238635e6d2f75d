//! `haft permission check`, `explain` and `list`: the rules that hold and what they decide.

use haft::Action;
use haft::permission::{Decision, Effect, Grant, GrantBook, Reason, Resource, Rule, decide};
use serde_json::{Value, json};

use crate::cli::ConsentArgs;
use crate::exit::{Exit, Failure};
use crate::location::{open_store, ruleset};
use crate::setting::Setting;

/// Prints the decision, and leaves with 0 for allow, 5 for deny and 6 for ask.
pub(super) async fn check(
    setting: &Setting,
    action: &str,
    resource: &str,
    consent: &ConsentArgs,
) -> Result<Exit, Failure> {
    let decision = decision(setting, action, resource, consent).await?;
    match setting.terminal.json {
        true => setting.terminal.document(&document(action, &decision))?,
        false => setting.terminal.line(decision.effect.as_str())?,
    }
    Ok(exit(decision.effect))
}

pub(super) async fn explain(
    setting: &Setting,
    action: &str,
    resource: &str,
    consent: &ConsentArgs,
) -> Result<Exit, Failure> {
    let terminal = setting.terminal;
    let decision = decision(setting, action, resource, consent).await?;
    if terminal.json {
        terminal.document(&document(action, &decision))?;
        return Ok(exit(decision.effect));
    }
    let style = terminal.out();
    let wanted = haft::visible(&format!("{action} {resource}"));
    terminal.line(&format!("{}  →  {}", style.bold(&wanted), painted(setting, decision.effect)))?;
    match &decision.reason {
        Reason::Rule(rule) => {
            terminal.line(&format!("  decided by   {}", line(rule)))?;
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
                terminal.line(&format!("  instead of   {}", line(rule)))?;
            }
        }
        Reason::Silence => terminal.line("  decided by   no rule matches, which means ask")?,
    }
    for rule in &decision.overridden {
        terminal.line(&style.dim(&format!("  overridden   {}", line(rule))))?;
    }
    Ok(exit(decision.effect))
}

pub(super) fn list(setting: &Setting) -> Result<Exit, Failure> {
    let terminal = setting.terminal;
    let rules = ruleset(setting, &ConsentArgs::default())?;
    let saved = open_store(setting)?.grants_of_project()?;
    let grants: Vec<Grant> = saved.into_iter().map(|saved| saved.grant).collect();
    if terminal.json {
        let rules: Vec<Value> =
            rules.rules().map(|rule| rule_document(rule, rules.only_narrows(rule))).collect();
        let grants: Vec<Value> = grants.iter().map(grant_document).collect();
        terminal.document(
            &json!({ "v": 1, "agent": setting.agent.as_str(), "rules": rules, "grants": grants }),
        )?;
        return Ok(Exit::Ok);
    }
    let style = terminal.out();
    terminal.line(&style.bold(&format!("rules for {} (the last that matches decides)", setting.agent)))?;
    for rule in rules.rules() {
        let note = if rules.only_narrows(rule) { "   only narrows: the project is not trusted" } else { "" };
        terminal.line(&format!("  {}{note}", line(rule)))?;
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

async fn decision(
    setting: &Setting,
    action: &str,
    resource: &str,
    consent: &ConsentArgs,
) -> Result<Decision, Failure> {
    let rules = ruleset(setting, consent)?;
    let grants = match setting.paths.data.join(haft_store::FILE).exists() {
        true => GrantBook::grants(&open_store(setting)?, &setting.session).await?,
        false => Vec::new(),
    };
    Ok(decide(&rules, &grants, &Action::new(action), &Resource::new(resource)))
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

fn line(rule: &Rule) -> String {
    let text = haft::visible(&rule.to_string());
    format!("{text}   {} ({})", haft::visible(&rule.origin.to_string()), rule.origin.layer)
}

fn document(action: &str, decision: &Decision) -> Value {
    let (matched, grant) = match &decision.reason {
        Reason::Rule(rule) => (Some(rule), None),
        Reason::Grant { grant, instead_of } => (instead_of.as_ref(), Some(grant)),
        Reason::Silence => (None, None),
    };
    let overridden: Vec<Value> = decision.overridden.iter().map(|rule| rule_document(rule, false)).collect();
    json!({
        "v": 1,
        "permission": action,
        "pattern": decision.resource.name(),
        "action": decision.effect.as_str(),
        "matched": matched.map(|rule| rule_document(rule, false)),
        "grant": grant.map(grant_document),
        "overridden": overridden,
    })
}

fn rule_document(rule: &Rule, only_narrows: bool) -> Value {
    let (line, column) = rule.origin.position.unzip();
    let mut document = json!({
        "permission": rule.action.as_str(),
        "pattern": rule.resource.as_str(),
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
