//! Texts that can be nothing but a key, whoever they belong to.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

/// A kind of key: how it begins, and how it goes on.
struct Kind {
    begins: &'static [&'static str],
    goes_on: &'static str,
}

/// None of these looks far ahead before it is sure: a text is searched in one pass, whatever is in it.
const KINDS: &[Kind] = &[
    // OpenAI, Anthropic, OpenRouter.
    Kind {
        begins: &["sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-"],
        goes_on: r"[A-Za-z0-9_-]{20,}",
    },
    Kind { begins: &["sk-"], goes_on: r"[A-Za-z0-9]{20,}" },
    // GitHub, GitLab.
    Kind { begins: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], goes_on: r"[A-Za-z0-9]{20,}" },
    Kind { begins: &["github_pat_"], goes_on: r"[A-Za-z0-9_]{20,}" },
    Kind { begins: &["glpat-"], goes_on: r"[A-Za-z0-9_-]{16,}" },
    // AWS, Slack, Google.
    Kind { begins: &["AKIA", "ASIA"], goes_on: r"[0-9A-Z]{16}\b" },
    Kind { begins: &["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"], goes_on: r"[A-Za-z0-9-]{10,}" },
    Kind { begins: &["AIza"], goes_on: r"[A-Za-z0-9_-]{30,}" },
    // Stripe, with the secrets of its webhooks.
    Kind { begins: &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], goes_on: r"[A-Za-z0-9]{16,}" },
    Kind { begins: &["whsec_"], goes_on: r"[A-Za-z0-9]{20,}" },
    // npm; Hugging Face, Groq.
    Kind { begins: &["npm_"], goes_on: r"[A-Za-z0-9]{36}\b" },
    Kind { begins: &["hf_", "gsk_"], goes_on: r"[A-Za-z0-9]{30,}" },
    // SendGrid, whose first part has 22 characters; DigitalOcean.
    Kind { begins: &["SG."], goes_on: r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}" },
    Kind { begins: &["dop_v1_", "doo_v1_", "dor_v1_"], goes_on: r"[a-f0-9]{40,}" },
    // JSON Web Tokens, if their second part says so, too.
    Kind { begins: &["eyJ"], goes_on: r"[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*" },
    Kind { begins: &["Bearer", "bearer"], goes_on: r"[ \t]+[A-Za-z0-9._~+/-]{16,}=*" },
    // Private keys, with or without their end; newlines may be written as `\n`.
    Kind {
        begins: &["-----BEGIN "],
        goes_on: concat!(
            r"[A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----",
            r"(?:\s*[A-Za-z-]{1,20}: [ -~]{0,100}\n)*",
            r"[A-Za-z0-9+/=\s\\]*",
            r"(?:-----END [A-Z0-9 ]{0,20}PRIVATE KEY(?: BLOCK)?-----)?",
        ),
    },
];

/// Most texts hold no beginning of a key; this tells at no cost to speak of, and the expression is never made.
static BEGINNINGS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let beginnings = KINDS.iter().flat_map(|kind| kind.begins);
    // Leftmost, because only then is the text skipped through many bytes at a time.
    let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(beginnings);
    search.expect("a few short texts are within every limit")
});

static KEYS: LazyLock<Regex> = LazyLock::new(|| {
    let kinds: Vec<String> = KINDS.iter().map(Kind::expression).collect();
    Regex::new(&format!("(?-u){}", kinds.join("|"))).expect("the patterns of keys are valid")
});

impl Kind {
    fn expression(&self) -> String {
        // What begins with a letter begins a word: `task-…` holds no `sk-…`.
        let edge = if self.begins.iter().any(|begin| begin.starts_with('-')) { "" } else { r"\b" };
        let begins: Vec<String> = self.begins.iter().map(|begin| regex::escape(begin)).collect();
        format!("{edge}(?:{}){}", begins.join("|"), self.goes_on)
    }
}

/// The places that hold a key, in order.
pub(super) fn find(text: &str) -> Vec<(usize, usize)> {
    if !BEGINNINGS.is_match(text) {
        return Vec::new();
    }
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
