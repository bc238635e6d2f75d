//! What the configuration says apart from rules, with what holds where it says nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use haft::Limits;
use haft::preview::Budget;
use haft_store::JournalBounds;
use haft_tools::{DIAGNOSING_TIME, FORMATTING_TIME, ProgramEntry, ServerEntry};

use super::Config;
use super::agents::DEFAULT_AGENT;
use super::node::{Entry, Node};
use crate::paths::Env;
use crate::plugins;

/// Of the longer side of an image, in pixels: more than models make use of.
const IMAGE_SIDE_MAX: u32 = 2000;

/// How long outputs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retention {
    /// At least this many days.
    pub(crate) days: u32,
    /// As long as all of them together are not larger than this.
    pub(crate) bytes: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { days: 7, bytes: 1 << 30 }
    }
}

/// How deep agents give tasks to agents unless more is configured.
const SUBAGENT_DEPTH: u64 = 1;

/// How conversations are kept short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compaction {
    /// Whether a conversation that grew too long is summed up by itself.
    pub(crate) auto: bool,
    /// Whether old outputs of tools are left out.
    pub(crate) prune: bool,
}

/// What is said about how commands are confined.
#[derive(Debug, Default)]
pub(crate) struct SandboxWords<'c> {
    /// The name of a profile.
    pub(crate) profile: Option<&'c str>,
    /// What may be changed besides the workspace.
    pub(crate) writable: Vec<&'c str>,
    /// Whether commands have the network.
    pub(crate) network: bool,
    /// Hosts they may reach.
    pub(crate) hosts: Vec<&'c str>,
    /// How much memory one may use.
    pub(crate) memory_bytes: Option<u64>,
}

/// What is said about language servers.
#[derive(Debug, PartialEq)]
pub(crate) enum LanguageWords {
    /// Nothing: they answer questions, but nobody waits for them after a change.
    Silence,
    /// There are to be none.
    Off,
    /// They are to be used, and these as it is said.
    On(Vec<ServerEntry>),
}

/// What is said about a search service.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ServiceWords<'c> {
    /// Where it is.
    pub(crate) url: Option<&'c str>,
    /// The key that it is shown.
    pub(crate) key: Option<&'c str>,
}

/// A plugin that is named.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedPlugin {
    /// A path, an address of a file, or the name of a package.
    pub(crate) name: String,
    /// What it is given.
    pub(crate) options: serde_json::Value,
    /// The name of the source that names it.
    pub(crate) source: String,
}

/// What is said about how custom tools and plugins are run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PluginWords {
    /// Engines by the files they run.
    pub(crate) engines: Vec<(String, haft_plugin::Engine)>,
    /// How long a call may take.
    pub(crate) seconds: Option<u64>,
    /// How long code may run without a pause.
    pub(crate) busy_seconds: Option<u64>,
    /// How much memory it may use.
    pub(crate) memory_bytes: Option<u64>,
}

/// A feature that is off unless somebody asks for it.
struct Gate {
    flag: &'static str,
    /// Its key below `experimental`.
    key: &'static str,
    variables: &'static [&'static str],
}

const GATES: &[Gate] = &[
    Gate { flag: "batch", key: "batch_tool", variables: &[] },
    Gate {
        flag: "exa",
        key: "exa",
        variables: &["OPENCODE_ENABLE_EXA", "OPENCODE_EXPERIMENTAL_EXA", "OPENCODE_EXPERIMENTAL"],
    },
    Gate {
        flag: "lsp",
        key: "lsp_tool",
        variables: &["OPENCODE_EXPERIMENTAL_LSP_TOOL", "OPENCODE_EXPERIMENTAL"],
    },
    Gate {
        flag: "parallel",
        key: "parallel",
        variables: &["OPENCODE_ENABLE_PARALLEL", "OPENCODE_EXPERIMENTAL_PARALLEL"],
    },
    Gate {
        flag: "plan",
        key: "plan_mode",
        variables: &["OPENCODE_EXPERIMENTAL_PLAN_MODE", "OPENCODE_EXPERIMENTAL"],
    },
];

/// What the environment asks for apart from sources.
#[derive(Debug)]
pub(crate) struct AskedFor {
    flags: Vec<&'static str>,
    client: Option<String>,
}

impl AskedFor {
    /// Reads the variables.
    pub(crate) fn by(env: &Env) -> AskedFor {
        let is_on = |gate: &&Gate| gate.variables.iter().any(|variable| env.is_on(variable));
        AskedFor {
            flags: GATES.iter().filter(is_on).map(|gate| gate.flag).collect(),
            client: env.get("OPENCODE_CLIENT").map(|client| client.to_string_lossy().into_owned()),
        }
    }
}

