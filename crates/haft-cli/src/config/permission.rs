//! Turns what a configuration says about permissions into rules, in the order of the file and with their places.

use std::path::Path;
use std::sync::Arc;

use haft::permission::{Effect, Layer, Origin, Rule};
use haft_tools::web::{Address, PRIVATE_ADDRESS};
use serde_json::Value;

use super::discover::Family;
use super::error::{ConfigError, Located, Problem};
use super::node::{Entry, Kind, Node};
use super::parse::parse;
use super::read::shown_path;
use super::text::{Span, Text};
use super::warning::Warnings;
use crate::paths::Env;

/// The most rules that all sources together may hold.
pub(crate) const RULES_MAX: usize = 10_000;

const EFFECTS: &str = "\"allow\", \"ask\" or \"deny\"";
const EFFECTS_OR_PATTERNS: &str = "\"allow\", \"ask\" or \"deny\", or an object of patterns";
const PERMISSION: &str = "\"allow\", \"ask\" or \"deny\", an object of permissions, or a list of rules";

const PRIVATE_HOST: &str = "a host and a port, such as \"127.0.0.1:3000\" or \"localhost:*\"";

/// Tools that change files ask for one permission, whatever they are called.
const CHANGES: &str = "edit";
const CHANGING: &[&str] = &["write", "patch", "multiedit", "apply_patch"];
/// Spellings of the seeds, and what they are called now.
const SPELLINGS: &[(&str, &str)] = &[("plan-enter", "plan_enter"), ("plan-exit", "plan_exit")];

/// Whose word is read, and how strictly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voice {
    /// How it is read.
    pub(crate) family: Family,
    /// The layer of its rules.
    pub(crate) layer: Layer,
}

/// Collects the rules of all sources.
pub(crate) struct Collector<'a> {
    /// What `~` stands for.
    home: Option<&'a Path>,
    room: usize,
    /// Why rules were written, where somebody said so.
    pub(crate) reasons: Vec<(Origin, String)>,
}

impl<'a> Collector<'a> {
    /// A collector with room for [`RULES_MAX`] rules.
    pub(crate) fn new(home: Option<&'a Path>) -> Collector<'a> {
        Collector { home, room: RULES_MAX, reasons: Vec::new() }
    }

    /// Reads the value of a `permission` key that stands at `at`.
    pub(crate) fn permission(
        &mut self,
        at: &Span,
        value: &Node,
        voice: Voice,
        warnings: &mut Warnings,
    ) -> Result<Vec<Rule>, ConfigError> {
        match &value.kind {
            Kind::Text(_) => Ok(vec![self.rule("*", "*", effect(value, EFFECTS)?, at, voice)?]),
            Kind::Object(entries) => {
                let mut rules = Vec::new();
                for entry in entries {
                    rules.extend(self.entry(entry, voice, warnings)?);
                }
                Ok(rules)
            }
            Kind::List(items) => items.iter().map(|item| self.listed(item, voice)).collect(),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) => Err(value.expected(PERMISSION)),
        }
    }

    /// Reads the old `tools: { id: bool }`.
    pub(crate) fn tools(&mut self, value: &Node, voice: Voice) -> Result<Vec<Rule>, ConfigError> {
        let Kind::Object(entries) = &value.kind else {
            return Err(value.expected("an object of tools"));
        };
        let rules = entries.iter().map(|Entry { key, at, value }| {
            let effect = match value.as_bool() {
                Some(true) => Effect::Allow,
                Some(false) => Effect::Deny,
                None => return Err(value.expected("true or false")),
            };
            let action = if CHANGING.contains(&key.as_str()) { CHANGES } else { spelled(key) };
            self.rule(action, "*", effect, at, voice)
        });
        rules.collect()
    }

