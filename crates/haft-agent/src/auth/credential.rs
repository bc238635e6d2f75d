//! What a plugin brought in when a person logged in through it, kept with the file it was got through.
//!
//! It belongs to that file: nobody else is given it, and nobody else may renew it.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

/// The largest credential, written as JSON.
const CREDENTIAL_BYTES_MAX: usize = 64 << 10;
/// What is secret in it.
const SECRETS: [&str; 3] = ["access", "key", "refresh"];
/// The kind of an entry that came through a plugin.
pub(super) const KIND: &str = "plugin";

/// A login through a plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct Login {
    /// The file of the plugin.
    pub file: PathBuf,
    /// What it brought in.
    pub credential: Credential,
}

/// What a plugin brought in, in opencode's words: `oauth` with two tokens, or `api` with a key. It is never shown.
#[derive(Clone, PartialEq)]
pub struct Credential(Map<String, Value>);

/// Why something is no credential. What it holds is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCredential {
    /// It is of no kind that is known.
    #[error("it is neither {{ type: \"oauth\", refresh, access, expires }} nor {{ type: \"api\", key }}")]
    Kind,
    /// It holds nothing.
    #[error("it holds no token and no key")]
    Empty,
    /// It is too large.
    #[error("it is larger than {CREDENTIAL_BYTES_MAX} bytes")]
    Large,
}

impl Credential {
    /// Takes what a plugin answers or stores. Fields that only it understands are kept.
    pub fn parse(value: &Value) -> Result<Credential, NoCredential> {
        let fields = value.as_object().ok_or(NoCredential::Kind)?;
        let is_text = |name: &str| fields.get(name).is_some_and(Value::is_string);
        let is_known = match fields.get("type").and_then(Value::as_str) {
            // Not every token can be renewed, or expires.
            Some("oauth") => is_text("refresh") || is_text("access"),
            Some("api") => is_text("key"),
            _ => false,
        };
        let credential = Credential(fields.clone());
        match is_known {
            false => Err(NoCredential::Kind),
            true if credential.secrets().next().is_none() => Err(NoCredential::Empty),
            true if value.to_string().len() > CREDENTIAL_BYTES_MAX => Err(NoCredential::Large),
            true => Ok(credential),
        }
    }

    /// A key, with what was asked for besides.
    pub fn of_key(key: &str, metadata: &Map<String, Value>) -> Result<Credential, NoCredential> {
        let mut value = json!({ "type": "api", "key": key });
        if !metadata.is_empty() {
            value["metadata"] = Value::Object(metadata.clone());
        }
        Credential::parse(&value)
    }

    /// As its plugin is given it, and nobody else.
    pub fn reveal(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// The key, if that is what it is.
    pub fn key(&self) -> Option<&str> {
        let is_key = self.0.get("type").is_some_and(|kind| kind == "api");
        self.0.get("key").filter(|_| is_key)?.as_str()
    }

    /// What of it must not be shown or written down elsewhere.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        SECRETS
            .iter()
            .filter_map(|name| self.0.get(*name)?.as_str())
            .filter(|secret| !secret.trim().is_empty())
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(…)")
    }
}

impl Login {
    /// Reads an entry of the file of keys.
    pub(super) fn of_entry(entry: &Value) -> Option<Login> {
        if entry["type"] != KIND {
            return None;
        }
        let file = PathBuf::from(entry["file"].as_str()?);
        Some(Login { file, credential: Credential::parse(&entry["auth"]).ok()? })
    }

    /// Writes it as one.
    pub(super) fn entry(&self) -> Value {
        json!({ "type": KIND, "file": self.file, "auth": self.credential.reveal() })
    }
}
