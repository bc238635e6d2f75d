//! Keys that a person stored: one file that nobody else can read, in the shape that opencode gives its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::wire::Key;

/// The largest file of keys.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The stored keys. Loading them changes nothing.
pub struct Keys {
    path: PathBuf,
    entries: Map<String, Value>,
}

/// Why keys cannot be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The file cannot be read.
    #[error("could not read the keys in {path}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not what it should be. What it holds is not shown.
    #[error(
        "{path} is no file of keys (JSON of {{\"provider\": {{\"type\": \"api\", \"key\": …}}}}): repair or remove it"
    )]
    Malformed {
        /// The file.
        path: String,
    },
    /// The file cannot be written.
    #[error("could not write the keys to {path}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Keys {
    /// Reads the keys; there are none if there is no file.
    pub fn load(path: &Path) -> Result<Keys, AuthError> {
        Ok(Keys { path: path.to_path_buf(), entries: read(path)? })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A provider's key.
    pub fn get(&self, provider: &str) -> Option<Key> {
        let entry = self.entries.get(provider)?;
        if entry["type"] != "api" {
            return None;
        }
        Key::new(entry["key"].as_str()?)
    }

    /// The providers with a stored key.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str).filter(|provider| self.get(provider).is_some())
    }

    /// Stores a key.
    pub fn put(&mut self, provider: &str, key: &Key) -> Result<(), AuthError> {
        let entry = json!({ "type": "api", "key": key.reveal() });
        self.change(|entries| entries.insert(provider.to_owned(), entry)).map(|_| ())
    }

    /// Forgets a key; tells whether there was one.
    pub fn remove(&mut self, provider: &str) -> Result<bool, AuthError> {
        self.change(|entries| entries.shift_remove(provider)).map(|old| old.is_some())
    }

    /// Changes the file as it is now, which another process may have changed since it was loaded.
    fn change<T>(&mut self, change: impl FnOnce(&mut Map<String, Value>) -> T) -> Result<T, AuthError> {
        let failed = |source| AuthError::Write { path: self.path.display().to_string(), source };
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let lock = private().create(true).truncate(false).write(true).open(self.path.with_extension("lock"));
        let lock: File = lock.map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut entries = read(&self.path)?;
        let changed = change(&mut entries);
        write(&self.path, &entries).map_err(failed)?;
        self.entries = entries;
        Ok(changed)
    }
}

fn read(path: &Path) -> Result<Map<String, Value>, AuthError> {
    let shown = || path.display().to_string();
    let bytes = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX => {
            return Err(AuthError::Malformed { path: shown() });
        }
        Ok(_) => fs::read(path).map_err(|source| AuthError::Read { path: shown(), source })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(source) => return Err(AuthError::Read { path: shown(), source }),
    };
    serde_json::from_slice(&bytes).map_err(|_| AuthError::Malformed { path: shown() })
}

/// Writes the file whole or not at all, and never where others can read it meanwhile.
fn write(path: &Path, entries: &Map<String, Value>) -> io::Result<()> {
    let new = path.with_extension("new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = private().create_new(true).write(true).open(&new)?;
    writeln!(file, "{:#}", Value::Object(entries.clone()))?;
    file.sync_all()?;
    fs::rename(&new, path)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn keys_are_kept_for_their_owner_alone_and_strangers_entries_stay() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("data/auth.json");
        let mut keys = Keys::load(&path).unwrap();
        keys.put("openai", &Key::new(" sk-one\n").unwrap()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen('{', r#"{"x": {"type": "oauth", "refresh": "r"},"#, 1)).unwrap();

        let mut keys = Keys::load(&path).unwrap();
        keys.put("anthropic", &Key::new("sk-two").unwrap()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let keys_again = Keys::load(&path).unwrap();
        assert_eq!(keys_again.providers().collect::<Vec<_>>(), ["openai", "anthropic"]);
        assert_eq!(keys_again.get("openai").unwrap().reveal(), "sk-one");
        assert!(keys.remove("openai").unwrap() && !keys.remove("openai").unwrap());
        let json: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!((&json["x"]["refresh"], json.get("openai")), (&json!("r"), None));
    }

    #[test]
    fn a_file_that_is_none_is_not_shown_and_not_overwritten() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("auth.json");
        fs::write(&path, "sk-secret").unwrap();
        let error = Keys::load(&path).err().unwrap();
        assert!(!format!("{error:?} {error}").contains("sk-secret"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "sk-secret");
    }
}
