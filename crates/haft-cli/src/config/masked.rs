//! Which parts of a text are secrets, so that no message shows them: by the names they stand under, and by what they look
//! like. Where the text is in order, exactly those; where it is broken, whatever could be one.

mod broken;
mod orderly;

use std::ops::Range;

use haft_store::key_places;

/// Tables in which every value is taken for a secret, whatever its own key is.
const SECRET_TABLES: &[&str] = &["headers", "cookie", "cookies"];

/// What stands where a secret stood.
const MASK: &str = "…";

/// A part of a text with its secrets taken out.
pub(super) fn masked(text: &str, part: Range<usize>, secrets: &[Range<usize>]) -> String {
    let mut shown = String::new();
    let mut at = part.start;
    for secret in secrets.iter().filter(|secret| secret.start < part.end && secret.end > part.start) {
        let (start, end) = (secret.start.max(at), secret.end.min(part.end));
        if start < end {
            shown.push_str(&text[at..start]);
            shown.push_str(MASK);
            at = end;
        }
    }
    shown.push_str(&text[at..part.end]);
    shown
}

/// Where secrets stand in a text, in order.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = orderly::places(text).unwrap_or_else(|| broken::places(text));
    found.extend(key_places(text));
    found.sort_by_key(|range| range.start);
    found
}

fn is_secret_table(name: &str) -> bool {
    SECRET_TABLES.iter().any(|table| name.eq_ignore_ascii_case(table))
}