    /// Reads the hosts, each with a port or `*` for all of them, that are granted although they are private.
    pub(crate) fn private_hosts(
        &mut self,
        list: Option<&Node>,
        voice: Voice,
    ) -> Result<Vec<Rule>, ConfigError> {
        let items = list.and_then(Node::as_list).unwrap_or_default();
        let rule = |item: &Node| {
            let endpoint =
                item.as_text().and_then(private_host).ok_or_else(|| item.expected(PRIVATE_HOST))?;
            self.rule(PRIVATE_ADDRESS, &endpoint, Effect::Allow, &item.span, voice)
        };
        items.iter().map(rule).collect()
    }

    /// The rules of one permission.
    fn entry(
        &mut self,
        entry: &Entry,
        voice: Voice,
        warnings: &mut Warnings,
    ) -> Result<Vec<Rule>, ConfigError> {
        let Entry { key, at, value } = entry;
        if CHANGING.contains(&key.as_str()) {
            warnings.add(at, || Problem::Idle { key: at.shown(), instead: CHANGES });
        }
        let action = spelled(key);
        match &value.kind {
            Kind::Object(patterns) if !is_reasoned(value, voice) => {
                let rules = patterns.iter().map(|Entry { key, at, value }| {
                    let pattern = self.expanded(key, at)?;
                    self.said(action, &pattern, value, EFFECTS, at, voice)
                });
                rules.collect()
            }
            _ => Ok(vec![self.said(action, "*", value, EFFECTS_OR_PATTERNS, at, voice)?]),
        }
    }

    /// A rule whose effect is a word, or in haft's own files an object with a word and a reason.
    fn said(
        &mut self,
        action: &str,
        pattern: &str,
        value: &Node,
        expected: &'static str,
        at: &Span,
        voice: Voice,
    ) -> Result<Rule, ConfigError> {
        if !is_reasoned(value, voice) {
            return self.rule(action, pattern, effect(value, expected)?, at, voice);
        }
        let mut said = None;
        let mut why = None;
        for Entry { key, at, value } in value.entries() {
            match key.as_str() {
                "action" => said = Some(effect(value, EFFECTS)?),
                "why" => why = Some(value.as_text().ok_or_else(|| value.expected("a text"))?),
                other => {
                    let nearest = haft::nearest(other, ["action", "why"]).map(str::to_owned);
                    return Err(Located::new(Problem::UnknownKey { key: at.shown(), nearest }, at).into());
                }
            }
        }
        let effect = said.ok_or_else(|| value.expected("an object with the key \"action\""))?;
        let rule = self.rule(action, pattern, effect, at, voice)?;
        self.reasons.extend(why.map(|why| (rule.origin.clone(), why.to_owned())));
        Ok(rule)
    }

    /// A rule of a list: `{permission, pattern, action}`, or `{action, resource, effect}` as V2 calls them.
    fn listed(&mut self, item: &Node, voice: Voice) -> Result<Rule, ConfigError> {
        let fields = match item.get("effect") {
            Some(_) => ["action", "resource", "effect"],
            None => ["permission", "pattern", "action"],
        };
        let unknown = item.entries().iter().find(|entry| !fields.contains(&entry.key.as_str()));
        if let Some(Entry { key, at, .. }) = unknown {
            let nearest = haft::nearest(key, fields).map(str::to_owned);
            return Err(Located::new(Problem::UnknownKey { key: at.shown(), nearest }, at).into());
        }
        let [action, pattern, word] = fields.map(|field| item.get(field));
        let (Some(action), Some(pattern), Some(word)) = (action, pattern, word) else {
            return Err(item.expected("an object with the keys \"permission\", \"pattern\" and \"action\""));
        };
        let text = |node: &Node| node.as_text().map(str::to_owned).ok_or_else(|| node.expected("a text"));
        let action = text(action)?;
        self.rule(spelled(&action), &text(pattern)?, effect(word, EFFECTS)?, &item.span, voice)
    }

