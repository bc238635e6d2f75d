//! Who searches the web and code: services with their keys, and the sources on this machine.

use std::path::PathBuf;

use haft_tools::{CodeSearching, Provider, Service, ServiceKey, SourceStores, WebSearching};

use crate::exit::Failure;
use crate::setting::Setting;

/// Which service searches the web, before what is configured and by which feature is on.
const CHOICE: &str = "OPENCODE_WEBSEARCH_PROVIDER";

/// The variables that hold the address and the key of a service.
fn variables(provider: Provider) -> [&'static str; 2] {
    match provider {
        Provider::Exa => ["HAFT_EXA_URL", "EXA_API_KEY"],
        Provider::Parallel => ["HAFT_PARALLEL_URL", "PARALLEL_API_KEY"],
    }
}

/// How the web is searched here.
pub(crate) fn web(setting: &Setting) -> Result<WebSearching, Failure> {
    Ok(WebSearching {
        provider: provider(setting)?,
        exa: service(setting, "websearch", Provider::Exa)?,
        parallel: service(setting, "websearch", Provider::Parallel)?,
    })
}

/// How code is searched here.
pub(crate) fn code(setting: &Setting) -> Result<CodeSearching, Failure> {
    let service = service(setting, "codesearch", Provider::Exa)?;
    Ok(CodeSearching {
        is_local: setting.config.searches_code_locally(),
        stores: stores(setting),
        service: service.is_set_up().then_some(service),
    })
}

/// The keys that are configured. Those of the environment are known as secrets by the names of their variables.
pub(crate) fn secrets(setting: &Setting) -> Vec<(String, String)> {
    let services = ["websearch", "codesearch"].into_iter();
    let services = services.flat_map(|table| Provider::ALL.map(|provider| (table, provider.as_str())));
    let key = |(table, provider): (&str, &str)| setting.config.search_service(table, provider)?.key;
    services.filter_map(key).map(|key| ("SEARCH_API_KEY".to_owned(), key.to_owned())).collect()
}

/// Who was chosen: by the variable, by the configuration, or by the feature that is on.
fn provider(setting: &Setting) -> Result<Option<Provider>, Failure> {
    if let Some(word) = setting.env.get(CHOICE) {
        let word = word.to_string_lossy();
        let unknown = || Failure::usage(format_args!("{CHOICE} must be exa or parallel, found {word:?}"));
        return Provider::parse(&word).ok_or_else(unknown).map(Some);
    }
    let flags = setting.config.flags();
    let switched = [Provider::Parallel, Provider::Exa].into_iter().find(|one| flags.contains(one.as_str()));
    Ok(setting.config.search_provider().and_then(Provider::parse).or(switched))
}

/// A service as a table configures it, else as for the web, else as the environment says.
fn service(setting: &Setting, table: &str, provider: Provider) -> Result<Service, Failure> {
    let [url, key] =
        variables(provider).map(|name| setting.env.get(name).map(|value| value.to_string_lossy()));
    let said = |table: &str| setting.config.search_service(table, provider.as_str()).unwrap_or_default();
    let (own, web) = (said(table), said("websearch"));
    let url = own.url.or(web.url).or(url.as_deref());
    let key = own.key.or(web.key).or(key.as_deref());
    let wrong = |error| {
        Failure::usage(format_args!("the address of the search service {}: {error}", provider.as_str()))
    };
    Service::new(provider, url, key.and_then(ServiceKey::new)).map_err(wrong)
}

/// Each by its own variable, or where it is unless somebody moves it.
fn stores(setting: &Setting) -> SourceStores {
    let variable = |name: &str| setting.env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let in_home = |path: &str| Some(setting.paths.home.as_ref()?.join(path));
    // GOPATH is a list, and modules are kept in the first.
    let go_path = || std::env::split_paths(setting.env.get("GOPATH")?).find(|path| path.is_absolute());
    let go = || go_path().map(|path| path.join("pkg/mod")).or_else(|| in_home("go/pkg/mod"));
    SourceStores {
        cargo: variable("CARGO_HOME").or_else(|| in_home(".cargo")),
        go: variable("GOMODCACHE").or_else(go),
        python: variable("VIRTUAL_ENV"),
    }
}
