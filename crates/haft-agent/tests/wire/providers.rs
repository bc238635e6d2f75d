//! Which providers there are, which model is chosen, and what a person is told who has none.

use std::collections::BTreeMap;
use std::time::Duration;

use expect_test::expect;
use haft_agent::provider::ModelInfo;
use haft_agent::providers::{Configured, KeySource, Providers, Settings};
use haft_agent::wire::{Format, Key};
use serde_json::json;

use crate::support::{KEY, Reply, Server, hello, ids, runtime};

const DEADLINE: Duration = Duration::from_secs(20);

/// Local servers of the machine that runs the tests are none of their business.
fn isolated() -> Settings {
    let disabled = ["ollama", "lmstudio", "llamacpp", "vllm"].map(str::to_owned).into_iter().collect();
    Settings { disabled, ..Settings::default() }
}

fn with(variables: &[(&str, &str)]) -> Settings {
    let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings { variables: owned.collect::<BTreeMap<_, _>>(), ..isolated() }
}

fn work(server: &Server) -> Configured {
    Configured {
        id: "work".to_owned(),
        base_url: Some(server.base_url()),
        models: vec![ModelInfo { id: "fast".to_owned(), context: Some(1000), ..ModelInfo::default() }],
        ..Configured::default()
    }
}

