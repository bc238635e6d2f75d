//! Searching the web and code at the command line: services on this machine, and no service at all.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::{Place, Ran, ran};

const KEY: &str = "exa-0f9e8d7c6b5a4";

/// A search service that says what it is told to, and keeps the first lines and bodies of requests.
struct Service {
    url: String,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

fn service(status: &'static str, kind: &'static str, body: String) -> Service {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let asked = Arc::<Mutex<Vec<(String, Value)>>>::default();
    let log = asked.clone();
    // It ends with the tests.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut length) = (String::new(), 0);
            lines.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                lines.read_line(&mut line).unwrap();
                match line.trim_end().split_once(": ") {
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.parse().unwrap();
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            let mut sent = vec![0; length];
            lines.read_exact(&mut sent).unwrap();
            log.lock().unwrap().push((first, serde_json::from_slice(&sent).unwrap_or_default()));
            let head = format!("content-type: {kind}\r\ncontent-length: {}\r\nconnection: close", body.len());
            // Whoever asked may have gone away.
            let _gone = write!(stream, "HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}");
        }
    });
    Service { url, asked }
}

fn found(text: &str) -> String {
    json!({"result": {"content": [{"type": "text", "text": text}]}}).to_string()
}

/// Runs with variables.
fn run(place: &Place, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    ran(place.command(args).envs(variables.iter().copied()).output().unwrap())
}

/// The key is in nothing that was printed or kept.
fn check_secret(place: &Place, ran: &Ran) {
    fn files(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            match entry.path().is_dir() {
                true => files(&entry.path(), found),
                false => found.push(entry.path()),
            }
        }
    }
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{} {}", ran.out, ran.err);
    let mut all = Vec::new();
    files(&place.home(), &mut all);
    for file in all.iter().filter(|file| !file.ends_with("config/haft.jsonc")) {
        let bytes = std::fs::read(file).unwrap();
        let holds_key = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!holds_key, "{} holds the key", file.display());
    }
}

