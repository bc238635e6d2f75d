//! What plugins brought in, given back to the file it was got through and to nobody else.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_agent::auth::{AuthError, Credential, Keys, Login, Over};
use haft_plugin::ClientCall;
use haft_store::Redactor;
use serde_json::Value;

/// Logins through plugins, as they are on the disk now: another process may have renewed one.
pub(crate) struct Credentials {
    path: PathBuf,
    redactor: Redactor,
    /// The file through which the person logs in just now, and to what.
    under_way: Mutex<Option<(PathBuf, String)>>,
}

/// Why a credential was not stored. What it holds is not shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unrenewed {
    /// The call names no provider.
    #[error("client.auth.set takes {{ path: {{ id }}, body }}")]
    Nameless,
    /// It is none.
    #[error("what is to be stored is no credential: {0}")]
    Nothing(#[from] haft_agent::auth::NoCredential),
    /// It is somebody else's.
    #[error(
        "nobody logged in to {0} through this file, so it stores nothing there; run `haft auth login {0}`"
    )]
    Foreign(String),
    /// It could not be written.
    #[error(transparent)]
    Store(#[from] AuthError),
}

impl Credentials {
    /// Those of a file of keys. What becomes known of them is kept out of everything that this redactor sees.
    pub(crate) fn new(path: PathBuf, redactor: Redactor) -> Credentials {
        Credentials { path, redactor, under_way: Mutex::default() }
    }

    /// The person logs in through this file: what it stores for this provider from now on is what they want.
    pub(crate) fn begin(&self, provider: &str, file: &Path) {
        *self.under_way() = Some((file.to_owned(), provider.to_owned()));
    }

    fn under_way(&self) -> MutexGuard<'_, Option<(PathBuf, String)>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was brought in for a provider, if it came through this very file.
    pub(crate) fn of(&self, provider: &str, file: &Path) -> Result<Option<Credential>, AuthError> {
        let login = Keys::load(&self.path)?.login(provider).filter(|login| login.file == file);
        let credential = login.map(|login| login.credential);
        self.redactor.learn(credential.iter().flat_map(Credential::secrets));
        Ok(credential)
    }

    /// Stores what a file wants to have stored in the place of what it brought in.
    pub(crate) fn renew(&self, call: &ClientCall, file: &Path) -> Result<(), Unrenewed> {
        let given = call.args.first().unwrap_or(&Value::Null);
        let id = [&given["path"]["id"], &given["path"]["providerID"], &given["providerID"]];
        let id = id.into_iter().find_map(Value::as_str).ok_or(Unrenewed::Nameless)?;
        let body = given.get("body").or_else(|| given.get("auth")).unwrap_or(&Value::Null);
        let credential = Credential::parse(body)?;
        // Also what is refused must not be shown.
        self.redactor.learn(credential.secrets());
        let login = Login { file: file.to_owned(), credential };
        let is_wanted = self.under_way().as_ref().is_some_and(|(of, to)| of == file && to == id);
        let mut keys = Keys::load(&self.path)?;
        let stored = match is_wanted {
            true => keys.put_login(id, &login, Over::AnyLogin)?,
            false => keys.renew(id, &login)?,
        };
        match stored {
            true => Ok(()),
            false => Err(Unrenewed::Foreign(haft::visible(id))),
        }
    }

    /// Keeps something out of everything that is shown or written down from now on.
    pub(crate) fn learn<'s>(&self, secrets: impl IntoIterator<Item = &'s str>) {
        self.redactor.learn(secrets);
    }

    /// A text without what is secret.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }
}
