//! Which variables hold secrets, by their names and values; and how a secret may be spelled in a text.

use std::path::Path;

use haft::secrets::is_secret_variable_name;

/// Shorter values are too likely to stand in a text by chance.
const SECRET_BYTES_MIN: usize = 8;
/// A line of a longer secret is a secret of its own from this length on: tools show texts line by line.
const LINE_BYTES_MIN: usize = 16;

/// Values that are settings rather than secrets, long enough to be taken for one.
const SETTINGS: &[&str] = &[
    "disabled",
    "required",
    "optional",
    "password",
    "production",
    "development",
    "keychain",
    "usedevelopmentstorage=true",
];

/// What a connection string calls a password. Alone, it may be anything.
const PASSWORDS: &[&str] = &["password", "pwd"];
/// What it calls a key, which nothing else is called.
const KEYS: &[&str] = &["accountkey", "sharedaccesskey", "sharedaccesssignature"];

/// Whether a variable holds a secret that must not be written down.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    value.len() >= SECRET_BYTES_MIN
        && (is_secret_variable_name(name) || is_connection_name(name))
        && !SETTINGS.contains(&value.to_ascii_lowercase().as_str())
        && !(value.starts_with('/') && Path::new(value).exists())
}

/// The password in the address of a database, a proxy or the like.
pub(super) fn password_in(value: &str) -> Option<&str> {
    let (_scheme, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _host) = authority.rsplit_once('@')?;
    let (_name, password) = user.split_once(':')?;
    (!password.is_empty()).then_some(password)
}

/// The passwords and keys in a connection string, as in `Server=db;User Id=me;Password=x`.
pub(super) fn given_in(value: &str) -> impl Iterator<Item = &str> {
    let is_several = value.contains(';');
    value.split(';').filter_map(move |part| {
        let (name, given) = part.split_once('=')?;
        let (name, given) = (name.trim(), given.trim().trim_matches(['"', '\'']));
        let is_among = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
        let is_secret = is_among(KEYS) || (is_several && is_among(PASSWORDS));
        (is_secret && !given.is_empty()).then_some(given)
    })
}

/// Whether a variable is a connection string by its name. It mostly holds a password, in whatever form.
fn is_connection_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["CONNECTION_STRING", "CONNECTIONSTRING"].iter().any(|ending| name.ends_with(ending))
}

/// The ways in which a value may stand in a text: as it is, as JSON writes it, and its lines one by one.
pub(super) fn spellings(value: &str) -> Vec<String> {
    let value = value.trim();
    let mut spellings = vec![value.to_owned()];
    let quoted = serde_json::Value::from(value).to_string();
    let escaped = &quoted[1..quoted.len() - 1];
    if escaped != value {
        spellings.push(escaped.to_owned());
    }
    let lines = value.lines().map(str::trim);
    let secret =
        |line: &&str| line.len() >= LINE_BYTES_MIN && !line.contains(' ') && !line.starts_with("-----");
    spellings.extend(lines.filter(secret).map(str::to_owned));
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_secret() {
        for name in [
            "OPENAI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "github_token",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PASSWD",
            "SENTRY_DSN",
            "NPM_AUTH",
            "HAFT_CANARY",
            "PRIVATE_THING",
            "X_CREDENTIALS",
            "AUTHTOKEN",
            "CANARY_7",
            "SECRET",
            "AZURE_STORAGE_CONNECTION_STRING",
            "db_connection_string",
            "AppConnectionString",
        ] {
            assert!(is_secret(name, "value-of-it"), "{name}");
        }
    }

    #[test]
    fn names_that_only_sound_like_it() {
        for name in [
            "PATH",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
            "KEYBOARD_LAYOUT",
            "XAUTHORITY",
            "GIT_AUTHOR_NAME",
            "PWD",
            "OLDPWD",
            "MONKEY",
            "HOME",
            "MAX_OUTPUT_TOKENS",
            "TOKEN_FILE",
            "PASSAGE",
            "AUTH_METHOD",
            "COMPASS",
            "PATTERN",
            "CONNECTION_STRING_FORMAT",
        ] {
            assert!(!is_secret(name, "value-of-it"), "{name}");
        }
    }

    #[test]
    fn values_that_are_no_secrets() {
        assert!(!is_secret("API_KEY", "short"));
        assert!(!is_secret("AUTH", "required"));
        assert!(!is_secret("STORAGE_CONNECTION_STRING", "UseDevelopmentStorage=true"));
        assert!(!is_secret("GOOGLE_APPLICATION_CREDENTIALS", "/dev/null"));
        assert!(is_secret("AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI/K7MDENG/bPxRfiCY"));
    }
}