#[test]
fn the_web_is_searched_by_the_service_that_is_configured() {
    let place = Place::new();
    let body = format!("event: message\ndata: {}\n\n", found(&format!("a page that repeats {KEY}")));
    let exa = service("200 OK", "text/event-stream", body);
    let configured = json!({"websearch": {"provider": "exa", "exa": {"url": exa.url, "key": KEY}}});
    place.global_config(&configured.to_string());
    let ran = place.run(&["call", "websearch", "query=weather", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let document = ran.json();
    assert_eq!(document["output"], "a page that repeats [redacted]");
    assert_eq!(
        (&document["title"], &document["metadata"]["provider"]),
        (&json!("Exa Web Search: weather"), &json!("exa"))
    );
    check_secret(&place, &ran);
    let (first, sent) = exa.asked.lock().unwrap()[0].clone();
    assert!(first.starts_with(&format!("POST /mcp?exaApiKey={KEY} ")), "{first}");
    assert_eq!(sent["params"]["arguments"]["query"], "weather");
    // Code is searched with the same key.
    let ran = place.run(&["call", "codesearch", "query=weather", "--json"]);
    assert_eq!(ran.json()["metadata"]["mode"], "remote");
    check_secret(&place, &ran);
}

#[test]
fn variables_say_where_services_are_and_which_one_is_asked() {
    let place = Place::new();
    let parallel = service("200 OK", "application/json", found("a page"));
    let variables = [
        ("HAFT_PARALLEL_URL", parallel.url.as_str()),
        ("PARALLEL_API_KEY", KEY),
        ("OPENCODE_WEBSEARCH_PROVIDER", "parallel"),
    ];
    let ran = run(&place, &variables, &["call", "websearch", "query=q", "--json"]);
    assert_eq!(ran.json()["metadata"]["provider"], "parallel");
    check_secret(&place, &ran);
    let ran = run(&place, &[("OPENCODE_WEBSEARCH_PROVIDER", "bing")], &["call", "websearch", "query=q"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("must be exa or parallel"), "{}", ran.err);
    let ran = run(&place, &[("HAFT_EXA_URL", "ftp://x")], &["call", "websearch", "query=q"]);
    assert!(ran.code == 2 && ran.err.contains("search service exa"), "{}", ran.err);
}

#[test]
fn the_only_service_that_is_configured_is_asked_in_every_session() {
    let place = Place::new();
    let exa = service("200 OK", "application/json", found("a page"));
    place.global_config(&json!({"websearch": {"exa": {"url": exa.url}}}).to_string());
    for _ in 0..4 {
        let ran = place.run(&["call", "websearch", "query=q", "--json"]);
        assert_eq!(ran.json()["metadata"]["provider"], "exa", "{} {}", ran.out, ran.err);
    }
    assert_eq!(exa.asked.lock().unwrap().len(), 4);
}

#[test]
fn an_address_that_is_none_is_shown_where_it_stands() {
    let place = Place::new();
    place.global_config(r#"{"websearch": {"exa": {"url": "nowhere"}}}"#);
    place.file("a.txt", "text");
    let read = place.run(&["call", "read", "filePath=a.txt"]);
    assert!(read.code == 2 && read.err.contains("haft.jsonc:1:31: expected an address"), "{}", read.err);
    let doctor = place.run(&["doctor"]);
    assert!(doctor.code == 2 && doctor.out.contains("haft.jsonc:1:31"), "{}", doctor.out);
}

#[test]
fn a_service_that_fails_is_reported_without_the_key() {
    let place = Place::new();
    let exa = service("403 Forbidden", "text/plain", format!("unknown key {KEY}"));
    let variables = [("HAFT_EXA_URL", exa.url.as_str()), ("EXA_API_KEY", KEY), ("OPENCODE_ENABLE_EXA", "1")];
    let ran = run(&place, &variables, &["call", "websearch", "query=q", "--json"]);
    let document = ran.json();
    assert_eq!((ran.code, &document["error"]["kind"]), (3, &json!("failed")));
    let message = document["error"]["message"].as_str().unwrap();
    assert!(message.contains("Search error (403): unknown key [redacted]"), "{message}");
    check_secret(&place, &ran);
    let ran = run(
        &place,
        &[("HAFT_EXA_URL", "http://127.0.0.1:9/"), ("EXA_API_KEY", KEY)],
        &["call", "codesearch", "query=q"],
    );
    assert!(ran.code == 3 && ran.err.contains("Code search error"), "{}", ran.err);
    check_secret(&place, &ran);
}

#[test]
fn a_project_nobody_trusts_does_not_say_where_searches_go() {
    let place = Place::new();
    let trap = service("200 OK", "application/json", found("trap"));
    let own = service("200 OK", "application/json", found("own"));
    place.file("haft.jsonc", &json!({"websearch": {"provider": "exa", "exa": {"url": trap.url}}, "codesearch": {"exa": {"url": trap.url}}}).to_string());
    let variables = [("HAFT_EXA_URL", own.url.as_str()), ("EXA_API_KEY", KEY), ("OPENCODE_ENABLE_EXA", "1")];
    for tool in ["websearch", "codesearch"] {
        let ran = run(&place, &variables, &["call", tool, "query=q"]);
        assert!(ran.code == 0 && ran.out.contains("own"), "{} {}", ran.out, ran.err);
    }
    assert!(trap.asked.lock().unwrap().is_empty());
}

#[test]
fn code_is_searched_here_without_a_key() {
    let place = Place::new();
    let package = place.home().join(".cargo/registry/src/index-1/tokio-1.2.3/src");
    std::fs::create_dir_all(&package).unwrap();
    let definition = "/// Makes a bounded channel.\npub fn channel() {}\n";
    std::fs::write(package.join("lib.rs"), definition).unwrap();
    place.file("Cargo.lock", "[[package]]\nname = \"tokio\"\nversion = \"1.2.3\"\nsource = \"registry+x\"\n");
    place.file("src/main.rs", "fn main() { tokio::channel(); }\n");
    let query = "query=tokio bounded channel";
    let ran = place.run(&["call", "codesearch", query, "--allow", "external_directory", "--json"]);
    let document = ran.json();
    assert_eq!((ran.code, &document["metadata"]["mode"]), (0, &json!("local")), "{}", ran.err);
    let first = &document["structured"]["passages"][0];
    assert!(first["path"].as_str().unwrap().ends_with("tokio-1.2.3/src/lib.rs"), "{document}");
    assert_eq!((&first["package"], &first["definition"]), (&json!("tokio 1.2.3 (cargo)"), &json!(true)));
    // With nobody to ask, what is inside is searched, and it is said what is not.
    let ran = place.run(&["call", "codesearch", query]);
    assert!(ran.code == 0 && ran.out.contains("src/main.rs"), "{} {}", ran.out, ran.err);
    assert!(!ran.out.contains("Makes a bounded channel") && ran.out.contains("Not searched"), "{}", ran.out);

    // A key does not count where only this machine is to be searched; and then every model is shown the tool.
    place.global_config(r#"{"codesearch": {"local": true}}"#);
    let ran = run(&place, &[("EXA_API_KEY", KEY)], &["call", "codesearch", query, "--json"]);
    assert_eq!(ran.json()["metadata"]["mode"], "local");
    let listed = place.run(&["tools", "--json"]).json();
    let shows = |name: &str| listed["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == name);
    assert!(shows("codesearch") && !shows("websearch"), "the web takes a flag");
    assert!(run(&place, &[("OPENCODE_ENABLE_PARALLEL", "1")], &["tools"]).out.contains("websearch"));
}
