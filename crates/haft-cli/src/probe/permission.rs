//! Questions about permission rules: reading, joining and evaluating them, and the life of requests.

use haft::Action;
use haft::permission::{Layer, Origin, Resource, Rule, Ruleset, decide, strictest};
use serde_json::{Value, json};

use super::{Answer, list, session, text};
use crate::config;
use crate::exit::Failure;

pub(super) fn answer(question: &Value) -> Answer {
    match text(question, "op")? {
        "from_config" => Ok(json!({ "rules": written(&from_config(&question["config"])?) })),
        "merge" => Ok(json!({ "rules": written(&rules(question)?) })),
        "evaluate" => {
            let rules = Ruleset::new(rules(question)?);
            let action = Action::new(text(question, "permission")?);
            let effect = rules.effect(&action, &Resource::new(text(question, "pattern")?));
            Ok(json!({ "action": effect.as_str() }))
        }
        "ask" => {
            let rules = Ruleset::new(rules(question)?);
            let action = Action::new(text(question, "permission")?);
            let patterns = list(question, "patterns")?.iter().filter_map(Value::as_str);
            let decisions: Vec<_> =
                patterns.map(|pattern| decide(&rules, &[], &action, &Resource::new(pattern))).collect();
            Ok(json!({ "action": strictest(&decisions).as_str() }))
        }
        "disabled" => {
            let rules = Ruleset::new(rules(question)?);
            let tools = list(question, "tools")?.iter().filter_map(Value::as_str);
            let disabled: Vec<&str> =
                tools.filter(|tool| rules.disables(&haft_tools::action_of(tool))).collect();
            Ok(json!({ "disabled": disabled }))
        }
        "session" => session::answer(Ruleset::new(rules(question)?), list(question, "steps")?),
        other => Err(Failure::usage(format_args!("unknown operation {other:?}"))),
    }
}

/// The rules of a question, in whichever of three forms it gives them.
fn rules(question: &Value) -> Result<Vec<Rule>, Failure> {
    if !question["config"].is_null() {
        return from_config(&question["config"]);
    }
    if let Some(rulesets) = question["rulesets"].as_array() {
        let each: Result<Vec<Vec<Rule>>, Failure> = rulesets.iter().map(read).collect();
        return Ok(each?.concat());
    }
    read(&question["rules"])
}

fn from_config(config: &Value) -> Result<Vec<Rule>, Failure> {
    config::permission_rules(config, &crate::paths::Env::real(), Layer::Session, "the question")
        .map_err(Failure::usage)
}

/// Rules in their plain form: a list of permission, pattern and action.
pub(crate) fn read(rules: &Value) -> Result<Vec<Rule>, Failure> {
    let origin = Origin::named(Layer::Session, "the question");
    config::plain_rules(rules, &origin).map_err(Failure::usage)
}

fn written(rules: &[Rule]) -> Vec<Value> {
    let one = |rule: &Rule| json!({ "permission": rule.action.as_str(), "pattern": rule.resource.as_str(), "action": rule.effect.as_str() });
    rules.iter().map(one).collect()
}