impl Config {
    /// The limits of what a model is given. Which tool long reading is left to is not configured here.
    pub(crate) fn limits(&self) -> Limits {
        let shipped = Limits::default();
        let limit = |key, otherwise| {
            let count = self.count("tool_output", key);
            count.map_or(otherwise, |count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        Limits {
            text: Budget {
                lines: limit("max_lines", shipped.text.lines),
                bytes: limit("max_bytes", shipped.text.bytes),
            },
            media: limit("max_media_bytes", shipped.media),
            delegate: shipped.delegate,
        }
    }

    /// The longer side of an image that is shown as it is, in pixels.
    pub(crate) fn image_side_max(&self) -> u32 {
        let side = self.count("tool_output", "max_image_side");
        side.map_or(IMAGE_SIDE_MAX, |side| u32::try_from(side).unwrap_or(u32::MAX))
    }

    /// How long outputs are kept.
    pub(crate) fn retention(&self) -> Retention {
        let shipped = Retention::default();
        let days = self.count("retention", "days");
        Retention {
            days: days.map_or(shipped.days, |days| u32::try_from(days).unwrap_or(u32::MAX)),
            bytes: self.count("retention", "bytes").unwrap_or(shipped.bytes),
        }
    }

    /// How much is kept to undo changes with.
    pub(crate) fn journal(&self) -> JournalBounds {
        let shipped = JournalBounds::default();
        let days = self.count("journal", "days");
        JournalBounds {
            days: days.map_or(shipped.days, |days| u32::try_from(days).unwrap_or(u32::MAX)),
            bytes: self.count("journal", "bytes").unwrap_or(shipped.bytes),
        }
    }

    /// Whether a file has to be read in a session before it is changed there.
    pub(crate) fn require_read(&self) -> bool {
        self.get("files").and_then(|files| files.get("require_read")?.as_bool()) == Some(true)
    }

    /// The formatters that are configured; `None` if none is to be used, not even those that are built in.
    pub(crate) fn formatters(&self) -> Option<Vec<ProgramEntry>> {
        let formatter = self.get("formatter")?;
        let entry = |entry: &Entry| program(entry, "environment");
        match formatter.as_bool() {
            Some(false) => None,
            Some(true) | None => Some(formatter.entries().iter().map(entry).collect()),
        }
    }

    /// Whether language servers are wanted, and what is configured of them.
    pub(crate) fn languages(&self) -> LanguageWords {
        let Some(lsp) = self.get("lsp") else { return LanguageWords::Silence };
        let entry = |entry: &Entry| ServerEntry {
            program: program(entry, "env"),
            initialization: entry.value.get("initialization").map(Node::json),
        };
        match lsp.as_bool() {
            Some(false) => LanguageWords::Off,
            Some(true) | None => LanguageWords::On(lsp.entries().iter().map(entry).collect()),
        }
    }

    /// How much time language servers are given after a call.
    pub(crate) fn diagnosing_time(&self) -> Duration {
        self.count("files", "diagnose_seconds").map_or(DIAGNOSING_TIME, Duration::from_secs)
    }

    /// How much time formatters are given after a call.
    pub(crate) fn formatting_time(&self) -> Duration {
        self.count("files", "format_seconds").map_or(FORMATTING_TIME, Duration::from_secs)
    }

    /// The shell that runs scripts.
    pub(crate) fn shell(&self) -> Option<&str> {
        let shell = self.get("shell")?;
        shell.as_text().or_else(|| shell.get("program")?.as_text())
    }

    /// The milliseconds after which a command goes on in the background instead of being waited for.
    pub(crate) fn background_after(&self) -> Option<u64> {
        self.count("shell", "background_after")
    }

    /// How commands are confined.
    pub(crate) fn sandbox(&self) -> SandboxWords<'_> {
        let Some(sandbox) = self.get("sandbox") else { return SandboxWords::default() };
        let texts = |key: &str| {
            let list = sandbox.get(key).and_then(Node::as_list).unwrap_or_default();
            list.iter().filter_map(Node::as_text).collect()
        };
        SandboxWords {
            profile: sandbox.as_text().or_else(|| sandbox.get("profile")?.as_text()),
            writable: texts("writable"),
            network: sandbox.get("network").and_then(Node::as_bool) == Some(true),
            hosts: texts("hosts"),
            memory_bytes: sandbox.get("memory").and_then(Node::as_count),
        }
    }

    /// The features that are switched on: any of `batch`, `exa`, `lsp`, `parallel`, `plan`.
    pub(crate) fn flags(&self) -> BTreeSet<String> {
        let experimental = self.get("experimental");
        let is_configured =
            |gate: &&Gate| experimental.and_then(|table| table.get(gate.key)?.as_bool()) == Some(true);
        let configured = GATES.iter().filter(is_configured).map(|gate| gate.flag);
        configured.chain(self.asked_for.flags.iter().copied()).map(str::to_owned).collect()
    }

    /// The program that tools are told they serve: `OPENCODE_CLIENT`, the configured one, or the surface's own name.
    pub(crate) fn client(&self, surface: &str) -> String {
        let configured = || self.get("client").and_then(Node::as_text);
        self.asked_for.client.as_deref().or_else(configured).unwrap_or(surface).to_owned()
    }

    /// The agent that works when nobody names one.
    pub(crate) fn default_agent(&self) -> &str {
        self.get("default_agent").and_then(Node::as_text).unwrap_or(DEFAULT_AGENT)
    }

    /// How deep agents may give tasks to agents; zero means not at all.
    pub(crate) fn subagent_depth(&self) -> u64 {
        self.get("subagent_depth").and_then(Node::as_count).unwrap_or(SUBAGENT_DEPTH)
    }

    /// Paths and globs of instructions for the system prompt.
    pub(crate) fn instructions(&self) -> Vec<String> {
        self.get("instructions").map(Node::texts).unwrap_or_default()
    }

    /// How conversations are kept short.
    pub(crate) fn compaction(&self) -> Compaction {
        let is_on =
            |key: &str| self.get("compaction").and_then(|table| table.get(key)?.as_bool()) != Some(false);
        Compaction { auto: is_on("auto"), prune: is_on("prune") }
    }

    /// Tools that only the agents have that a person speaks to.
    pub(crate) fn primary_tools(&self) -> Vec<String> {
        self.get("experimental")
            .and_then(|table| table.get("primary_tools"))
            .map(Node::texts)
            .unwrap_or_default()
    }

    /// Whether a conversation goes on after the person declined a call.
    pub(crate) fn continues_on_deny(&self) -> bool {
        let switch = |table: &Node| table.get("continue_loop_on_deny").and_then(Node::as_bool);
        self.get("experimental").and_then(switch) == Some(true)
    }

    /// Who is to search the web.
    pub(crate) fn search_provider(&self) -> Option<&str> {
        self.get("websearch")?.get("provider")?.as_text()
    }

    /// What a table says about a search service.
    pub(crate) fn search_service(&self, table: &str, provider: &str) -> Option<ServiceWords<'_>> {
        let service = self.get(table)?.get(provider)?;
        let text = |key: &str| service.get(key)?.as_text();
        Some(ServiceWords { url: text("url"), key: text("key") })
    }

