//! Which parts of a text are secrets, so that no message shows them: by the names they stand under, and by what they look
//! like. Where the text is in order, exactly those; where it is broken, whatever could be one.

mod broken;
mod orderly;
mod plain;

use std::ops::Range;

use haft::secrets::{given_place, is_secret_name, is_secret_word, merged, name_words, user_places};
use haft_store::key_places;
use plain::in_either;

/// Tables in which every value is taken for a secret, whatever its own key is.
const SECRET_TABLES: &[&str] = &["cookie", "cookies", "env", "environment", "header", "headers"];

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

/// Where secrets stand in a text, in order and apart from each other.
pub(super) fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = orderly::places(text).unwrap_or_else(|| in_either(text, broken::places));
    found.extend(key_places(text));
    merged(found)
}

/// Where secrets stand in a text as people write it: a command line, a header, an address.
fn spoken(text: &str) -> Vec<Range<usize>> {
    let is_secret = |place: &Range<usize>| !is_reference(&text[place.clone()]);
    let users = user_places(text).into_iter().filter(is_secret);
    users.chain(given_place(text).filter(is_secret)).chain(key_places(text)).collect()
}

/// Whether the next word of a command line is a secret.
fn announces(words: &str) -> bool {
    let last = words.split_whitespace().next_back().unwrap_or_default();
    name_words(last.trim_end_matches([':', '='])).last().is_some_and(|word| is_secret_word(&last[word]))
}

fn names_secret(name: &str) -> bool {
    // A pattern such as `*.key` names files.
    let is_pattern = name.contains(['*', '?', '/']);
    !is_pattern && !is_reference(name) && is_secret_name(name)
}

/// Whether a name, which may be miswritten, is that of a table of secrets.
fn names_table(name: &str) -> bool {
    !is_reference(name) && name_words(name).any(|word| is_secret_table(&name[word]))
}

fn is_secret_table(name: &str) -> bool {
    SECRET_TABLES.iter().any(|table| name.eq_ignore_ascii_case(table))
}

/// Whether a value is nothing but references, which tell where the secret is and not what it is.
fn is_reference(value: &str) -> bool {
    let mut rest = value;
    while let Some(start) = rest.find(|c: char| c == '{' || c.is_alphanumeric()) {
        rest = &rest[start..];
        rest = match rest.strip_prefix('{') {
            Some(_) if begins_with_reference(rest) => rest.split_once('}').map_or("", |(_, after)| after),
            Some(after) => after,
            None => return false,
        };
    }
    true
}

