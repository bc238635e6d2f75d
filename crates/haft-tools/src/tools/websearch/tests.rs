//! Searches by services on this machine that speak the protocol, well or badly.

use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use haft::Tool;
use serde_json::{Value, json};

use super::{WebSearch, year};
use crate::search_service::{Provider, Service, ServiceKey, WebSearching};
use crate::testing::Bench;
use crate::web::testing::{Site, answer, begin, redirect};

const KEY: &str = "k3y/of+mine";
const ENCODED: &str = "k3y%2Fof%2Bmine";

fn found(text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}).to_string()
}

/// A bench whose searches go to a site, with a key.
fn searching(provider: Provider, site: &Site) -> Bench {
    let service = |at: Provider| {
        let url = site.url(if at == Provider::Exa { "/exa?x=1" } else { "/parallel" });
        Service::new(at, Some(&url), ServiceKey::new(KEY)).unwrap()
    };
    let mut bench = Bench::new();
    bench.services.web_search = WebSearching {
        provider: Some(provider),
        exa: service(Provider::Exa),
        parallel: service(Provider::Parallel),
    };
    let exa = service(Provider::Exa);
    bench.services.code_search.service = Some(exa);
    bench.registered_again()
}

fn serving(serve: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Site {
    Site::open(move |_, to| serve(to))
}

/// A failure of both tools, which must not tell the key.
fn failures(serve: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> [String; 2] {
    let site = serving(serve);
    let bench = searching(Provider::Exa, &site);
    ["websearch", "codesearch"].map(|tool| {
        let why = bench.rejected(tool, json!({"query": "q"}));
        assert!(!why.contains("k3y"), "{why}");
        why
    })
}

#[test]
fn exa_is_told_what_was_asked_for() {
    let site = Site::page("application/json", found("a page"));
    let bench = searching(Provider::Exa, &site);
    let done = bench.completed(
        "websearch",
        json!({"query": "rust 2027", "num_results": "3", "type": "deep", "livecrawl": "preferred", "contextMaxCharacters": 900}),
    );
    assert_eq!((done.text().as_str(), done.title.as_str()), ("a page", "Exa Web Search: rust 2027"));
    assert_eq!(done.metadata["provider"], "exa");
    bench.completed("websearch", json!({"query": "b"}));
    let seen = site.seen();
    assert_eq!(
        (seen[0].method.as_str(), seen[0].path.as_str()),
        ("POST", &*format!("/exa?x=1&exaApiKey={ENCODED}"))
    );
    assert_eq!(seen[0].header("accept"), Some("application/json, text/event-stream"));
    assert!(seen[0].header("user-agent").unwrap().starts_with("haft/"));
    let sent = |at: usize| serde_json::from_slice::<Value>(&seen[at].body).unwrap()["params"].clone();
    let all = json!({"query": "rust 2027", "type": "deep", "numResults": 3, "livecrawl": "preferred", "contextMaxCharacters": 900});
    assert_eq!(sent(0), json!({"name": "web_search_exa", "arguments": all}));
    let usual = json!({"query": "b", "type": "auto", "numResults": 8, "livecrawl": "fallback"});
    assert_eq!(sent(1)["arguments"], usual);
}

#[test]
fn parallel_is_told_what_was_asked_for() {
    let site = Site::page(
        "text/event-stream; charset=utf-8",
        format!("event: message\ndata: {}\n\n", found("a page")),
    );
    let bench = searching(Provider::Parallel, &site);
    let done = bench.completed("websearch", json!({"query": "q"}));
    assert_eq!((done.text().as_str(), done.title.as_str()), ("a page", "Parallel Web Search: q"));
    assert_eq!(done.metadata["provider"], "parallel");
    let seen = &site.seen()[0];
    assert_eq!(
        (seen.path.as_str(), seen.header("authorization")),
        ("/parallel", Some(&*format!("Bearer {KEY}")))
    );
    let sent = serde_json::from_slice::<Value>(&seen.body).unwrap();
    assert_eq!(sent["params"]["name"], "web_search");
    let arguments = &sent["params"]["arguments"];
    assert_eq!((&arguments["objective"], &arguments["search_queries"]), (&json!("q"), &json!(["q"])));
    assert!(arguments["session_id"].as_str().unwrap().starts_with("ses_"));
}

#[test]
fn code_is_searched_by_the_service_that_was_set_up() {
    let site = Site::page("application/json", found("fn a() {}"));
    let mut bench = searching(Provider::Parallel, &site);
    let done = bench.completed("codesearch", json!({"query": "q", "tokensNum": 2000}));
    assert_eq!(done.text(), "fn a() {}\n\n(Answered by the search service exa.)");
    assert_eq!((&done.metadata["mode"], done.title.as_str()), (&json!("remote"), "Code search: q"));
    let sent = serde_json::from_slice::<Value>(&site.seen()[0].body).unwrap();
    assert_eq!(
        sent["params"],
        json!({"name": "get_code_context_exa", "arguments": {"query": "q", "tokensNum": 2000}})
    );

    bench.services.code_search.is_local = true;
    let done = bench.registered_again().completed("codesearch", json!({"query": "q"}));
    assert_eq!((&done.metadata["mode"], site.seen().len()), (&json!("local"), 1));
}

#[test]
fn nothing_found_is_said_and_no_failure() {
    let site = Site::page("application/json", r#"{"result": {"content": []}}"#);
    let bench = searching(Provider::Exa, &site);
    let text = |tool: &str| bench.completed(tool, json!({"query": "q"})).text();
    assert_eq!(text("websearch"), "No search results found. Please try a different query.");
    assert!(
        text("codesearch")
            .starts_with("No code snippets or documentation found. Please try a different query, ")
    );
}

#[test]
fn a_stream_that_stays_open_is_left_when_all_is_said() {
    let (release, held) = mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let site = serving(move |to| {
        begin(to, "200 OK", &[("content-type", "text/event-stream")], None)?;
        to.write_all(format!(": hello\n\ndata: {}\n\n", found("early")).as_bytes())?;
        // As long as the test has not seen the answer, the connection stays.
        let _released = held.lock().unwrap().recv();
        Ok(())
    });
    let bench = searching(Provider::Exa, &site);
    assert_eq!(bench.completed("websearch", json!({"query": "q"})).text(), "early");
    drop(release);
}

#[test]
fn failures_say_what_happened_and_never_the_key() {
    let echo = || format!("bad key {KEY} or {ENCODED}\u{1b}[2J");
    let [web, code] = failures(move |to| answer(to, "401 Unauthorized", &[], echo().as_bytes()));
    assert!(web.contains("Search error (401): bad key [redacted] or [redacted]"), "{web}");
    assert!(web.contains("not valid") && !web.contains('\u{1b}'), "{web}");
    assert!(code.contains("Code search error (401): bad key [redacted]"), "{code}");
    let [web, _] = failures(|to| answer(to, "429 Too Many Requests", &[], b""));
    assert!(web.contains("Search error (429): no further words; too many requests"), "{web}");
    let [web, _] = failures(|to| answer(to, "500 Oops", &[], "x".repeat(9000).as_bytes()));
    assert!(web.contains("try again later") && web.len() < 1500, "{web}");
    let said = json!({"error": {"message": format!("no {KEY}")}}).to_string();
    let [web, code] = failures(move |to| answer(to, "200 OK", &[], said.as_bytes()));
    assert!(
        web.ends_with("Search error: no [redacted]") && code.ends_with("Code search error: no [redacted]"),
        "{web}"
    );
    for body in ["<html>nothing</html>", "", "data: {\n\n", "{\"a\": 1}"] {
        let [web, _] = failures(|to| answer(to, "200 OK", &[("content-type", "text/html")], body.as_bytes()));
        assert!(web.contains("cannot be read"), "{body}: {web}");
    }
}

#[test]
fn what_a_service_finds_does_not_tell_the_key_either() {
    let site = Site::page("application/json", found(&format!("see https://x?exaApiKey={ENCODED} and {KEY}")));
    let text = searching(Provider::Exa, &site).completed("websearch", json!({"query": "q"})).text();
    assert_eq!(text, "see https://x?exaApiKey=[redacted] and [redacted]");
}

#[test]
fn an_answer_that_is_too_large_is_refused_while_it_arrives() {
    for length in [None, Some("300000")] {
        let [web, code] = failures(move |to| {
            begin(to, "200 OK", &[("content-type", "application/json")], length)?;
            to.write_all(&vec![b' '; 300_000])
        });
        assert!(web.contains("more than 256 KiB") && web.contains("numResults"), "{web}");
        assert!(code.contains("more than 256 KiB") && code.contains("tokensNum"), "{code}");
    }
}

#[test]
fn a_service_that_breaks_off_or_sends_elsewhere_gets_no_key_there() {
    let [web, _] = failures(|to| {
        begin(to, "200 OK", &[], Some("1000"))?;
        to.write_all(b"{\"result\"")
    });
    assert!(web.contains("Search error: 127.0.0.1:") && web.contains("broken"), "{web}");
    let elsewhere = Site::page("application/json", found("trap"));
    let url = elsewhere.url("/");
    let [web, _] = failures(move |to| redirect(to, &url));
    assert!(web.contains("not followed") && elsewhere.seen().is_empty(), "{web}");
}

#[test]
fn a_service_that_never_answers_is_given_up() {
    let site = serving(|to| {
        // Until whoever asked goes away.
        let _gone = std::io::Read::read(to, &mut [0]);
        Ok(())
    });
    let bench = searching(Provider::Exa, &site);
    let hasty = WebSearch { time: Some(Duration::from_millis(50)), ..WebSearch::new(&bench.services) };
    let why = bench.replacing("websearch", Tool::new(hasty)).rejected("websearch", json!({"query": "q"}));
    assert!(why.contains("Search request timed out"), "{why}");
}

#[test]
fn nobody_is_asked_elsewhere_without_consent() {
    let site = Site::page("application/json", found("x"));
    let bench = searching(Provider::Exa, &site);
    let service = bench.services.web_search.clone();
    let mut denied = bench.denying(&[("websearch", "*secret*")]);
    denied.services.web_search = service;
    let denied = denied.registered_again();
    assert!(denied.rejected("websearch", json!({"query": "my secret plan"})).contains("websearch"));
    assert!(site.seen().is_empty());
    denied.completed("websearch", json!({"query": "weather"}));
    assert_eq!(site.seen().len(), 1);

    assert_eq!(
        bench.questions("websearch", json!({"query": "weather"})),
        format!("websearch on weather (always: *)\nask Exa: weather\nsent to {}", site.url(""))
    );
}

#[test]
fn input_that_makes_no_sense_is_refused() {
    let site = Site::page("application/json", found("x"));
    let bench = searching(Provider::Exa, &site);
    let rows = [
        (json!({"query": "  "}), "say what to look for"),
        (json!({"query": "x".repeat(2001)}), "at most 2000"),
        (json!({"query": "x", "numResults": 21}), "numResults"),
        (json!({"query": "x", "numResults": 0}), "numResults"),
        (json!({"query": "x", "contextMaxCharacters": 50_001}), "contextMaxCharacters"),
        (json!({"query": "x", "type": "slow"}), "type"),
        (json!({"query": "x", "livecrawl": "always"}), "livecrawl"),
        (json!({}), "query"),
    ];
    for (input, expected) in rows {
        let why = bench.rejected("websearch", input.clone());
        assert!(why.contains(expected), "{input}: {why}");
    }
    assert!(site.seen().is_empty());
}

#[test]
fn the_year_is_that_of_the_calendar() {
    let at = |seconds: u64| year(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    assert_eq!((at(0), at(31_535_999), at(31_536_000)), (1970, 1970, 1971));
    assert_eq!((at(1_735_689_599), at(1_735_689_600)), (2024, 2025));
    assert_eq!((at(4_102_444_799), at(4_102_444_800)), (2099, 2100));
}
