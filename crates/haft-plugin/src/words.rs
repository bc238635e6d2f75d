//! What a host says, in the words of the protocol.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A line of a host.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum FromHost {
    Asked(Asked),
    Said(Said),
    Answered(Answered),
}

/// An answer to what haft asked.
#[derive(Debug, Deserialize)]
pub(crate) struct Answered {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) ok: Value,
    pub(crate) error: Option<Problem>,
}

/// Something that a host asks of haft.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    pub(crate) ask: u64,
    #[serde(flatten)]
    pub(crate) wish: Wish,
    /// The request on whose behalf it asks.
    #[serde(rename = "for")]
    pub(crate) about: Option<u64>,
}

/// What a host can ask for.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "op", content = "with", rename_all = "lowercase")]
pub enum Wish {
    /// Something of the web.
    Fetch(Fetch),
    /// Consent of a tool's own asking.
    Permission(Permission),
    /// Something done to a file that the host itself may not touch.
    File(FileWish),
    /// A function of opencode's client.
    Client(ClientCall),
    /// What was said in the session of the call, as far as it still counts.
    Messages,
    /// What was got by logging in through the file that the host serves.
    Auth(AuthWish),
    /// The next bytes of something of the web that is still arriving.
    Read(Streamed),
    /// The end of interest in it.
    Drop(Streamed),
    /// JavaScript of TypeScript, for a runtime that does not know it.
    Strip(Strip),
    /// Modules of our own, for a runtime that has no packages installed.
    Module(OwnModules),
    /// An op that this haft does not know.
    #[serde(other, deserialize_with = "Wish::ignored")]
    Unknown,
}

impl Wish {
    fn ignored<'de, D: serde::Deserializer<'de>>(from: D) -> Result<(), D::Error> {
        serde::de::IgnoredAny::deserialize(from).map(drop)
    }
}

/// A request to the web.
#[derive(Debug, Clone, Deserialize)]
pub struct Fetch {
    /// The address.
    pub url: String,
    /// The method; GET unless given.
    #[serde(default)]
    pub method: Option<String>,
    /// Headers, each a name and a value.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body, in base64.
    #[serde(default)]
    pub body: Option<String>,
    /// What to do about redirects: `follow`, `manual` or `error`.
    #[serde(default)]
    pub redirect: Option<String>,
}

/// What a tool asks of its own accord.
#[derive(Debug, Clone, Deserialize)]
pub struct Permission {
    /// The action.
    pub permission: String,
    /// What it is done to.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// What an "always" would allow.
    #[serde(default)]
    pub always: Vec<String>,
    /// Facts for whoever is asked.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// Something of the web that is still arriving.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Streamed {
    /// By what it is known.
    pub stream: u64,
}

/// A credential that a loader wants to know.
#[derive(Debug, Clone, Deserialize)]
pub struct AuthWish {
    /// For which provider.
    pub provider: String,
}

/// Something to be done to a file that the host itself may not touch.
#[derive(Debug, Clone, Deserialize)]
pub struct FileWish {
    /// What is to be done, as node calls it: `readFile`, `writeFile`, `stat`, `readdir`, `mkdir`, `unlink` …
    pub op: String,
    /// To what.
    pub path: PathBuf,
    /// The content to write, in base64.
    #[serde(default)]
    pub data: Option<String>,
    /// Whether a link stands for what it leads to.
    #[serde(default = "yes")]
    pub follow: bool,
    /// Whether it is added to what is there.
    #[serde(default)]
    pub append: bool,
}

fn yes() -> bool {
    true
}

/// TypeScript whose types are to be taken away.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Strip {
    /// The file it was read from, for the source map. Nothing is read.
    pub path: PathBuf,
    /// Its text.
    pub source: String,
}

/// Modules of our own.
#[derive(Debug, Clone, Deserialize)]
pub struct OwnModules {
    /// The folder they are in: `zod`.
    pub name: String,
}

/// A function of opencode's client, such as `session.messages`.
#[derive(Debug, Clone, Deserialize)]
pub struct ClientCall {
    /// The names on the way to it, with dots between.
    pub path: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<Value>,
}

/// Something that a host says and that has no answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "say", rename_all = "lowercase")]
pub enum Said {
    /// A line for the log.
    Log {
        /// How important it is: `debug`, `info`, `notice` (which a person is meant to see), `warn` or `error`.
        level: String,
        /// The line.
        text: String,
    },
    /// Facts about a call under way.
    Metadata {
        /// The request that is the call.
        #[serde(rename = "for")]
        about: u64,
        /// A few words for a person.
        #[serde(default)]
        title: Option<String>,
        /// The facts.
        #[serde(default)]
        metadata: Map<String, Value>,
    },
}

