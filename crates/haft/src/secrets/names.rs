//! Which names say that what they name is a secret.

/// Words that, standing alone between underscores, say that a variable holds a secret.
const WORDS: &[&str] =
    &["AUTHORIZATION", "BEARER", "JWT", "KEY", "PASS", "PASSCODE", "PASSKEY", "PASSPHRASE", "PASSWORDS"];

/// Words that say so, too. What ends with them is as often something else.
const VAGUE: &[&str] = &[
    "AUTH",
    "CANARY",
    "COOKIE",
    "COOKIES",
    "CRED",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "KEYS",
    "PAT",
    "PRIVATE",
    "SECRETS",
    "TOKENS",
    "WEBHOOK",
];

/// Words that say so beside others: alone, the second of them is a directory.
const WORDS_BESIDE: &[&str] = &["PW", "PWD", "SK"];

/// Words that say so of anything but a variable: there, the first of them is a directory.
const WORDS_ELSEWHERE: &[&str] = &["PWD", "OTP", "PW", "SESSIONID"];

/// Such words that are as vague.
const VAGUE_ELSEWHERE: &[&str] = &["SIG", "SIGNATURE"];

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

/// What a key may be of that opens something: others sort, or stand in tables.
const KINDS_OF_KEYS: &[&str] = &[
    "ACCESS",
    "ACCOUNT",
    "API",
    "APP",
    "AUTH",
    "CLIENT",
    "ENCRYPTION",
    "LICENSE",
    "MASTER",
    "PRIVATE",
    "SECRET",
    "SERVICE",
    "SIGNING",
    "STORAGE",
];

/// What keys are of that open nothing.
const KINDS_OF_OTHER_KEYS: &[&str] = &[
    "CACHE",
    "FOREIGN",
    "GROUP",
    "INDEX",
    "OBJECT",
    "PARTITION",
    "PRIMARY",
    "PUBLIC",
    "ROUTING",
    "ROW",
    "SHARD",
    "SORT",
];

/// First words of options that nothing is given to, or something else.
const SWITCHES: &[&str] = &[
    "ASK", "FIRST", "FORCE", "GENERATE", "HIDE", "NEED", "NO", "PRINT", "PROMPT", "REQUIRE", "RESET",
    "SECOND", "SHOW", "SKIP", "USE", "WITH",
];

/// Last words of settings that are a secret, where an option of that name would be something else.
const SETTINGS: &[&str] = &["BEARER", "OAUTH", "PASS", "PSK"];

/// Whether the name of a variable says that it holds a secret.
pub fn is_secret_variable_name(name: &str) -> bool {
    says_secret(name, |_| false)
}

/// Whether the name of a key, an option, a header or a parameter says that what it names is a secret, however its words
/// are joined. Of variables [`is_secret_variable_name`] decides.
pub fn is_secret_name(name: &str) -> bool {
    names_secret_elsewhere(name) || names_secret_elsewhere(&in_words(name))
}

/// Whether any other name says so: that of a key, an option, a header or a parameter.
fn names_secret_elsewhere(name: &str) -> bool {
    let (beginnings, endings) = PARTS_ELSEWHERE;
    says_secret(name, |word| {
        let is_part = || {
            beginnings.iter().any(|beginning| word.starts_with(beginning))
                || endings.iter().any(|ending| word.ends_with(ending))
        };
        let is_word = WORDS_ELSEWHERE.contains(&word) || VAGUE_ELSEWHERE.contains(&word);
        is_word || (is_part() && !OTHERWISE.contains(&word))
    })
}

/// Whether an option of that name, or a field of a form, is followed by a secret. Where [`is_secret_name`] would rather
/// call too much a secret than too little, this is for commands that stay readable: `--key` sorts, `--no-password` is
/// followed by nothing, and `--password-stdin` by something else.
pub(super) fn is_secret_option(name: &str) -> bool {
    let words = in_words(name).to_ascii_uppercase();
    let mut words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).rev();
    let Some(last) = words.next() else { return false };
    let before = words.next();
    let first = words.next_back().or(before);
    let is_vague = VAGUE.contains(&last) || VAGUE_ELSEWHERE.contains(&last);
    match last {
        "KEY" => before.is_some_and(|kind| KINDS_OF_KEYS.contains(&kind)),
        "PASS" => before.is_some() && !first.is_some_and(|first| SWITCHES.contains(&first)),
        _ if is_vague || first.is_some_and(|first| SWITCHES.contains(&first)) => false,
        _ => names_secret_elsewhere(last),
    }
}

/// Whether a setting of that name is a secret, as in `config set pypi-token.x`: any part of it may say so.
pub(super) fn is_secret_setting(name: &str) -> bool {
    let says_so = |part: &str| {
        let last = part.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        is_secret_option(part)
            || part.ends_with("_auth")
            || SETTINGS.iter().any(|word| word.eq_ignore_ascii_case(last))
    };
    name.split('.').any(says_so)
}

/// Whether a variable holds a key that opens nothing. Of whose kind nothing is known, as `OPENAI_KEY`, a value decides
/// that is too short to open anything.
pub(super) fn is_other_key(name: &str, value: &str) -> bool {
    const OTHER_BYTES_MAX: usize = 4;
    let name = name.to_ascii_uppercase();
    let mut words = name.rsplit(|c: char| !c.is_ascii_alphanumeric());
    if words.next() != Some("KEY") {
        return false;
    }
    let kind = words.next().unwrap_or_default();
    let is_known = KINDS_OF_KEYS.contains(&kind) || words.any(is_secret_variable_name);
    !is_known && (KINDS_OF_OTHER_KEYS.contains(&kind) || value.len() <= OTHER_BYTES_MAX)
}

/// A name whose words are set apart, where only capitals did that.
fn in_words(name: &str) -> String {
    let mut words = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_uppercase() && words.ends_with(|before: char| before.is_ascii_lowercase()) {
            words.push('_');
        }
        words.push(c);
    }
    words
}

fn says_secret(name: &str, further: impl Fn(&str) -> bool) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let about = words.last().is_some_and(|last| ABOUT.contains(last)) || words.contains(&"MAX");
    let says_so = |word: &&str| {
        WORDS.contains(word)
            || VAGUE.contains(word)
            || (words.len() > 1 && WORDS_BESIDE.contains(word))
            || ENDINGS.iter().any(|ending| word.ends_with(ending))
            || further(word)
    };
    !about && words.iter().any(says_so)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_more_than_a_variable() {
        for name in
            ["pwd", "dbPwd", "db_pass", "smtppass", "passwd", "cred", "creds", "credz", "passphrase", "pw"]
        {
            assert!(names_secret_elsewhere(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "CREDZ"] {
            assert!(!is_secret_variable_name(name), "{name}");
        }
        for name in ["compass", "bypass", "credits", "passive", "design", "max_tokens", "token_file"] {
            assert!(!names_secret_elsewhere(name), "{name}");
        }
    }
}
