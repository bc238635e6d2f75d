//! Requests that somebody else carries, and providers that somebody logged in to.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use haft::BoxFuture;
use haft_agent::provider::{ModelInfo, Provider, ProviderError};
use haft_agent::providers::{
    Configured, Further, KeySource, Loader, LoginOptions, Providers, Settings, Unloaded,
};
use haft_agent::wire::{Arrival, Carrier, Dropped, Endpoint, Format, Inbound, Key, Outbound, Wire};
use serde_json::{Value, json};

use crate::support::{KEY, Reply, Server, events, hear, hello, ids, runtime, told};

/// Brings back what it was given, in order, and takes down what it carried.
#[derive(Default)]
struct Mule {
    replies: Mutex<Vec<Result<Inbound, Dropped>>>,
    carried: Mutex<Vec<Outbound>>,
}

impl Mule {
    fn with(replies: Vec<Result<Inbound, Dropped>>) -> Arc<Mule> {
        Arc::new(Mule { replies: Mutex::new(replies), carried: Mutex::default() })
    }
}

impl Carrier for Mule {
    fn carry<'a>(&'a self, request: Outbound) -> BoxFuture<'a, Result<Inbound, Dropped>> {
        self.carried.lock().unwrap().push(request);
        let reply = self.replies.lock().unwrap().remove(0);
        Box::pin(std::future::ready(reply))
    }
}

/// An answer in pieces of seven bytes.
struct Pieces(Vec<u8>);

impl Arrival for Pieces {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Dropped>> {
        let rest = self.0.split_off(self.0.len().min(7));
        let piece = std::mem::replace(&mut self.0, rest);
        let piece = Some(piece).filter(|piece| !piece.is_empty());
        let is_cut = piece.as_ref().is_some_and(|piece| piece.starts_with(b"CUT"));
        let cut = Dropped::Unreachable(format!("gone with {KEY}"));
        Box::pin(std::future::ready(if is_cut { Err(cut) } else { Ok(piece) }))
    }
}

