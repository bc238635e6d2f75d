//! Which variables hold secrets, by their names; and how a secret may be spelled in a text.

use std::path::Path;

/// Shorter values are too likely to stand in a text by chance.
const SECRET_BYTES_MIN: usize = 8;
/// A line of a longer secret is a secret of its own from this length on: tools show texts line by line.
const LINE_BYTES_MIN: usize = 16;

/// Words that, standing alone between underscores, say that a variable holds a secret.
const WORDS: &[&str] = &[
    "ACCESSKEY",
    "APIKEY",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "CANARY",
    "COOKIE",
    "COOKIES",
    "CRED",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "KEYS",
    "PASS",
    "PASSCODE",
    "PASSKEY",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PASSWORDS",
    "PAT",
    "PRIVATE",
    "PRIVATEKEY",
    "SECRET",
    "SECRETKEY",
    "SECRETS",
    "TOKEN",
    "TOKENS",
    "WEBHOOK",
];

/// Words that say so beside others: alone, the second of them is a directory.
const WORDS_BESIDE: &[&str] = &["PW", "PWD", "SK"];

/// Words that say so of anything but a variable: there, the first of them is a directory.
const WORDS_ELSEWHERE: &[&str] = &["PWD", "OTP", "PW", "SESSIONID", "SIG", "SIGNATURE"];

/// Beginnings and endings that say so of anything but a variable.
const PARTS_ELSEWHERE: (&[&str], &[&str]) = (&["CRED", "PASSP", "PASSW"], &["PASS", "PWD"]);

/// Words that end like that and are others.
const OTHERWISE: &[&str] = &["BYPASS", "COMPASS", "CREDIT", "CREDITS"];

/// Endings that say so even within a word.
const ENDINGS: &[&str] =
    &["APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY", "PASSWORD", "PASSWD", "SECRET", "TOKEN", "TOKENS"];

/// Last words that say the variable only speaks about a secret: where it is, of what kind, how long.
const ABOUT: &[&str] = &[
    "AGENT",
    "ALGORITHM",
    "BACKEND",
    "COUNT",
    "DIR",
    "DIRECTORY",
    "DOMAIN",
    "ENABLED",
    "ENDPOINT",
    "EXPIRY",
    "FILE",
    "HOST",
    "LAYOUT",
    "LENGTH",
    "LIMIT",
    "METHOD",
    "MODE",
    "NAME",
    "PATH",
    "PORT",
    "PROVIDER",
    "REGION",
    "SIZE",
    "SOCK",
    "SOCKET",
    "TIMEOUT",
    "TTL",
    "TYPE",
];

/// Values that are settings rather than secrets, long enough to be taken for one.
const SETTINGS: &[&str] =
    &["disabled", "required", "optional", "password", "production", "development", "keychain"];

/// Whether a variable holds a secret that must not be written down.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    value.len() >= SECRET_BYTES_MIN
        && names_secret(name)
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

/// Whether the name of a variable says that it holds a secret.
pub(super) fn names_secret(name: &str) -> bool {
    says_secret(name, |_| false)
}

/// Whether any other name says so: that of a key, an option, a header or a parameter.
pub(super) fn names_secret_elsewhere(name: &str) -> bool {
    let (beginnings, endings) = PARTS_ELSEWHERE;
    says_secret(name, |word| {
        let is_part = || {
            beginnings.iter().any(|beginning| word.starts_with(beginning))
                || endings.iter().any(|ending| word.ends_with(ending))
        };
        WORDS_ELSEWHERE.contains(&word) || (is_part() && !OTHERWISE.contains(&word))
    })
}

fn says_secret(name: &str, further: impl Fn(&str) -> bool) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let about = words.last().is_some_and(|last| ABOUT.contains(last)) || words.contains(&"MAX");
    let says_so = |word: &&str| {
        WORDS.contains(word)
            || (words.len() > 1 && WORDS_BESIDE.contains(word))
            || ENDINGS.iter().any(|ending| word.ends_with(ending))
            || further(word)
    };
    !about && words.iter().any(says_so)
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
        ] {
            assert!(!is_secret(name, "value-of-it"), "{name}");
        }
    }

    #[test]
    fn a_key_says_more_than_a_variable() {
        for name in
            ["pwd", "dbPwd", "db_pass", "smtppass", "passwd", "cred", "creds", "credz", "passphrase", "pw"]
        {
            assert!(names_secret_elsewhere(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "CREDZ"] {
            assert!(!names_secret(name), "{name}");
        }
        for name in ["compass", "bypass", "credits", "passive", "design", "max_tokens", "token_file"] {
            assert!(!names_secret_elsewhere(name), "{name}");
        }
    }

    #[test]
    fn values_that_are_no_secrets() {
        assert!(!is_secret("API_KEY", "short"));
        assert!(!is_secret("AUTH", "required"));
        assert!(!is_secret("GOOGLE_APPLICATION_CREDENTIALS", "/dev/null"));
        assert!(is_secret("AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI/K7MDENG/bPxRfiCY"));
    }
}