    fn rule(
        &mut self,
        action: &str,
        pattern: &str,
        effect: Effect,
        at: &Span,
        voice: Voice,
    ) -> Result<Rule, ConfigError> {
        self.room = self
            .room
            .checked_sub(1)
            .ok_or_else(|| Located::new(Problem::TooManyRules { max: RULES_MAX }, at))?;
        let position = Some((at.line, at.column));
        let origin = Origin { layer: voice.layer, source: at.name().clone(), position };
        Ok(Rule::new(action, pattern, effect, origin))
    }

    /// A pattern with the home directory put in.
    fn expanded(&self, pattern: &str, at: &Span) -> Result<String, ConfigError> {
        let Some(rest) = below_home(pattern) else { return Ok(pattern.to_owned()) };
        let home = self.home.ok_or_else(|| Located::new(Problem::NoHome, at))?;
        Ok(format!("{}{rest}", home.to_string_lossy().trim_end_matches('/')))
    }
}

/// Reads a value of a `permission` key that stands in no file.
pub(crate) fn permission_rules(
    value: &Value,
    env: &Env,
    layer: Layer,
    name: &str,
) -> Result<Vec<Rule>, ConfigError> {
    let mut rules = rules_of(&Text::new(name, &value.to_string())?, env.home().as_deref(), layer)?;
    // The text was made here: nobody can look up a place in it.
    rules.iter_mut().for_each(|rule| rule.origin.position = None);
    Ok(rules)
}

/// Reads a list of `{permission, pattern, action}` that stands in no file.
pub(crate) fn plain_rules(list: &Value, origin: &Origin) -> Result<Vec<Rule>, ConfigError> {
    permission_rules(list, &Env::default(), origin.layer, &origin.source)
}

/// Reads a file of rules that was named on the command line: a value of a `permission` key, or a list of rules.
pub(crate) fn permission_file(path: &Path, env: &Env) -> Result<Vec<Rule>, ConfigError> {
    let name = shown_path(path);
    let text = Text::read(&name, path)?.ok_or(ConfigError::Missing { variable: "--permission", name })?;
    rules_of(&text, env.home().as_deref(), Layer::Session)
}

fn rules_of(text: &Arc<Text>, home: Option<&Path>, layer: Layer) -> Result<Vec<Rule>, ConfigError> {
    let value = parse(text)?;
    let voice = Voice { family: Family::Haft, layer };
    Collector::new(home).permission(&value.span, &value, voice, &mut Warnings::default())
}

/// Whether a value is haft's `{"action": …, "why": …}` and not an object of patterns.
fn is_reasoned(value: &Node, voice: Voice) -> bool {
    voice.family == Family::Haft && value.get("action").is_some()
}

fn effect(value: &Node, expected: &'static str) -> Result<Effect, ConfigError> {
    let Some(word) = value.as_text() else { return Err(value.expected(expected)) };
    Effect::parse(word).ok_or_else(|| {
        let words = [Effect::Allow, Effect::Ask, Effect::Deny].map(Effect::as_str);
        let nearest = haft::nearest(word, words).map(str::to_owned);
        Located::new(Problem::Word { expected, found: value.described(), nearest }, &value.span).into()
    })
}

/// A host with its port as questions spell it.
fn private_host(text: &str) -> Option<String> {
    let (host, port) = text.rsplit_once(':')?;
    let is_port = port == "*" || port.parse::<u16>().is_ok_and(|port| port != 0);
    let is_host = !host.is_empty() && !host.contains(['*', '?', '/', '@', '#']);
    let address = Address::parse(&format!("http://{host}/")).ok().filter(|_| is_port && is_host)?;
    Some(format!("{}:{port}", address.host()))
}

fn spelled(key: &str) -> &str {
    SPELLINGS.iter().find(|(old, _)| *old == key).map_or(key, |(_, now)| now)
}

/// What follows the home directory in a pattern that begins with it.
fn below_home(pattern: &str) -> Option<&str> {
    let tilde = pattern.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    tilde.or_else(|| pattern.strip_prefix("$HOME").filter(|rest| !rest.starts_with(is_name)))
}