/// Whether what begins like a reference is one, and not a table of YAML.
fn begins_with_reference(text: &str) -> bool {
    match text.strip_prefix("{env:") {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').starts_with('}'),
        None => text.strip_prefix("{file:").is_some_and(|rest| !rest.starts_with(char::is_whitespace)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

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
            (r#"{"url": "https://me:hunter2@host/hunter2"}"#, r#"{"url": "https://…@host/hunter2"}"#),
            (r#"{"url": "https://h/mcp?a=1&api_key=hunter2"}"#, r#"{"url": "https://h/mcp?a=1&api_key=…"}"#),
            (
                r#"{"command": ["srv", "--api-key", "hunter2", "--port", "1"]}"#,
                r#"{"command": ["srv", "--api-key", "…", "--port", "1"]}"#,
            ),
            (r#"["--token=hunter2", "-v"]"#, r#"["--token=…", "-v"]"#),
            (r#"["curl", "-H", "Authorization: Bearer hunter2", "x"]"#, r#"["curl", "-H", "…", "x"]"#),
            ("{} // apiKey: hunter2\n/* \"apiKey\": \"hunter2\" */", "{} // apiKey: …\n/* \"apiKey\": \"…"),
            ("{\"a\": \"sk-ant-abcdefghijklmnopqrstuvwxyz\"}", "{\"a\": \"…\"}"),
        ] {
            assert_eq!(shown(written), expected);
        }
    }

    #[test]
    fn what_is_given_to_a_secret_within_a_text_is_not_shown() {
        for (written, expected) in [
            (r#"{"command": "f --token hunter2", "x": 1}"#, r#"{"command": "f --token …", "x": 1}"#),
            (r#"["mysql -p hunter2", "-p", "hunter2"]"#, r#"["mysql -p …", "-p", "…"]"#),
            (
                r#"["curl -H", "X-Team: hunter2", "API_KEY=", "hunter2"]"#,
                r#"["curl -H", "…", "API_KEY=", "…"]"#,
            ),
            (r#"{"curl --token hunter2 *": "x"}"#, r#"{"curl --token …": "x"}"#),
            (r#"{"a": "{\"apiKey\": \"hunter2\"}"}"#, r#"{"a": "{\"apiKey\": \"…"}"#),
            (r#"{"a": "f --tok\u0065n\u0020hunter2"}"#, r#"{"a": "f --tok\u0065n\u0020…"}"#),
            (r#"{"a": "https://h/?api%5fkey=hunter2"}"#, r#"{"a": "https://h/?api%5fkey=…"}"#),
            (r#"{"a": "f --token {env:A}"}"#, r#"{"a": "f --token {env:A}"}"#),
        ] {
            assert_eq!(shown(written), expected);
        }
    }

    #[test]
    fn of_a_rule_what_it_is_about_and_what_was_meant_are_shown() {
        for (written, expected) in [
            (r#"{"bash": {"git push *": "alow"}}"#, r#"{"bash": {"git push *": "alow"}}"#),
            (r#"{"bash": {"API_KEY=hunter2 make *": "alow"}}"#, r#"{"bash": {"API_KEY=…": "alow"}}"#),
            (r#"{"webfetch": {"https://h/?key=hunter2": 1}}"#, r#"{"webfetch": {"https://h/?key=…": 1}}"#),
            (
                r#"{"bash": {"Authorization: Bearer hunter2": "ask"}}"#,
                r#"{"bash": {"Authorization: …": "ask"}}"#,
            ),
            (r#"{"bash": "hunter2", "token": 7}"#, r#"{"bash": "…", "token": …}"#),
            (r#"{"bash": {"action": "hunter2", "why": "so"}}"#, r#"{"bash": {"action": "…", "why": "so"}}"#),
            (
                r#"[{"permission": "bash", "pattern": "f -p hunter2", "action": "hunter2"}]"#,
                r#"[{"permission": "bash", "pattern": "f -p …", "action": "…"}]"#,
            ),
            (
                r#"[{"action": "bash", "resource": "f *", "effect": "hunter2"}]"#,
                r#"[{"action": "bash", "resource": "f *", "effect": "…"}]"#,
            ),
        ] {
            let within = |rules: &str| format!(r#"{{"permission": {rules}}}"#);
            assert_eq!(shown(&within(written)), within(expected));
        }
    }

    #[test]
    fn nothing_that_is_put_into_an_environment_is_shown() {
        for (written, expected) in [
            (r#"{"environment": {"TEAM": "hunter2", "N": 7}}"#, r#"{"environment": {"TEAM": "…", "N": …}}"#),
            (r#"{"env": ["TEAM=hunter2"]}"#, r#"{"env": ["…"]}"#),
            (r#"{"env": {"TEAM": "hunter2"}, nope}"#, r#"{"env": {"…"#),
            ("{\"env\": {\n\"A: \"}\",\n\"B\" x\",\n\"C\": \"hunter2\"", "{\"env\": {\n\"…\n\"…\n\"…"),
            (r#"{"a": "{env:A}", nope}"#, r#"{"a": "{env:A}", nope}"#),
            ("env:\n  TEAM: hunter2\nmode: all", "env:\n  …\nmode: all"),
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
            (r#"{"url": "https://me:hunter2@host/x""#, r#"{"url": "https://…@host/x""#),
            (r#"{"a": "b" "apiKey": "hunter2"}"#, r#"{"a": "b" "apiKey": "…"}"#),
            ("{\"headers\": {\n\"A\": \"}\",\n\"B\": 7},\n\"a\" 1", "{\"headers\": {\n\"…\n\"…\n\"a\" 1"),
            ("{\"apiKey\": // mine\n\"hunter2\" \"x\": 1", "{\"apiKey\": …\n\"…"),
            ("{\"apiKey\": /* mine\n */\n\"hunter2\"", "{\"apiKey\": …\n */\n\"…"),
            ("\"apiKey\":\n\n\"hunter2\"", "\"apiKey\":\n\n\"…"),
            ("\"apiKey\"\n// mine\n: \n \n\"hunter2\"", "\"apiKey\"\n…\n: \n \n\"…"),
            (r#"{"a": 1, // "apiKey": "hunter2""#, r#"{"a": 1, // "apiKey": "…"#),
            (r#"{"api\u004bey": "hunter2" x"#, r#"{"api\u004bey": "…"#),
            (r#"{"api\u004bey": "hunter2", x"#, r#"{"api\u004bey": "…", x"#),
            (r#"{"command": "f --token hunter2" x"#, r#"{"command": "f --token …"#),
            (r#"{"command": ["f", "-p", "hunter2" x"#, r#"{"command": ["f", "-p", "…"#),
            (r#"{"API_KEY=hunter2 make *": "allow" x"#, r#"{"API_KEY=…"#),
            (r#"{"team=hunter2 make *": "allow" x"#, r#"{"team=…"#),
            (r#"{"pwd": "hunter2" x"#, r#"{"pwd": "…"#),
            (r#"{"creds": "hunter2" x"#, r#"{"creds": "…"#),
            (r#"{"a": "https://hunter2@host" x"#, r#"{"a": "https://…@host" x"#),
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

    const BEFORE: &[&str] = &["{ \"permision\": {} } //", "apiKey:", "/*", "{\"a\": \"", ""];

    /// How long it takes to find the secrets in about so many bytes, which are one part again and again.
    fn time_for(before: &str, part: &str, bytes: usize) -> Duration {
        let text = format!("{before}{}", part.repeat(bytes / part.len()));
        let began = Instant::now();
        assert!(shown(&text).starts_with(before), "{before}{part}");
        began.elapsed()
    }

    #[test]
    fn no_text_is_too_deep() {
        for part in ["/", "/*", "{"] {
            for before in BEFORE {
                time_for(before, part, 1 << 17);
            }
        }
    }

    #[test]
    fn no_text_is_too_much() {
        let marks =
            ["/", "/*", "//\n", "/**/", "{", "\n", ":", " ", "- ", "|\n", "#", "\"", "\\", "\\\"", "%"];
        let words = ["a: ", "\"a\":", "\"env\":\"x\",", "-pa,", "-pa\"", "{file:a}", "{env:A", "key=", "a@"];
        for part in marks.into_iter().chain(words) {
            for before in BEFORE {
                // It would take 64 times as long if all that follows were looked at in each place. Whatever else slows
                // the machine down does not do so at every try, and to the longer text only.
                let is_quick = |_| time_for(before, part, 1 << 14) < 30 * time_for(before, part, 1 << 11);
                assert!((0..5).any(is_quick), "{before}{part}");
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