/// Why a host could not do what it was asked to.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Problem {
    /// The file cannot be loaded.
    Load {
        message: String,
        #[serde(default)]
        file: Option<PathBuf>,
        #[serde(default)]
        line: Option<u32>,
        #[serde(default)]
        column: Option<u32>,
        #[serde(default)]
        fix: Option<String>,
        /// The export that is wrong, where no place in the code is known.
        #[serde(default)]
        export: Option<String>,
    },
    /// Something that it imports is not there.
    Module {
        message: String,
        module: String,
        #[serde(default)]
        file: Option<PathBuf>,
        #[serde(default)]
        line: Option<u32>,
        #[serde(default)]
        column: Option<u32>,
        /// Whether another engine might have it.
        #[serde(default)]
        unsupported: bool,
    },
    /// The arguments are not what the tool takes.
    Input {
        #[serde(default)]
        issues: Vec<InputIssue>,
        #[serde(default)]
        message: Option<String>,
    },
    /// Its code threw something.
    Failure {
        /// The class of what was thrown.
        #[serde(default)]
        name: Option<String>,
        message: String,
        /// Where in its code, innermost first.
        #[serde(default)]
        stack: Option<String>,
    },
    /// The engine itself failed.
    Defect { message: String },
    /// It did not understand what it was told.
    Protocol { message: String },
}

/// Something wrong with the arguments of a tool.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct InputIssue {
    #[serde(default)]
    pub(crate) path: Vec<Value>,
    pub(crate) message: String,
}

/// What a file offers, as its host found by loading it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Its tools.
    #[serde(default)]
    pub tools: Vec<LoadedTool>,
    /// The names of its hooks.
    #[serde(default)]
    pub hooks: Vec<String>,
    /// What it exports besides, and why that is nothing to haft.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// Tools that cannot be offered, and why.
    #[serde(default)]
    pub faulty: Vec<Skipped>,
    /// How it lets people log in.
    #[serde(default)]
    pub auth: Vec<AuthOffer>,
    /// The providers whose models it knows.
    #[serde(default)]
    pub models: Vec<String>,
    /// Every file that was read to load it.
    #[serde(default)]
    pub modules: Vec<PathBuf>,
}

/// How a file lets people log in to a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthOffer {
    /// The provider.
    pub provider: String,
    /// Whether it says what requests need.
    #[serde(default)]
    pub loads: bool,
    /// The ways to log in.
    #[serde(default)]
    pub methods: Vec<AuthMethod>,
}

/// A way to log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthMethod {
    /// Its place among the methods of its file.
    pub at: usize,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: AuthKind,
    /// Its name for people.
    pub label: String,
    /// What a person is asked first.
    #[serde(default)]
    pub prompts: Vec<AuthPrompt>,
}

/// A kind of logging in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthKind {
    /// At an address, whence tokens come back.
    Oauth,
    /// With a key.
    Api,
}

/// Something a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthPrompt {
    /// The name of the answer.
    pub key: String,
    /// The question.
    pub message: String,
    /// An example of an answer.
    #[serde(default)]
    pub placeholder: Option<String>,
    /// The answers there are; any text if there are none.
    #[serde(default)]
    pub options: Vec<AuthOption>,
    /// Whether it depends on other answers.
    #[serde(default)]
    pub conditional: bool,
    /// Whether the answer is checked.
    #[serde(default)]
    pub checked: bool,
}

/// One answer of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthOption {
    /// Its name for people.
    pub label: String,
    /// What it stands for.
    pub value: String,
    /// What it means.
    #[serde(default)]
    pub hint: Option<String>,
}

/// A tool of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadedTool {
    /// The name of its export, or its name in a plugin.
    pub key: String,
    /// What the model is told it does.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
    /// Whether it checks its arguments itself, and says in its own words what is wrong with them.
    #[serde(default)]
    pub judges: bool,
}

/// An export that is nothing to haft.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its name.
    pub export: String,
    /// Why.
    pub why: String,
    /// The argument of a tool that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
}

/// What a tool returned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Returned {
    #[serde(default)]
    pub(crate) output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) metadata: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) attachments: Vec<Attachment>,
}

/// A file that a tool returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attachment {
    #[serde(default)]
    pub(crate) mime: String,
    pub(crate) url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) filename: Option<String>,
}
