//! The rules that hold in a location, and who is asked where they say so.

use std::sync::Arc;

use haft::permission::{Asker, Effect, Layer, Nobody, Origin, Rule, Ruleset};
use haft_store::{Queue, Store};

use crate::cli::{ConsentArgs, OnAsk};
use crate::config;
use crate::exit::{Exit, Failure};
use crate::setting::Setting;
use crate::terminal::{Terminal, TerminalAsker};

/// The rules that hold: every layer, and last what was said on the command line.
pub(crate) fn ruleset(setting: &Setting, consent: &ConsentArgs) -> Result<Ruleset, Failure> {
    let rules = setting.config.ruleset(setting.agent.as_str(), session_rules(setting, consent)?);
    rules.map_err(|error| setting.as_written(Failure::new(Exit::Usage, error)))
}

/// What was said on the command line.
pub(crate) fn session_rules(setting: &Setting, consent: &ConsentArgs) -> Result<Vec<Rule>, Failure> {
    let mut session = Vec::new();
    if let Some(path) = &consent.permission {
        session.extend(
            config::permission_file(&setting.directory.join(path), &setting.env).map_err(Failure::usage)?,
        );
    }
    session.extend(flags(&consent.allow, Effect::Allow, "--allow")?);
    session.extend(flags(&consent.deny, Effect::Deny, "--deny")?);
    Ok(session)
}

fn flags(given: &[String], effect: Effect, flag: &str) -> Result<Vec<Rule>, Failure> {
    let rule = |raw: &String| match raw.split_once('=').unwrap_or((raw, "*")) {
        ("", _) => Err(Failure::usage(format_args!("{flag} {raw:?} names no action"))),
        (action, pattern) => Ok(Rule::new(action, pattern, effect, Origin::named(Layer::Session, flag))),
    };
    given.iter().map(rule).collect()
}

pub(super) fn asker(setting: &Setting, consent: &ConsentArgs, store: Option<&Store>) -> Arc<dyn Asker> {
    if consent.yes {
        return Arc::new(Yes);
    }
    match (consent.on_ask, store) {
        (OnAsk::Wait(seconds), Some(store)) => {
            Arc::new(Queue::new(store, std::time::Duration::from_secs(seconds)))
        }
        (OnAsk::Ask, _) if Terminal::is_interactive() => Arc::new(TerminalAsker::new(setting.terminal.err())),
        (OnAsk::Ask | OnAsk::Refuse | OnAsk::Wait(_), _) => nobody(),
    }
}

/// Whether questions reach somebody who can judge them.
pub(super) fn is_somebody_there(consent: &ConsentArgs) -> bool {
    match consent.on_ask {
        OnAsk::Wait(_) => !consent.yes,
        OnAsk::Ask => !consent.yes && Terminal::is_interactive(),
        OnAsk::Refuse => false,
    }
}

/// Nobody, and what would help.
pub(crate) fn nobody() -> Arc<dyn Asker> {
    let hint = "run it on a terminal, allow it with --allow ACTION[=PATTERN] or --yes, or let it wait with --on-ask wait";
    Arc::new(Nobody(hint.to_owned()))
}

/// Somebody who said yes to everything beforehand. Rules that deny never reach them.
pub(crate) struct Yes;

impl Asker for Yes {
    fn ask<'a>(&'a self, _: &'a haft::permission::Request) -> haft::BoxFuture<'a, haft::permission::Answer> {
        Box::pin(std::future::ready(haft::permission::Answer::Reply(haft::permission::Reply::Once)))
    }
}
