//! The keys that a configuration may hold. What haft does not use may hold anything.

use haft_tools::web::Address;

use super::commands;
use super::discover::Family;
use super::error::{ConfigError, Located, Problem, shown};
use super::node::{Entry, Kind, Node};
use super::warning::Warnings;

/// Nobody waits longer than this for what follows a change.
const SECONDS_MAX: u64 = 3600;

/// A key, and what belongs under it.
struct Key {
    name: &'static str,
    holds: Holds,
    readers: Readers,
}

/// Who reads a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    /// opencode, and haft in its files too.
    Both,
    /// haft alone; in a file of opencode it is unknown.
    Haft,
}

/// What belongs under a key.
enum Holds {
    /// Anything: it is read elsewhere, or not at all.
    Any,
    /// `true` or `false`.
    Switch,
    /// A whole number above zero.
    Count,
    /// Seconds that somebody waits: a whole number from one to an hour.
    Seconds,
    /// A whole number, which may be zero.
    Whole,
    /// A number.
    Number,
    /// A text.
    Text,
    /// An address of the web.
    Address,
    /// One of these words.
    Word(&'static [&'static str], &'static str),
    /// A list.
    List,
    /// An object of anything.
    Table,
    /// These keys and no others.
    Keys(&'static [Key]),
    /// A text, or these keys and no others.
    TextOrKeys(&'static [Key]),
    /// A table of custom commands, which hold these keys and no others.
    Commands(&'static [Key]),
    /// A table of things that may hold these keys and others.
    Named(&'static [Key]),
    /// `true` or `false`, or a table of things that hold these keys and no others.
    SwitchOrNamed(&'static [Key]),
    /// A list of texts.
    Texts(Texts),
    /// A table of texts.
    TextsByName,
    /// A list of plugins: each a text, or a text and what it is given.
    Plugins,
    /// A table of engines by the files they run.
    EnginesByFile,
}

/// What the texts of a list must be.
#[derive(Clone, Copy)]
enum Texts {
    /// Anything.
    Any,
    /// A command that names the file it is for.
    CommandOnFile,
    /// Endings of names.
    Endings,
    /// A command.
    Command,
}

impl Texts {
    fn expected(self) -> &'static str {
        match self {
            Texts::Any => "an array of texts",
            Texts::CommandOnFile => "an array of texts with \"$FILE\" in one of its arguments",
            Texts::Endings => "an array of texts that begin with a dot",
            Texts::Command => "an array of texts, the program first",
        }
    }

    fn are(self, texts: &[&str]) -> bool {
        match self {
            Texts::Any => true,
            Texts::CommandOnFile => texts.iter().skip(1).any(|text| text.contains("$FILE")),
            Texts::Endings => texts.iter().all(|text| text.starts_with('.')),
            Texts::Command => texts.first().is_some_and(|program| !program.is_empty()),
        }
    }
}

const fn both(name: &'static str, holds: Holds) -> Key {
    Key { name, holds, readers: Readers::Both }
}

const fn haft(name: &'static str, holds: Holds) -> Key {
    Key { name, holds, readers: Readers::Haft }
}

const AGENT: &[Key] = &[
    both("color", Holds::Any),
    both("description", Holds::Text),
    both("disable", Holds::Switch),
    both("hidden", Holds::Switch),
    both("maxSteps", Holds::Count),
    both("mode", Holds::Word(&["primary", "subagent", "all"], "\"primary\", \"subagent\" or \"all\"")),
    both("model", Holds::Text),
    both("options", Holds::Any),
    both("prompt", Holds::Text),
    both("steps", Holds::Count),
    both("temperature", Holds::Number),
    both("top_p", Holds::Number),
    both("variant", Holds::Text),
];

/// Whether a key of an agent means something by itself; others are passed on to the model's provider.
pub(crate) fn is_of_agent(key: &str) -> bool {
    AGENT.iter().any(|known| known.name == key)
}

const COMMAND: &[Key] = &[
    both("agent", Holds::Text),
    both("description", Holds::Text),
    both("model", Holds::Text),
    both("subtask", Holds::Switch),
    both(commands::TEMPLATE, Holds::Text),
];

const COMPACTION: &[Key] = &[
    both("auto", Holds::Switch),
    both("model", Holds::Any),
    both("prune", Holds::Switch),
    both("reserved", Holds::Any),
    both("tail_turns", Holds::Any),
];

const SKILLS: &[Key] = &[both("paths", Holds::Texts(Texts::Any)), both("urls", Holds::Texts(Texts::Any))];

const PROVIDER: &[Key] = &[
    both("env", Holds::Texts(Texts::Any)),
    both("models", Holds::Table),
    both("npm", Holds::Text),
    both("options", Holds::Table),
];

const TOOL_OUTPUT: &[Key] = &[
    both("max_lines", Holds::Count),
    both("max_bytes", Holds::Count),
    haft("max_media_bytes", Holds::Count),
    haft("max_image_side", Holds::Count),
];

const RETENTION: &[Key] = &[haft("days", Holds::Count), haft("bytes", Holds::Count)];

const EXPERIMENTAL: &[Key] = &[
    both("batch_tool", Holds::Switch),
    both("chatMaxRetries", Holds::Any),
    both("continue_loop_on_deny", Holds::Switch),
    both("disable_paste_summary", Holds::Any),
    haft("exa", Holds::Switch),
    both("hook", Holds::Any),
    haft("lsp_tool", Holds::Switch),
    both("mcp_timeout", Holds::Count),
    both("openTelemetry", Holds::Any),
    haft("parallel", Holds::Switch),
    haft("plan_mode", Holds::Switch),
    both("policies", Holds::Any),
    both("primary_tools", Holds::Texts(Texts::Any)),
];

const FILES: &[Key] = &[
    haft("diagnose_seconds", Holds::Seconds),
    haft("format_seconds", Holds::Seconds),
    haft("require_read", Holds::Switch),
];

const FORMATTER: &[Key] = &[
    both("command", Holds::Texts(Texts::CommandOnFile)),
    both("disabled", Holds::Switch),
    both("environment", Holds::TextsByName),
    both("extensions", Holds::Texts(Texts::Endings)),
];

const LSP: &[Key] = &[
    both("command", Holds::Texts(Texts::Command)),
    both("disabled", Holds::Switch),
    both("env", Holds::TextsByName),
    both("extensions", Holds::Texts(Texts::Endings)),
    both("initialization", Holds::Any),
];

/// The name of a profile, or all of this.
const SANDBOX: &[Key] = &[
    haft("hosts", Holds::Texts(Texts::Any)),
    haft("memory", Holds::Count),
    haft("network", Holds::Switch),
    haft("profile", Holds::Text),
    haft("writable", Holds::Texts(Texts::Any)),
];
/// The program, or all of this.
const SHELL: &[Key] = &[haft("program", Holds::Text), haft("background_after", Holds::Count)];
const WEBFETCH: &[Key] = &[haft("allow_private", Holds::List)];

const SEARCH_SERVICE: &[Key] = &[haft("key", Holds::Text), haft("url", Holds::Address)];
const CODESEARCH: &[Key] = &[haft("exa", Holds::Keys(SEARCH_SERVICE)), haft("local", Holds::Switch)];
const WEBSEARCH: &[Key] = &[
    haft("exa", Holds::Keys(SEARCH_SERVICE)),
    haft("parallel", Holds::Keys(SEARCH_SERVICE)),
    haft("provider", Holds::Word(&["exa", "parallel"], "\"exa\" or \"parallel\"")),
];

/// What is said about custom tools and plugins, by which engine they are run and how far they may go.
const PLUGINS: &[Key] = &[
    haft("busy_seconds", Holds::Seconds),
    haft("engine", Holds::EnginesByFile),
    haft("memory", Holds::Count),
    haft("seconds", Holds::Seconds),
];

/// The keys at the top.
const TOP: &[Key] = &[
    both("$schema", Holds::Any),
    both("agent", Holds::Named(AGENT)),
    both("attachment", Holds::Any),
    both("autoshare", Holds::Any),
    both("autoupdate", Holds::Any),
    haft("client", Holds::Text),
    haft("codesearch", Holds::Keys(CODESEARCH)),
    both(commands::TABLE, Holds::Commands(COMMAND)),
    both("compaction", Holds::Keys(COMPACTION)),
    both("default_agent", Holds::Text),
    both("disabled_providers", Holds::Texts(Texts::Any)),
    both("enabled_providers", Holds::Texts(Texts::Any)),
    both("enterprise", Holds::Any),
    both("experimental", Holds::Keys(EXPERIMENTAL)),
    haft("files", Holds::Keys(FILES)),
    both("formatter", Holds::SwitchOrNamed(FORMATTER)),
    both("instructions", Holds::Texts(Texts::Any)),
    haft("journal", Holds::Keys(RETENTION)),
    both("keybinds", Holds::Any),
    both("layout", Holds::Any),
    both("logLevel", Holds::Any),
    both("lsp", Holds::SwitchOrNamed(LSP)),
    both("mcp", Holds::Any),
    both("mode", Holds::Named(AGENT)),
    both("model", Holds::Text),
    both("permission", Holds::Any),
    both("plugin", Holds::Plugins),
    haft("plugins", Holds::Keys(PLUGINS)),
    both("provider", Holds::Named(PROVIDER)),
    both("reference", Holds::Any),
    haft("retention", Holds::Keys(RETENTION)),
    haft("sandbox", Holds::TextOrKeys(SANDBOX)),
    both("server", Holds::Any),
    both("share", Holds::Any),
    both("shell", Holds::TextOrKeys(SHELL)),
    both("skills", Holds::Keys(SKILLS)),
    both("small_model", Holds::Text),
    both("snapshot", Holds::Any),
    haft("store", Holds::Any),
    both("subagent_depth", Holds::Whole),
    haft("telemetry", Holds::Any),
    both("theme", Holds::Any),
    both("tool_output", Holds::Keys(TOOL_OUTPUT)),
    both("tools", Holds::Any),
    both("tui", Holds::Any),
    both("username", Holds::Any),
    both("watcher", Holds::Any),
    haft("webfetch", Holds::Keys(WEBFETCH)),
    haft("websearch", Holds::Keys(WEBSEARCH)),
];

/// Checks the root of a source. Keys that nothing reads are an error in haft's own files and a warning in others.
pub(crate) fn check(root: &Node, family: Family, warnings: &mut Warnings) -> Result<(), ConfigError> {
    check_keys(root, TOP, family, warnings)
}

fn check_keys(node: &Node, keys: &[Key], family: Family, warnings: &mut Warnings) -> Result<(), ConfigError> {
    let Kind::Object(entries) = &node.kind else { return Err(node.expected("an object")) };
    let readable = || keys.iter().filter(|key| family == Family::Haft || key.readers == Readers::Both);
    for Entry { key, at, value } in entries {
        if let Some(known) = readable().find(|known| known.name == key) {
            check_value(value, &known.holds, family, warnings)?;
            continue;
        }
        let unknown = || {
            let nearest = haft::nearest(key, readable().map(|known| known.name)).map(str::to_owned);
            Problem::UnknownKey { key: at.shown(), nearest }
        };
        match family {
            Family::Haft => return Err(Located::new(unknown(), at).into()),
            Family::Opencode => warnings.add(at, unknown),
        }
    }
    Ok(())
}

fn check_value(
    value: &Node,
    holds: &Holds,
    family: Family,
    warnings: &mut Warnings,
) -> Result<(), ConfigError> {
    let expected = match holds {
        Holds::Any => None,
        Holds::Switch => value.as_bool().is_none().then_some("true or false"),
        Holds::Count => {
            value.as_count().is_none_or(|count| count == 0).then_some("a whole number above zero")
        }
        Holds::Seconds => {
            let is_out = |seconds| !(1..=SECONDS_MAX).contains(&seconds);
            value.as_count().is_none_or(is_out).then_some("a whole number of seconds from 1 to 3600")
        }
        Holds::Whole => value.as_count().is_none().then_some("a whole number"),
        Holds::Number => (!matches!(value.kind, Kind::Number(_))).then_some("a number"),
        Holds::Text => value.as_text().is_none().then_some("a text"),
        Holds::Address => return check_address(value),
        Holds::Word(words, expected) => return check_word(value, words, expected),
        Holds::List => (!matches!(value.kind, Kind::List(_))).then_some("an array"),
        Holds::Table => (!matches!(value.kind, Kind::Object(_))).then_some("an object"),
        Holds::TextOrKeys(_) if value.as_text().is_some() => None,
        Holds::Keys(keys) | Holds::TextOrKeys(keys) => return check_keys(value, keys, family, warnings),
        Holds::Commands(keys) => return check_commands(value, keys, family, warnings),
        Holds::Named(keys) => return check_named(value, keys, family, warnings),
        Holds::SwitchOrNamed(_) if value.as_bool().is_some() => None,
        Holds::SwitchOrNamed(keys) => match &value.kind {
            Kind::Object(things) => {
                return things.iter().try_for_each(|thing| check_keys(&thing.value, keys, family, warnings));
            }
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => {
                Some("true, false or an object")
            }
        },
        Holds::Plugins => return check_plugins(value),
        Holds::EnginesByFile => {
            let Kind::Object(entries) = &value.kind else { return Err(value.expected("an object")) };
            let engine = |entry: &Entry| check_word(&entry.value, &["embedded", "bun", "node"], ENGINE);
            return entries.iter().try_for_each(engine);
        }
        Holds::Texts(must) => return check_texts(value, *must),
        Holds::TextsByName => {
            check_all_texts(value.entries().iter().map(|entry| &entry.value))?;
            (!matches!(value.kind, Kind::Object(_))).then_some("an object of texts")
        }
    };
    expected.map_or(Ok(()), |expected| Err(value.expected(expected)))
}

/// What runs the code of plugins.
const ENGINE: &str = "\"embedded\", \"bun\" or \"node\"";

fn check_plugins(value: &Node) -> Result<(), ConfigError> {
    let Some(items) = value.as_list() else { return Err(value.expected("an array")) };
    let is_named = |item: &Node| match &item.kind {
        Kind::Text(name) => !name.is_empty(),
        Kind::List(pair) => {
            matches!(pair.as_slice(), [name, _] if name.as_text().is_some_and(|name| !name.is_empty()))
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Object(_) => false,
    };
    match items.iter().find(|item| !is_named(item)) {
        Some(item) => Err(item.expected("the name of a plugin, or an array of its name and its options")),
        None => Ok(()),
    }
}

fn check_texts(value: &Node, must: Texts) -> Result<(), ConfigError> {
    let Some(items) = value.as_list() else { return Err(value.expected(must.expected())) };
    check_all_texts(items.iter())?;
    let texts: Vec<&str> = items.iter().filter_map(Node::as_text).collect();
    if must.are(&texts) { Ok(()) } else { Err(value.expected(must.expected())) }
}

/// What is no text is told where it stands.
fn check_all_texts<'n>(mut items: impl Iterator<Item = &'n Node>) -> Result<(), ConfigError> {
    items.find(|item| item.as_text().is_none()).map_or(Ok(()), |item| Err(item.expected("a text")))
}

fn check_address(value: &Node) -> Result<(), ConfigError> {
    let Some(text) = value.as_text() else { return Err(value.expected("a text")) };
    let wrong = |problem| Located::new(Problem::Address(problem), &value.span).into();
    Address::parse(text).map(drop).map_err(wrong)
}

fn check_word(value: &Node, words: &[&str], expected: &'static str) -> Result<(), ConfigError> {
    let Some(word) = value.as_text() else { return Err(value.expected(expected)) };
    if words.contains(&word) {
        return Ok(());
    }
    let nearest = haft::nearest(word, words.iter().copied()).map(str::to_owned);
    Err(Located::new(Problem::Word { expected, found: value.described(), nearest }, &value.span).into())
}

fn check_commands(
    table: &Node,
    keys: &[Key],
    family: Family,
    warnings: &mut Warnings,
) -> Result<(), ConfigError> {
    let Kind::Object(entries) = &table.kind else { return Err(table.expected("an object")) };
    for Entry { key, at, value } in entries {
        let misnamed = || {
            // What stands in a file of its own is named by that.
            let name = if at.shown().is_empty() { shown(key) } else { at.shown() };
            Problem::CommandName { name }
        };
        match (commands::is_name(key), family) {
            (true, _) => {}
            (false, Family::Haft) => return Err(Located::new(misnamed(), at).into()),
            (false, Family::Opencode) => warnings.add(at, misnamed),
        }
        check_keys(value, keys, family, warnings)?;
        commands::check_template(value)?;
    }
    Ok(())
}

/// Checks one custom command of a file for opencode.
pub(super) fn check_command(command: &Node, warnings: &mut Warnings) -> Result<(), ConfigError> {
    check_keys(command, COMMAND, Family::Opencode, warnings)?;
    commands::check_template(command)
}

fn check_named(
    table: &Node,
    keys: &[Key],
    family: Family,
    warnings: &mut Warnings,
) -> Result<(), ConfigError> {
    let Kind::Object(things) = &table.kind else { return Err(table.expected("an object")) };
    for Entry { value: thing, .. } in things {
        let Kind::Object(fields) = &thing.kind else { return Err(thing.expected("an object")) };
        for Entry { key, value, .. } in fields {
            let known = keys.iter().find(|known| known.name == key);
            known.map_or(Ok(()), |known| check_value(value, &known.holds, family, warnings))?;
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Holds, Key, TOP};

    /// Every key that haft reads, as a dotted path.
    pub(crate) fn known_paths() -> Vec<String> {
        fn walk(prefix: &str, keys: &[Key], found: &mut Vec<String>) {
            for key in keys {
                let path = format!("{prefix}{}", key.name);
                match key.holds {
                    Holds::Keys(keys) | Holds::TextOrKeys(keys) => walk(&format!("{path}."), keys, found),
                    Holds::Named(keys) | Holds::SwitchOrNamed(keys) | Holds::Commands(keys) => {
                        walk(&format!("{path}.*."), keys, found);
                    }
                    Holds::Texts(_)
                    | Holds::TextsByName
                    | Holds::Plugins
                    | Holds::EnginesByFile
                    | Holds::Any
                    | Holds::Switch
                    | Holds::Count
                    | Holds::Seconds
                    | Holds::Whole
                    | Holds::Number
                    | Holds::Word(..)
                    | Holds::Text
                    | Holds::Address
                    | Holds::List
                    | Holds::Table => {}
                }
                found.push(path);
            }
        }
        let mut found = Vec::new();
        walk("", TOP, &mut found);
        found
    }
}
