//! Texts that can be nothing but a key, whoever they belong to.

use std::sync::LazyLock;

use regex::Regex;

/// Each alternative begins with letters that rarely stand elsewhere, and none looks far ahead before it is sure: a
/// text is searched in one pass, whatever is in it.
const PATTERNS: &[&str] = &[
    // OpenAI, Anthropic, OpenRouter.
    r"\bsk-(?:ant|proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}",
    r"\bsk-[A-Za-z0-9]{20,}",
    // GitHub, GitLab.
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    // AWS, Slack, Google.
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    // JSON Web Tokens, if their second part says so, too.
    r"\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*",
    r"\b[Bb]earer[ \t]+[A-Za-z0-9._~+/-]{16,}=*",
    // Private keys, with or without their end; newlines may be written as `\n`.
    concat!(
        r"-----BEGIN [A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----",
        r"(?:\s*[A-Za-z-]{1,20}: [ -~]{0,100}\n)*",
        r"[A-Za-z0-9+/=\s\\]*",
        r"(?:-----END [A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
];

static KEYS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!("(?-u:{})", PATTERNS.join("|"));
    Regex::new(&pattern).expect("the patterns of keys are valid")
});

/// The places that hold a key, in order.
pub(super) fn find(text: &str) -> Vec<(usize, usize)> {
    KEYS.find_iter(text).filter(|found| is_key(found.as_str())).map(|key| (key.start(), key.end())).collect()
}

fn is_key(found: &str) -> bool {
    match found.as_bytes() {
        // Without a digit it is more likely to be prose about bearers.
        [b'B' | b'b', ..] => found.bytes().any(|byte| byte.is_ascii_digit()),
        [b'e', ..] => found.contains(".eyJ"),
        _ => true,
    }
}
