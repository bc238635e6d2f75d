//! Keys that a person stored, and logins through plugins: one file that nobody else can read, in the shape that
//! opencode gives its own. A login has a kind of its own in it, so it is never taken for a key of the person.

mod credential;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::wire::Key;
pub use credential::{Credential, Login, NoCredential};

/// The largest file of keys.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The stored keys. Loading them changes nothing.
pub struct Keys {
    path: PathBuf,
    entries: Map<String, Value>,
}

/// What a login may take the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Any login: the person chose another way.
    AnyLogin,
    /// Only what came through the same file.
    ItsOwn,
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

    /// What somebody brought in by logging in through a plugin.
    pub fn login(&self, provider: &str) -> Option<Login> {
        Login::of_entry(self.entries.get(provider)?)
    }

    /// The providers with a login through a plugin.
    pub fn logins(&self) -> impl Iterator<Item = (&str, Login)> {
        self.entries.iter().filter_map(|(provider, entry)| Some((provider.as_str(), Login::of_entry(entry)?)))
    }

    /// Stores a login, unless there is something of somebody else's: a key of the person, or another file's login that
    /// the person did not mean to replace. Tells whether it was stored.
    pub fn put_login(&mut self, provider: &str, login: &Login, over: Over) -> Result<bool, AuthError> {
        let entry = login.entry();
        self.change(|entries| {
            let may_be_replaced = entries.get(provider).is_none_or(|old| {
                Login::of_entry(old).is_some_and(|old| over == Over::AnyLogin || old.file == login.file)
            });
            may_be_replaced.then(|| entries.insert(provider.to_owned(), entry)).is_some()
        })
    }

    /// Renews a login, if it came through this very file. Tells whether it did.
    pub fn renew(&mut self, provider: &str, login: &Login) -> Result<bool, AuthError> {
        let entry = login.entry();
        self.change(|entries| match entries.get_mut(provider) {
            Some(old) if Login::of_entry(old).is_some_and(|old| old.file == login.file) => {
                *old = entry;
                true
            }
            Some(_) | None => false,
        })
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
    fn a_login_is_no_key_and_belongs_to_its_file() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("auth.json");
        fs::write(
            &path,
            r#"{"old": {"type": "api", "key": "sk-one"}, "x": {"type": "oauth", "refresh": "r"}}"#,
        )
        .unwrap();
        let login = |file: &str, access: &str| {
            Login {
            file: file.into(),
            credential: Credential::parse(
                &json!({ "type": "oauth", "refresh": "r1", "access": access, "expires": 1, "accountId": "a" }),
            )
            .unwrap(),
        }
        };
        let mut keys = Keys::load(&path).unwrap();
        assert!(keys.put_login("acme", &login("/p/a.js", "one"), Over::ItsOwn).unwrap());
        assert_eq!(keys.get("acme"), None);
        assert_eq!(keys.providers().collect::<Vec<_>>(), ["old"]);
        assert_eq!(Keys::load(&path).unwrap().login("acme"), Some(login("/p/a.js", "one")));

        assert!(!keys.renew("acme", &login("/p/b.js", "stolen")).unwrap(), "another file's");
        assert!(!keys.renew("old", &login("/p/a.js", "two")).unwrap(), "a key of the person's own");
        assert!(!keys.renew("none", &login("/p/a.js", "two")).unwrap(), "nobody logged in");
        assert!(!keys.put_login("old", &login("/p/a.js", "two"), Over::AnyLogin).unwrap());
        assert!(
            !keys.put_login("x", &login("/p/a.js", "two"), Over::AnyLogin).unwrap(),
            "a stranger's entry"
        );
        assert!(!keys.put_login("acme", &login("/p/b.js", "two"), Over::ItsOwn).unwrap());
        assert!(keys.renew("acme", &login("/p/a.js", "two")).unwrap());
        let kept = Keys::load(&path).unwrap().login("acme").unwrap().credential;
        assert_eq!(kept.secrets().collect::<Vec<_>>(), ["two", "r1"]);
        assert_eq!(kept.reveal()["accountId"], "a");
        assert!(!format!("{:?}", keys.login("acme")).contains("two"));
        assert!(keys.put_login("acme", &login("/p/b.js", "three"), Over::AnyLogin).unwrap());
        assert!(keys.remove("acme").unwrap() && keys.login("acme").is_none());
        for nothing in [json!("k"), json!({ "type": "api" }), json!({ "type": "oauth", "access": 7 })] {
            assert_eq!(Credential::parse(&nothing), Err(NoCredential::Kind), "{nothing}");
        }
        assert_eq!(Credential::parse(&json!({ "type": "api", "key": " " })), Err(NoCredential::Empty));
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