    /// Whether code is searched on this machine only.
    pub(crate) fn searches_code_locally(&self) -> bool {
        self.get("codesearch").and_then(|table| table.get("local")?.as_bool()) == Some(true)
    }

    /// The plugins that are named, in order.
    pub(crate) fn plugin_specs(&self) -> Vec<NamedPlugin> {
        named_plugins(&self.merged)
    }

    /// The plugins that only sources name whose directories are not trusted. They are told and not run.
    pub(crate) fn strange_plugins(&self) -> &[NamedPlugin] {
        &self.strange_plugins
    }

    /// How custom tools and plugins are run.
    pub(crate) fn plugin_words(&self) -> PluginWords {
        let engines = self.get("plugins").and_then(|words| words.get("engine")).map(Node::entries);
        let engine = |entry: &Entry| Some((entry.key.clone(), plugins::engine(entry.value.as_text()?)?));
        PluginWords {
            engines: engines.unwrap_or_default().iter().filter_map(engine).collect(),
            seconds: self.count("plugins", "seconds"),
            busy_seconds: self.count("plugins", "busy_seconds"),
            memory_bytes: self.count("plugins", "memory"),
        }
    }

    /// Further directories of skills, as they are written.
    pub(crate) fn skill_paths(&self) -> Vec<String> {
        self.get("skills").and_then(|skills| skills.get("paths")).map(Node::texts).unwrap_or_default()
    }

    /// Addresses that skills are installed from.
    pub(crate) fn skill_urls(&self) -> Vec<String> {
        self.get("skills").and_then(|skills| skills.get("urls")).map(Node::texts).unwrap_or_default()
    }

    fn count(&self, table: &str, key: &str) -> Option<u64> {
        self.get(table)?.get(key)?.as_count()
    }
}

/// The plugins that a document names, in order.
pub(super) fn named_plugins(document: &Node) -> Vec<NamedPlugin> {
    let items = document.get("plugin").and_then(Node::as_list).unwrap_or_default();
    let named = items.iter().filter_map(|item| {
        let (name, options) = match item.as_list() {
            Some([name, options]) => (name.as_text()?, options.json()),
            Some(_) => return None,
            None => (item.as_text()?, serde_json::Value::Null),
        };
        Some(NamedPlugin { name: name.to_owned(), options, source: item.span.name().to_string() })
    });
    named.collect()
}

/// A formatter or language server, whose variables stand under this key.
fn program(Entry { key, value, .. }: &Entry, environment: &str) -> ProgramEntry {
    ProgramEntry {
        name: key.clone(),
        disabled: value.get("disabled").and_then(Node::as_bool) == Some(true),
        command: value.get("command").map(Node::texts),
        environment: variables(value.get(environment)),
        extensions: value.get("extensions").map(Node::texts),
    }
}

fn variables(table: Option<&Node>) -> Vec<(String, String)> {
    let variable = |entry: &Entry| Some((entry.key.clone(), entry.value.as_text()?.to_owned()));
    table.map_or_else(Vec::new, |table| table.entries().iter().filter_map(variable).collect())
}
