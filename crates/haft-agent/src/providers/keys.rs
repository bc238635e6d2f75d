//! Where keys come from, and what is the person's own: no plugin is put in its place.

use std::path::{Path, PathBuf};

use super::{BASE_URL, KeySource, OVERRIDDEN, Providers, table};
use crate::wire::Key;

impl Providers {
    /// Where a provider's key comes from.
    pub fn key_source(&self, provider: &str) -> Option<KeySource> {
        let login = || self.settings.logins.get(provider).cloned().map(KeySource::Plugin);
        self.key(provider).map(|(_, source)| source).or_else(login)
    }

    /// Logins through plugins that are not used, because the person has a key of their own.
    pub fn unused_logins(&self) -> Vec<(&str, &Path, KeySource)> {
        let unused = |(id, file)| {
            let (id, file): (&String, &PathBuf) = (id, file);
            Some((id.as_str(), file.as_path(), self.own(id)?))
        };
        self.settings.logins.iter().filter_map(unused).collect()
    }

    /// Providers somebody logged in to whose configured headers are not sent, because a plugin would be given them.
    pub fn withheld_headers(&self) -> Vec<&str> {
        let configured = self.settings.configured.iter().filter(|configured| !configured.headers.is_empty());
        configured.map(|configured| configured.id.as_str()).filter(|id| self.login(id).is_some()).collect()
    }

    /// What is the person's own about a provider, in the place of which no plugin is put.
    pub fn own(&self, id: &str) -> Option<KeySource> {
        if let Some((_, source)) = self.key(id) {
            return Some(source);
        }
        let address = self.configured(id).and_then(|configured| configured.base_url.as_deref());
        if address.is_some_and(has_password) {
            return Some(KeySource::Configuration);
        }
        let overridden = self.overridden().filter(|_| id == OVERRIDDEN);
        overridden.map(|_| KeySource::Variable(BASE_URL.to_owned()))
    }

    /// The variable in which a provider's key is looked for first.
    pub fn variable(&self, provider: &str) -> Option<String> {
        self.variables(provider).into_iter().next()
    }

    /// The file through which somebody logged in, where that counts.
    pub(super) fn login(&self, provider: &str) -> Option<&Path> {
        let file = self.settings.logins.get(provider)?;
        self.own(provider).is_none().then_some(file.as_path())
    }

    /// As opencode has it: the configuration wins, then what was stored, then the environment.
    pub(super) fn key(&self, id: &str) -> Option<(Key, KeySource)> {
        let configured = self.configured(id).and_then(|configured| configured.key.clone());
        if let Some(key) = configured {
            return Some((key, KeySource::Configuration));
        }
        if let Some(key) = self.settings.stored.get(id) {
            return Some((key.clone(), KeySource::Stored));
        }
        self.variables(id).into_iter().find_map(|variable| {
            let key = Key::new(self.settings.variables.get(&variable)?)?;
            Some((key, KeySource::Variable(variable)))
        })
    }

    fn variables(&self, id: &str) -> Vec<String> {
        let configured =
            self.configured(id).map(|configured| configured.variables.clone()).unwrap_or_default();
        let known = table::by_id(id).map(|known| known.variables).unwrap_or_default();
        configured.into_iter().chain(known.iter().map(|variable| (*variable).to_owned())).collect()
    }
}

/// Whether an address holds a name or a password.
fn has_password(url: &str) -> bool {
    let authority = url.split("//").nth(1).and_then(|rest| rest.split('/').next());
    authority.is_some_and(|authority| authority.contains('@'))
}
