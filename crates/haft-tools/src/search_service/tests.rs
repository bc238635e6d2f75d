//! Answers as services write them, well or badly.

use haft::SessionId;
use serde_json::json;

use super::protocol::{Answer, Reading, call};
use super::{Provider, Service, ServiceKey, WebSearching};

fn text(said: &str) -> Option<Answer> {
    Some(Answer::Text(said.to_owned()))
}

fn problem(said: &str) -> Option<Answer> {
    Some(Answer::Problem(said.to_owned()))
}

/// What an answer says that arrives in pieces of this length.
fn read(answer: &str, piece: usize) -> Option<Answer> {
    let mut reading = Reading::default();
    for bytes in answer.as_bytes().chunks(piece) {
        if let Some(answer) = reading.event(bytes) {
            return Some(answer);
        }
    }
    reading.end()
}

#[test]
fn answers_are_read_however_they_come() {
    let said =
        json!({"result": {"content": [{"type": "image"}, {"text": " "}, {"text": "found"}, {"text": "b"}]}});
    let nothing = json!({"result": {"content": []}});
    let rows = [
        (said.to_string(), text("found")),
        (format!("\n {said} \n"), text("found")),
        (format!("event: message\ndata: {said}\n\n"), text("found")),
        (format!("event: message\r\ndata: {said}\r\n\r\n"), text("found")),
        (format!(": hello\n\ndata:{said}\n\ndata: {{}}\n\n"), text("found")),
        // Without the empty line at the end, and over several lines.
        (format!("data: {said}"), text("found")),
        ("data: {\"result\":\ndata: {\"content\": [{\"text\": \"x\"}]}}\n\n".to_owned(), text("x")),
        // What comes before the answer is passed over.
        (format!("data: {{\"method\": \"progress\"}}\n\ndata: {nothing}\n\ndata: {said}\n\n"), text("found")),
        (nothing.to_string(), Some(Answer::Nothing)),
        (format!("data: {nothing}\n\n"), Some(Answer::Nothing)),
        (json!({"result": {}}).to_string(), Some(Answer::Nothing)),
        (json!({"error": {"code": -1, "message": "no"}}).to_string(), problem("no")),
        (json!({"error": "no"}).to_string(), problem("\"no\"")),
        (format!("data: {}\n\n", json!({"error": {"message": "no"}})), problem("no")),
        (json!({"result": {"isError": true, "content": [{"text": "no"}]}}).to_string(), problem("no")),
        (json!({"result": {"isError": true}}).to_string(), problem("it gave no reason")),
        (String::new(), None),
        ("<html>".to_owned(), None),
        ("data: {\n\n".to_owned(), None),
        ("[1, 2]".to_owned(), None),
        ("\n\n\n".to_owned(), None),
    ];
    for (answer, expected) in rows {
        for piece in [1, 3, 7, 10_000] {
            assert_eq!(read(&answer, piece), expected, "{answer:?} by {piece}");
        }
    }
}

#[test]
fn an_answer_is_complete_before_its_stream_ends() {
    let said = json!({"result": {"content": [{"text": "found"}]}});
    let mut reading = Reading::default();
    assert_eq!(reading.event(format!("data: {said}\n").as_bytes()), None);
    assert_eq!(reading.event(b"\n: and so on"), text("found"));
}

#[test]
fn a_call_is_one_message() {
    assert_eq!(
        call("t", &json!({"q": 1})),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {"q": 1}}})
    );
}

/// The same sums as opencode's, so that a session stays with its provider when somebody changes over.
#[test]
fn a_session_keeps_its_provider() {
    let provider = |session: &str| Provider::of_session(&SessionId::parse(session).unwrap()).as_str();
    // Sums worked out by hand, by another program.
    let rows = [("ses_a", "exa"), ("ses_b", "parallel"), ("ses_c", "exa"), ("ses_0199f3a2b4c5", "exa")];
    for (session, expected) in rows {
        assert_eq!(provider(session), expected, "{session}");
    }
}

#[test]
fn the_only_service_that_is_set_up_is_asked() {
    let service = |provider, url, key: Option<&str>| {
        Service::new(provider, url, key.and_then(ServiceKey::new)).unwrap()
    };
    let exa = |url, key| service(Provider::Exa, url, key);
    let parallel = |url, key| service(Provider::Parallel, url, key);
    let asked = |provider, exa: &Service, parallel: &Service| {
        let searching = WebSearching { provider, exa: exa.clone(), parallel: parallel.clone() };
        ["ses_a", "ses_b"].map(|id| searching.service(&SessionId::parse(id).unwrap()).provider.as_str())
    };
    let (bare_exa, bare_parallel) = (exa(None, None), parallel(None, None));
    let (key, url) = (Some("k3y-of-mine"), Some("http://localhost/mcp"));
    for set_up in [exa(url, None), exa(None, key)] {
        assert_eq!(asked(None, &set_up, &bare_parallel), ["exa", "exa"], "{set_up:?}");
        assert_eq!(asked(Some(Provider::Parallel), &set_up, &bare_parallel), ["parallel", "parallel"]);
    }
    for set_up in [parallel(url, None), parallel(None, key)] {
        assert_eq!(asked(None, &bare_exa, &set_up), ["parallel", "parallel"], "{set_up:?}");
    }
    // With none or both, each session has its own.
    assert_eq!(asked(None, &bare_exa, &bare_parallel), ["exa", "parallel"]);
    assert_eq!(asked(None, &exa(url, None), &parallel(None, key)), ["exa", "parallel"]);
}

#[test]
fn keys_do_not_show() {
    let key = ServiceKey::new(" k3y-of-mine \n").unwrap();
    let service = Service::new(Provider::Exa, None, Some(key.clone())).unwrap();
    assert!(!format!("{key:?} {service:?}").contains("k3y"), "{service:?}");
    assert_eq!(key.reveal(), "k3y-of-mine");
    assert!(ServiceKey::new("  ").is_none());
    for url in ["ftp://x", "http://user:pw@x", "x", "http://"] {
        assert!(Service::new(Provider::Exa, Some(url), None).is_err(), "{url}");
    }
}