fn refusal(settings: Settings, model: &str) -> String {
    Providers::new(settings).resolve(model).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_model_that_cannot_be_asked_says_what_to_do() {
    expect![[
        r#""claude-opus-5-5" names no provider; write PROVIDER/MODEL, such as anthropic/claude-opus-5-5"#
    ]]
    .assert_eq(&refusal(isolated(), "claude-opus-5-5"));
    expect![[r#""fast" names no provider; write PROVIDER/MODEL"#]].assert_eq(&refusal(isolated(), "fast"));
    expect![[r#"there is no provider "antropic" (did you mean anthropic?); known are anthropic, openai, google, openrouter, xai, deepseek, mistral, groq, cerebras, togetherai, fireworks-ai, moonshotai, zai, and others can be configured (provider.antropic.options.baseURL)"#]].assert_eq(&refusal(isolated(), "antropic/x"));
    expect!["google needs a key: run `haft auth login google` or set GEMINI_API_KEY"]
        .assert_eq(&refusal(isolated(), "google/gemini-3.8-flash"));
    expect![
        "the provider ollama is switched off by the configuration (enabled_providers, disabled_providers)"
    ]
    .assert_eq(&refusal(isolated(), "ollama/llama"));
    let unplaced = Configured { id: "work".to_owned(), ..Configured::default() };
    expect!["nobody says where work is: set provider.work.options.baseURL"]
        .assert_eq(&refusal(Settings { configured: vec![unplaced], ..isolated() }, "work/x"));
    assert!(refusal(isolated(), "scripted/none.json").contains("none.json"));
}

#[test]
fn whoever_has_nothing_is_told_what_is_enough() {
    let error = runtime().block_on(Providers::new(isolated()).default_model()).unwrap_err();
    expect![[r#"
        no model can be reached yet. Any one of these is enough:
          a key of a provider   haft auth login anthropic   (or openai, google, openrouter, …)
          or in a variable      export ANTHROPIC_API_KEY=…  (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, …)
          a server of your own  start Ollama, LM Studio, llama.cpp or vLLM on its usual port, or set HAFT_LLM_BASE_URL
        Then `haft models` lists what there is, and -m PROVIDER/MODEL or "model" in the configuration chooses"#]].assert_eq(&error.to_string());
}

#[test]
fn the_default_is_the_configured_model_else_one_of_the_first_provider_with_a_key() {
    let chosen = |settings: Settings| runtime().block_on(Providers::new(settings).default_model()).unwrap();
    let both = [("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")];
    assert!(chosen(with(&both)).starts_with("anthropic/"));
    assert!(chosen(with(&both[..1])).starts_with("openai/"));
    assert_eq!(chosen(Settings { model: Some("xai/grok".to_owned()), ..with(&both) }), "xai/grok");
    let mut without = with(&both);
    without.disabled.insert("anthropic".to_owned());
    assert!(chosen(without).starts_with("openai/"));
    let enabled = Some(["google".to_owned()].into_iter().collect());
    let error = runtime().block_on(Providers::new(Settings { enabled, ..with(&both) }).default_model());
    assert!(error.is_err());
    let server = Server::new(Vec::new());
    assert_eq!(chosen(Settings { configured: vec![work(&server)], ..with(&both) }), "work/fast");
}

#[test]
fn keys_come_from_the_configuration_then_the_store_then_the_environment() {
    let key = |text: &str| Key::new(text).unwrap();
    let mut settings = with(&[("XAI_API_KEY", "e")]);
    let source = |settings: Settings| Providers::new(settings).key_source("xai");
    assert_eq!(source(with(&[("XAI_API_KEY", "e")])), Some(KeySource::Variable("XAI_API_KEY".to_owned())));
    settings.stored.insert("xai".to_owned(), key("s"));
    let stored = settings.stored.clone();
    assert_eq!(source(settings), Some(KeySource::Stored));
    let configured = Configured { id: "xai".to_owned(), key: Some(key("c")), ..Configured::default() };
    assert_eq!(
        source(Settings { stored, configured: vec![configured], ..isolated() }),
        Some(KeySource::Configuration)
    );
}

#[test]
fn a_server_named_by_a_variable_speaks_chat_with_openais_key_or_none() {
    let server = Server::new(vec![
        Reply::json(200, &json!({"data": [{"id": "text-embedding"}, {"id": "qwen"}]})),
        Reply::json(400, &json!({})),
    ]);
    let settings = with(&[
        ("HAFT_LLM_BASE_URL", &server.base_url()),
        ("OPENAI_API_KEY", KEY),
        ("ANTHROPIC_API_KEY", "k"),
    ]);
    let providers = Providers::new(settings);
    runtime().block_on(async {
        let model = providers.default_model().await.unwrap();
        assert_eq!(model, "openai/qwen");
        let resolved = providers.resolve(&model).unwrap();
        assert_eq!((resolved.model.provider.as_str(), resolved.model.id.as_str()), ("openai", "qwen"));
        assert!(resolved.provider.answer(&hello()).await.is_err());
    });
    assert_eq!(server.request().line, "GET /v1/models");
    let asked = server.request();
    assert_eq!(asked.line, "POST /v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let free = Providers::new(with(&[("HAFT_LLM_BASE_URL", &server.base_url())]));
    assert!(free.resolve("openai/x").is_ok());
}

#[test]
fn what_can_be_reached_is_listed_and_what_cannot_says_why() {
    let list = json!({"data": [{"id": "b", "context_length": 64}, {"id": "a", "name": "A"}]});
    let server = Server::new(vec![Reply::json(200, &list)]);
    let denied =
        Server::new(vec![Reply::json(401, &json!({"error": {"message": format!("no such key {KEY}")}}))]);
    let mut other = work(&denied);
    other.id = "other".to_owned();
    other.models.clear();
    other.key = Key::new(KEY);
    let providers = Providers::new(Settings { configured: vec![work(&server), other], ..isolated() });
    let listings = runtime().block_on(providers.list(None, DEADLINE)).unwrap();
    let [work, other] = listings.as_slice() else { panic!("{}", listings.len()) };
    let models = work.models.as_ref().unwrap();
    assert_eq!(ids(models), ["a", "b", "fast"]);
    assert_eq!((models[1].context, models[2].context), (Some(64), Some(1000)));
    let error = other.models.as_ref().unwrap_err();
    assert!(error.to_string().contains("no such key [key]"), "{error}");
    assert!(runtime().block_on(providers.list(Some("wrok"), DEADLINE)).is_err());
}

#[test]
fn gemini_lists_those_that_talk() {
    let list = json!({"models": [
        {"name": "models/gemini-x", "inputTokenLimit": 10, "outputTokenLimit": 5, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedder", "supportedGenerationMethods": ["embedContent"]}]});
    let server = Server::new(vec![Reply::json(200, &list)]);
    let configured = Configured { format: Some(Format::Gemini), models: Vec::new(), ..work(&server) };
    let providers = Providers::new(Settings { configured: vec![configured], ..isolated() });
    let listings = runtime().block_on(providers.list(Some("work"), DEADLINE)).unwrap();
    assert_eq!(ids(listings[0].models.as_ref().unwrap()), ["gemini-x"]);
}

#[test]
fn a_script_is_a_model() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("s.json"), r#"{"turns": [{"text": "hi"}]}"#).unwrap();
    let providers = Providers::new(Settings { directory: temp.path().to_path_buf(), ..isolated() });
    let resolved = providers.resolve("scripted/s.json").unwrap();
    assert_eq!((resolved.model.provider.as_str(), resolved.model.id.as_str()), ("scripted", "s.json"));
}

#[test]
fn limits_come_from_the_configuration_or_the_name() {
    let server = Server::new(vec![Reply::json(400, &json!({}))]);
    let aliases = [("quick".to_owned(), "fast".to_owned())].into_iter().collect();
    let configured = Configured { format: Some(Format::Anthropic), aliases, ..work(&server) };
    let providers = Providers::new(Settings { configured: vec![configured], ..isolated() });
    assert_eq!(providers.resolve("work/fast").unwrap().info.context, Some(1000));
    let quick = providers.resolve("work/quick").unwrap();
    assert_eq!((quick.model.id.as_str(), quick.info.context), ("fast", Some(1000)));
    let known = providers.resolve("work/claude-opus-5-5").unwrap();
    assert_eq!(known.info.output, Some(128_000));
    let _refused = runtime().block_on(async { known.provider.answer(&hello()).await.is_err() });
    assert_eq!(server.request().body["max_tokens"], 32_000);
}
