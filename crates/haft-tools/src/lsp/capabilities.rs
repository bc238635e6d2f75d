//! What we tell a server that we are, and what it tells us that it can do.

use std::path::Path;

use serde_json::{Value, json};

use super::position::Units;
use super::pulling::Pulling;
use super::{address, answers};

/// What a server can do.
#[derive(Debug)]
pub(super) struct Capabilities {
    /// What it counts the characters of a line in.
    pub(super) units: Units,
    /// How it is asked what it finds, if it can be.
    pub(super) pulling: Option<Pulling>,
    /// Whether it wants to know when a file is saved.
    pub(super) wants_saves: bool,
    told: Value,
}

impl Capabilities {
    /// What a server told in answer to our introduction.
    pub(super) fn of(introduced: &Value) -> Capabilities {
        let told = introduced["capabilities"].clone();
        let is_there = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
        Capabilities {
            units: Units::chosen(told["positionEncoding"].as_str()),
            pulling: Pulling::of(&told),
            wants_saves: is_there(&told["textDocumentSync"]["save"]),
            told,
        }
    }

    /// Whether it says that it cannot do something. Some that can do not say so.
    pub(super) fn cannot(&self, provider: &str) -> bool {
        matches!(self.told.get(provider), None | Some(Value::Null | Value::Bool(false)))
    }
}

/// What a server is told when it is started.
///
/// No process is named as ours: in a namespace of its own a server would find it missing, and end. That it may be asked
/// for diagnostics is not said either, because some servers then keep to themselves what they find.
pub(super) fn introduction(root: &Path, initialization: &Value) -> Value {
    let links = json!({ "linkSupport": true });
    json!({
        "processId": null,
        "clientInfo": { "name": "haft", "version": env!("CARGO_PKG_VERSION") },
        "rootPath": root.to_string_lossy(),
        "rootUri": address::of(root),
        "workspaceFolders": answers::folders(root),
        "initializationOptions": initialization,
        "capabilities": {
            "general": { "positionEncodings": Units::OFFERED },
            "window": { "workDoneProgress": true },
            "workspace": {
                "configuration": true,
                "didChangeConfiguration": { "dynamicRegistration": true },
                "didChangeWatchedFiles": { "dynamicRegistration": true },
                "symbol": {},
                "workspaceFolders": true,
            },
            "textDocument": {
                "callHierarchy": {},
                "definition": links,
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                "hover": { "contentFormat": ["markdown", "plaintext"] },
                "implementation": links,
                "publishDiagnostics": { "versionSupport": true },
                "references": {},
                "synchronization": { "didSave": true },
            },
            // An extension by which a server says whether it has read the project.
            "experimental": { "serverStatusNotification": true },
        },
    })
}