/// Whether a value is nothing but references, which tell where the secret is and not what it is.
fn is_reference(value: &str) -> bool {
    let mut rest = value;
    while let Some(start) = ["{env:", "{file:"].iter().filter_map(|opening| rest.find(opening)).min() {
        if rest[..start].contains(char::is_alphanumeric) {
            return false;
        }
        rest = rest[start..].split_once('}').map_or("", |(_, after)| after);
    }
    !rest.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        masked(text, 0..text.len(), &secrets(text))
    }

    #[test]
    fn exactly_what_stands_under_names_of_secrets_is_not_shown() {
        for (written, expected) in [
            (r#"{"apiKey": "hunter2", "x": 1}"#, r#"{"apiKey": "…", "x": 1}"#),
            (r#"{"openai.apiKey": "hunter2", "api key": 7}"#, r#"{"openai.apiKey": "…", "api key": …}"#),
            (r#"{"apiKey": "Bearer {env:A}", "b": "c"}"#, r#"{"apiKey": "…", "b": "c"}"#),
            ("{\"apiKey\":\n\"hunter2\", \"b\": 1}", "{\"apiKey\":\n\"…\", \"b\": 1}"),
            (
                "{\"headers\": {\n\"X-Team\": \"hunter2\"},\n\"a\": \"b\"}",
                "{\"headers\": {\n\"X-Team\": \"…\"},\n\"a\": \"b\"}",
            ),
            (r#"{"tokens": ["hunter2", 3], "a": ["b"]}"#, r#"{"tokens": ["…", …], "a": ["b"]}"#),
            (r#"{"url": "https://me:hunter2@host/hunter2"}"#, r#"{"url": "https://me:…@host/hunter2"}"#),
            (r#"{"url": "https://h/mcp?a=1&api_key=hunter2"}"#, r#"{"url": "https://h/mcp?a=1&api_key=…"}"#),
            (
                r#"{"command": ["srv", "--api-key", "hunter2", "--port", "1"]}"#,
                r#"{"command": ["srv", "--api-key", "…", "--port", "1"]}"#,
            ),
            (r#"["--token=hunter2", "-v"]"#, r#"["--token=…", "-v"]"#),
            (
                r#"["curl", "-H", "Authorization: Bearer hunter2", "x"]"#,
                r#"["curl", "-H", "Authorization: …", "x"]"#,
            ),
            ("{} // apiKey: hunter2\n/* \"apiKey\": \"hunter2\" */", "{} // apiKey: …\n/* \"apiKey\": \"…"),
            ("{\"a\": \"sk-ant-abcdefghijklmnopqrstuvwxyz\"}", "{\"a\": \"…\"}"),
        ] {
            assert_eq!(shown(written), expected);
        }
    }

    #[test]
    fn however_broken_the_text_is_what_could_be_a_secret_is_not_shown() {
        for (written, expected) in [
            (r#"{"apiKey": "hun\"ter2" "x": 1}"#, r#"{"apiKey": "…"#),
            (
                r#"{"apiKey": "hun\"ter2", "token" : "{env:A}", "key": "k"}, nope}"#,
                r#"{"apiKey": "…", "token" : "{env:A}", "key": "…"}, nope}"#,
            ),
            (r#"{"accessToken": "hunter2"#, r#"{"accessToken": "…"#),
            (r#"{"secretValue" "hunter2"}"#, r#"{"secretValue" "…"#),
            ("{password: hunter2, a: b}", "{password: …"),
            ("{'x-api-key' = 'hunter2'}", "{'x-api-key' = '…"),
            ("{“apiKey”: “hunter2”}", "{“apiKey”: “…"),
            ("{`apiKey`: `hunter2`}", "{`apiKey`: `…"),
            (r#"{"apiKey: "hunter2"}"#, r#"{"apiKey: "…"#),
            (r#"{"apiKey", "hunter2"}"#, r#"{"apiKey", "…"#),
            (r#"{"apiKey":, "hunter2"}"#, r#"{"apiKey":, "…"#),
            (r#"{"headers" {"X-Team": "hunter2"}}"#, r#"{"headers" {"…"#),
            (r#"{"tokens" ["hunter2"]}"#, r#"{"tokens" ["…"#),
            ("{\"apiKey\": \"hun\nter2\", nope}\n{a}", "{\"apiKey\": \"…\n…\n{a}"),
            ("{#apiKey: hunter2\n\"openai.apiKey\"", "{#apiKey: …\n\"openai.apiKey\""),
            (r#"["srv","--api-key","hunter2""#, r#"["srv","--api-key","…"#),
            (r#"{"url": "https://me:hunter2@host/x""#, r#"{"url": "https://me:…@host/x""#),
            (r#"{"a": "b" "apiKey": "hunter2"}"#, r#"{"a": "b" "apiKey": "…"}"#),
            ("{\"headers\": {\n\"A\": \"}\",\n\"B\": 7},\n\"a\" 1", "{\"headers\": {\n\"…\n\"…\n\"a\" 1"),
            ("{\"apiKey\": // mine\n\"hunter2\" \"x\": 1", "{\"apiKey\": …\n\"…"),
            ("{\"apiKey\": /* mine\n */\n\"hunter2\"", "{\"apiKey\": …\n */\n\"…"),
            ("\"apiKey\":\n\n\"hunter2\"", "\"apiKey\":\n\n\"…"),
            ("\"apiKey\"\n// mine\n: \n \n\"hunter2\"", "\"apiKey\"\n…\n: \n \n\"…"),
            (r#"{"a": 1, // "apiKey": "hunter2""#, r#"{"a": 1, // "apiKey": "…"#),
        ] {
            assert_eq!(shown(written), expected);
        }
    }

    #[test]
    fn nor_is_it_in_front_matter() {
        for (written, expected) in [
            ("password: hunter 2\nmode: all", "password: …\nmode: all"),
            ("password: hunter\n  2\nmode: all", "password: …\n  …\nmode: all"),
            ("apiKey: |\n  hunter2\n\n  hunter3\nmode: all", "apiKey: |\n  …\n\n  …\nmode: all"),
            ("apiKey: >-\nhunter2\nmode: all", "apiKey: >-\n…\nmode: all"),
            ("apiKey: # mine\nhunter2\nmode: all", "apiKey: …\n…\nmode: all"),
            ("tokens:\n- hunter2\n- hunter3\nmode: all", "tokens:\n…\n…\nmode: all"),
            ("- apiKey: hunter2\n  mode: all", "- apiKey: …\n  mode: all"),
            ("mine:\n  apiKey: hunter2\n  mode: all", "mine:\n  apiKey: …\n  mode: all"),
        ] {
            assert_eq!(shown(written), expected);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for plain in [
            r#"{"permission": {"edit": {"src/*": "allow", "server.key": "alow"}}}"#,
            r#"{"apiKey": "{env:OPENAI_API_KEY}"}"#,
            r#"{"apiKey": {env:OPENAI_API_KEY}}"#,
            r#"{"apiKey": null, "max_tokens": 5}"#,
            r#"{"read": {"*.key": "alow", "secrets/*": "alow"}}"#,
            "don't: worry # it's 'fine",
            "",
            "{",
            "\"\\",
            "ü: é",
        ] {
            assert_eq!(shown(plain), plain);
        }
    }

    #[test]
    fn no_text_is_too_much() {
        let long = "\"a\":".repeat(10_000);
        let parts = ["//\n", "/**/", "{", "\n", ":", " ", "- ", "|\n", "#", "a: ", "\"", &long];
        let sized = ["/", "/*"].map(|part| (part, 1 << 20)).into_iter();
        for (part, size) in sized.chain(parts.map(|part| (part, 1 << 17))) {
            for before in ["{ \"permision\": {} } //", "apiKey:", "/*", ""] {
                let text = format!("{before}{}", part.repeat(size / part.len()));
                assert!(shown(&text).starts_with(before));
            }
        }
    }

    #[test]
    fn a_part_shows_no_secret_that_reaches_into_it() {
        let text = r#"{"apiKey": "hunter2"}"#;
        let secrets = secrets(text);
        assert_eq!(masked(text, 0..14, &secrets), r#"{"apiKey": "…"#);
        assert_eq!(masked(text, 14..16, &secrets), "…");
        assert_eq!(masked(text, 16..text.len(), &secrets), "…\"}");
    }
}
