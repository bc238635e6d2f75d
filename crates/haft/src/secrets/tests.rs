//! What is found in a text, what is not, and that it takes no longer than the text is long.

mod precise;
mod programs;

use super::*;

#[test]
fn what_is_given_to_a_secret_is_found() {
    for (before, given) in [
        ("f --token ", "hunter2"),
        ("f --token ", "hunter2 *"),
        ("mysql -p ", "hunter2"),
        ("mysql -p", "hunter2 x"),
        ("curl -u", "me:hunter2 x"),
        ("curl -u ", "me:hunter2"),
        ("f --password=", "hunter2"),
        ("f --password=\"", "hunter 2\""),
        ("curl -H 'X-Team: ", "hunter2'"),
        ("API_KEY=", "hunter2 make *"),
        ("team=", "hunter2 make *"),
        ("env A=", "hunter2 make"),
        ("https://h/?a=1&api_key=", "hunter2"),
        ("Authorization: ", "Bearer hunter2"),
        ("Bearer ", "hunter2"),
        ("Cookie: ", "a=hunter2"),
        ("{\\\"apiKey\\\": \\\"", "hunter2\\\"}"),
    ] {
        let text = format!("{before}{given}");
        let first = given_place(&text).map(|place| &text[place]);
        let is_whole = first.is_some_and(|first| first.ends_with(given));
        assert!(is_whole, "{text}: {first:?}");
    }
}

#[test]
fn what_is_given_to_nothing_secret_is_not() {
    for text in [
        "git push *",
        "find . -print -path x",
        "cargo test --all-targets -- -D warnings",
        "https://h/mcp?a=1",
        "src/*.key",
        "the token is elsewhere",
        "--token",
        "--token-file x",
        "",
    ] {
        assert_eq!(given_place(text), None, "{text}");
    }
}

#[test]
fn a_text_is_told_without_them() {
    for (text, told) in [
        ("curl --token hunter2 *", "curl --token …"),
        ("API_KEY=hunter2 make *", "API_KEY=…"),
        ("curl https://me:hunter2@host/x -u me:hunter3", "curl https://…@host/x -u …"),
        ("me:key=hunter2@host", "me:key=…"),
        ("cargo test -p *", "cargo test -p *"),
        ("src/**/*.key", "src/**/*.key"),
        ("cargo login hunter2", "cargo login …"),
        ("cargo login *", "cargo login *"),
        ("sqlplus me/hunter2@host *", "sqlplus me/…@host *"),
        ("", ""),
    ] {
        assert_eq!(without_secrets(text), told);
    }
}

#[test]
fn who_reaches_an_address_is_found() {
    for (text, user) in [
        ("x https://hunter2@host/y", "hunter2"),
        ("https://hunter2:x-oauth-basic@host", "hunter2:x-oauth-basic"),
        ("https://me:hun/ter@2@host", "me:hun/ter@2"),
        ("redis://:hunter2@host", ":hunter2"),
        ("me:hunter2@host", "hunter2"),
    ] {
        let found: Vec<&str> = user_places(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, [user], "{text}");
    }
    for text in ["https://host/@scope/x", "git@host:a/b", "x@1.2", "https://host", "@", "://@"] {
        assert!(user_places(text).is_empty(), "{text}");
    }
}