fn inbound(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Result<Inbound, Dropped> {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Ok(Inbound { status, headers, body: Box::new(Pieces(body.into())) })
}

fn endpoint(carrier: Arc<Mule>) -> Endpoint {
    Endpoint {
        provider: "acme".to_owned(),
        format: Format::Chat,
        base_url: "https://acme.example/v1".to_owned(),
        key: Key::new(KEY),
        headers: vec![("x-own".to_owned(), "1".to_owned())],
        idle: None,
        output_max: 4096,
        carrier: Some(carrier),
    }
}

#[test]
fn what_is_carried_is_the_request_and_what_comes_back_is_understood_like_any_answer() {
    let stream = events(&[
        json!({ "choices": [{ "delta": { "content": "Hel" } }] }),
        json!({ "choices": [{ "delta": { "content": "lo" }, "finish_reason": "stop" }] }),
    ]);
    let busy = json!({ "error": { "message": format!("slow down, {KEY}") } }).to_string();
    let mule = Mule::with(vec![
        inbound(
            200,
            &[("content-type", "text/event-stream"), ("bad name", "x")],
            stream + "data: [DONE]\n\n",
        ),
        inbound(429, &[("retry-after", "7")], busy),
        Err(Dropped::Unreachable("fetch failed".to_owned())),
        Err(Dropped::Failed(format!("no luck with {KEY}"))),
        inbound(99, &[], ""),
        inbound(200, &[], "data: 1CUT...."),
        inbound(200, &[], r#"{"data": [{"id": "m"}]}"#),
    ]);
    let wire = Wire::new(endpoint(mule.clone()));
    runtime().block_on(async {
        let mut heard = Vec::new();
        for _ in 0..6 {
            let (deltas, error) = hear(&wire, &hello()).await;
            let retry = error.as_ref().map(ProviderError::retry);
            heard.push(format!("{} {retry:?}", told(&deltas, error.as_ref())));
        }
        expect![[r#"
            text "Hello"
            finished Stop None
            error: acme is busy: slow down, [key] (429) Some(Some(Some(7s)))
            error: acme cannot be reached: fetch failed Some(Some(None))
            error: acme refused the request: no luck with [key] Some(None)
            error: acme sent something that cannot be understood: 99 is no status of HTTP Some(Some(None))
            error: the answer of acme broke off: gone with [key] Some(Some(None))"#]]
        .assert_eq(&heard.join("\n"));
        assert_eq!(ids(&wire.models().await.unwrap()), ["m"]);
    });
    let carried = mule.carried.lock().unwrap();
    let first = &carried[0];
    assert_eq!((first.method, first.url.as_str()), ("POST", "https://acme.example/v1/chat/completions"));
    let header =
        |name: &str| first.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    assert_eq!(header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!((header("x-own"), header("content-type")), (Some("1"), Some("application/json")));
    let body: Value = serde_json::from_str(first.body.as_deref().unwrap()).unwrap();
    assert_eq!(body["model"], "m-1");
    assert_eq!((carried[6].method, carried[6].body.is_none()), ("GET", true));
}

/// Answers with these, and counts how often it was asked.
#[derive(Default)]
struct Files {
    options: LoginOptions,
    asked: Mutex<Vec<String>>,
    fails: bool,
}

impl Loader for Files {
    fn load<'a>(
        &'a self,
        provider: &'a str,
        file: &'a Path,
    ) -> BoxFuture<'a, Result<LoginOptions, Unloaded>> {
        self.asked.lock().unwrap().push(format!("{provider} {}", file.display()));
        let failed = Err(Unloaded("p.js threw".to_owned()));
        Box::pin(std::future::ready(if self.fails { failed } else { Ok(self.options.clone()) }))
    }
}

fn logged_in(provider: &str) -> Settings {
    let logins = [(provider.to_owned(), "/p.js".into())].into_iter().collect();
    let disabled = ["ollama", "lmstudio", "llamacpp", "vllm"].map(str::to_owned).into_iter().collect();
    Settings { logins, disabled, ..Settings::default() }
}

#[test]
fn a_loader_is_asked_at_the_first_request_and_again_when_its_key_is_refused() {
    let refused = || Reply::json(401, &json!({ "error": { "message": "expired" } }));
    let list = || Reply::json(200, &json!({ "data": [{ "id": "m" }] }));
    let server = Server::new(vec![list(), list(), refused(), list()]);
    let options = LoginOptions {
        key: Key::new(KEY),
        base_url: Some(server.base_url()),
        headers: vec![("x-plugin".to_owned(), "yes".to_owned())],
        carrier: None,
    };
    let files = Arc::new(Files { options, ..Files::default() });
    let providers = Providers::new(logged_in("acme")).loading_with(files.clone());
    assert_eq!(providers.key_source("acme"), Some(KeySource::Plugin("/p.js".into())));
    let asked = || files.asked.lock().unwrap().len();
    let resolved = providers.resolve("acme/m").unwrap();
    assert_eq!(asked(), 0, "nothing is loaded before it is needed");
    runtime().block_on(async {
        assert!(resolved.provider.models().await.is_ok());
        let again = providers.list(Some("acme"), Duration::from_secs(20)).await.unwrap();
        assert!(again[0].models.is_ok());
        assert_eq!(asked(), 1, "all models of a provider share it");
        assert!(matches!(resolved.provider.models().await, Err(ProviderError::Unauthorised { .. })));
        assert!(resolved.provider.models().await.is_ok());
        assert_eq!(asked(), 2);
    });
    let request = server.request();
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(request.header("x-plugin"), Some("yes"));
}

#[test]
fn a_login_stands_in_for_nothing_of_the_persons_own() {
    let own = |settings: Settings, id: &str| {
        let providers = Providers::new(settings);
        (providers.own(id).is_some(), providers.unused_logins().len())
    };
    assert_eq!(own(logged_in("xai"), "xai"), (false, 0));
    let variables = [("XAI_API_KEY".to_owned(), "k".to_owned())].into_iter().collect();
    assert_eq!(own(Settings { variables, ..logged_in("xai") }, "xai"), (true, 1));
    let stored = [("xai".to_owned(), Key::new("k").unwrap())].into_iter().collect();
    assert_eq!(own(Settings { stored, ..logged_in("xai") }, "xai"), (true, 1));
    let address = |url: &str| Configured {
        id: "xai".to_owned(),
        base_url: Some(url.to_owned()),
        headers: vec![("x".to_owned(), "y".to_owned())],
        ..Configured::default()
    };
    let named = Settings { configured: vec![address("https://me:pass@x.example/v1")], ..logged_in("xai") };
    assert_eq!(own(named, "xai"), (true, 1));
    let plain = || Settings { configured: vec![address("https://x.example/v1")], ..logged_in("xai") };
    assert_eq!(own(plain(), "xai"), (false, 0));
    assert_eq!(Providers::new(plain()).withheld_headers(), ["xai"]);
    let variables = [("HAFT_LLM_BASE_URL".to_owned(), "http://127.0.0.1:1".to_owned())].into_iter().collect();
    assert_eq!(own(Settings { variables, ..logged_in("openai") }, "openai"), (true, 1));
}

#[test]
fn a_configured_address_counts_more_than_a_plugins_and_none_is_said() {
    let server = Server::new(vec![Reply::json(200, &json!({ "data": [] }))]);
    let configured = Configured {
        id: "acme".to_owned(),
        base_url: Some(server.base_url()),
        headers: vec![("x-mine".to_owned(), KEY.to_owned())],
        ..Configured::default()
    };
    let elsewhere =
        LoginOptions { base_url: Some("http://127.0.0.1:1".to_owned()), ..LoginOptions::default() };
    let files = Arc::new(Files { options: elsewhere, ..Files::default() });
    let providers =
        Providers::new(Settings { configured: vec![configured], ..logged_in("acme") }).loading_with(files);
    runtime().block_on(async {
        providers.resolve("acme/m").unwrap().provider.models().await.unwrap();
        let request = server.request();
        assert_eq!(request.header("x-mine"), None);
        let nowhere = Providers::new(logged_in("acme")).loading_with(Arc::new(Files::default()));
        let error = nowhere.resolve("acme/m").unwrap().provider.models().await.unwrap_err();
        assert!(error.to_string().contains("set provider.acme.options.baseURL"), "{error}");
        let failing = Arc::new(Files { fails: true, ..Files::default() });
        let failing = Providers::new(logged_in("acme")).loading_with(failing);
        let error = failing.resolve("acme/m").unwrap().provider.models().await.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.retry()), ("acme cannot be asked: p.js threw", None));
        let alone = Providers::new(logged_in("acme")).resolve("acme/m").unwrap();
        let error = alone.provider.models().await.unwrap_err();
        assert!(error.to_string().contains("/p.js"), "{error}");
    });
}

#[test]
fn further_models_are_known_by_both_of_their_names() {
    let server = Server::new(vec![Reply::json(404, &json!({}))]);
    let configured =
        Configured { id: "work".to_owned(), base_url: Some(server.base_url()), ..Configured::default() };
    let big = ModelInfo { id: "big-2".to_owned(), context: Some(9000), ..ModelInfo::default() };
    let further = |id: &str| Further {
        id: id.to_owned(),
        models: vec![big.clone()],
        aliases: [("big".to_owned(), "big-2".to_owned())].into_iter().collect(),
        ..Further::default()
    };
    let settings = Settings {
        configured: vec![configured],
        further: vec![further("work"), further("unplaced")],
        ..logged_in("acme")
    };
    let providers = Providers::new(settings);
    let resolved = providers.resolve("work/big").unwrap();
    assert_eq!((resolved.model.id.as_str(), resolved.info.context), ("big-2", Some(9000)));
    let listed = runtime().block_on(providers.list(Some("work"), Duration::from_secs(20))).unwrap();
    assert_eq!(ids(listed[0].models.as_ref().unwrap()), ["big-2"]);
    let error = providers.resolve("unplaced/big").err().unwrap().to_string();
    assert!(error.contains("provider.unplaced.options.baseURL"), "{error}");
}
