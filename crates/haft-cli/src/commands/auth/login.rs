//! `haft auth login`: which ways there are to log in to a provider, and the plain one, a key.

use std::path::{Path, PathBuf};

use haft::visible;
use haft_agent::providers::Providers;
use haft_agent::wire::Key;
use haft_plugin::AuthMethod;
use serde_json::json;

use super::lines::{self, Echo};
use super::through_plugin::{self, Through};
use crate::cli::ConsentArgs;
use crate::exit::{Exit, Failure};
use crate::location::{Life, Location, Mode};
use crate::models;
use crate::plugins;
use crate::setting::Setting;

/// What the plain way is called.
const KEY: &str = "key";

/// A way to log in.
enum Way {
    Plugin(PathBuf, AuthMethod),
    Key,
}

pub(super) async fn run(
    setting: &Setting,
    providers: &Providers,
    provider: Option<&str>,
    method: Option<&str>,
) -> Result<Exit, Failure> {
    let location = match plugins::are_there(setting) {
        true => {
            let location = Location::open(setting, &ConsentArgs::default(), Mode::Live, Life::OneCall)?;
            location.plugins().refresh().await;
            Some(location)
        }
        false => None,
    };
    let done = tokio::select! {
        done = login(setting, providers, location.as_ref(), provider, method) => done,
        // Whatever was under way ends with its process, and nothing was stored.
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| Exit::Interrupted).map_err(Failure::from),
    };
    if let Some(location) = &location {
        location.close().await;
    }
    done
}

async fn login(
    setting: &Setting,
    providers: &Providers,
    location: Option<&Location<'_>>,
    provider: Option<&str>,
    method: Option<&str>,
) -> Result<Exit, Failure> {
    let offers = location.map(|location| location.plugins().auth_offers()).unwrap_or_default();
    let mut ids = providers.ids();
    for (_, offer) in &offers {
        if !ids.contains(&offer.provider) {
            ids.push(offer.provider.clone());
        }
    }
    let provider = known(provider, &ids)?;
    let of_plugins = offers.into_iter().filter(|(_, offer)| offer.provider == provider);
    let of_plugins = of_plugins.flat_map(|(file, offer)| {
        offer.methods.into_iter().map(move |method| Way::Plugin(file.clone(), method))
    });
    let ways: Vec<Way> = of_plugins.chain([Way::Key]).collect();
    let way = match (ways.as_slice(), method) {
        ([_], None) => &Way::Key,
        (ways, Some(method)) => {
            chosen(ways, method).ok_or_else(|| no_such(setting, ways, "there is no such method"))?
        }
        (ways, None) => choose(setting, ways, provider).await?,
    };
    match (way, location) {
        (Way::Plugin(file, method), Some(location)) => {
            let through = Through { setting, providers, location, file, provider, method };
            through_plugin::run(&through).await
        }
        (Way::Plugin(..) | Way::Key, _) => store_key(setting, provider, ways.len() > 1).await,
    }
}

/// The provider that is meant.
fn known<'p>(provider: Option<&'p str>, ids: &[String]) -> Result<&'p str, Failure> {
    let known = || ids.iter().map(|id| visible(id)).collect::<Vec<_>>().join(", ");
    let Some(provider) = provider else {
        return Err(Failure::usage("whose key is it?").hint(format!("name a provider: {}", known())));
    };
    if ids.iter().any(|id| id == provider) {
        return Ok(provider);
    }
    let failure = Failure::usage(format_args!("there is no provider {provider:?}"));
    Err(match haft::nearest(provider, ids.iter().map(String::as_str)) {
        Some(nearest) => failure.hint(format!("did you mean {}?", visible(nearest))),
        None => failure.hint(format!("known are {}; others can be configured", known())),
    })
}

/// Has the person choose. A pipe has one try, since what follows answers something else.
async fn choose<'w>(setting: &Setting, ways: &'w [Way], provider: &str) -> Result<&'w Way, Failure> {
    if lines::is_typed() {
        setting.terminal.say(&format!("ways to log in to {}:", visible(provider)));
        shown(setting, ways).iter().for_each(|line| setting.terminal.say(&format!("  {line}")));
    }
    loop {
        let question = format!("which one? (1 to {})", ways.len());
        // What was typed is not shown: it may be a key.
        let wrong = match lines::line(&question, Echo::Shown).await? {
            None => "the input ended before a method was chosen",
            Some(answer) => match chosen(ways, &answer) {
                Some(way) => return Ok(way),
                None => "the first line names no method",
            },
        };
        if !lines::is_typed() || wrong.starts_with("the input") {
            return Err(no_such(setting, ways, wrong));
        }
    }
}

fn chosen<'w>(ways: &'w [Way], answer: &str) -> Option<&'w Way> {
    let answer = answer.trim();
    if let Ok(number) = answer.parse::<usize>() {
        return ways.get(number.checked_sub(1)?);
    }
    // The plain way comes last, and no plugin takes its name.
    let is_it = |way: &&Way| match way {
        Way::Plugin(_, method) => method.label.trim().eq_ignore_ascii_case(answer),
        Way::Key => answer.eq_ignore_ascii_case(KEY),
    };
    ways.iter().rev().find(|way| matches!(way, Way::Key) && is_it(way)).or_else(|| ways.iter().find(is_it))
}

fn no_such(setting: &Setting, ways: &[Way], why: &str) -> Failure {
    Failure::usage(why).hint(format!("name one with --method: {}", shown(setting, ways).join(", ")))
}

fn shown(setting: &Setting, ways: &[Way]) -> Vec<String> {
    let name = |way: &Way| match way {
        Way::Plugin(file, method) => format!("{} ({})", visible(&method.label), place(setting, file)),
        Way::Key => format!("{KEY} (typed in)"),
    };
    ways.iter().enumerate().map(|(at, way)| format!("{} {}", at + 1, name(way))).collect()
}

/// A file as people call it.
fn place(setting: &Setting, file: &Path) -> String {
    visible(&file.strip_prefix(&setting.directory).unwrap_or(file).to_string_lossy())
}

/// Stores a key of the person's own. Where a method was chosen by a line of a pipe, the key is the next line.
async fn store_key(setting: &Setting, provider: &str, one_line: bool) -> Result<Exit, Failure> {
    let key = match lines::is_typed() || one_line {
        true => typed_key(provider).await?.unwrap_or_default(),
        false => lines::whole()?,
    };
    let key = Key::new(&key).ok_or_else(|| Failure::usage("no key was given, so nothing was stored"))?;
    if key.reveal().contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(Failure::usage("a key is one word; nothing was stored"));
    }
    let mut keys = models::keys(&setting.paths)?;
    keys.put(provider, &key).map_err(|error| Failure::new(Exit::Defect, error))?;
    let path = visible(&keys.path().to_string_lossy());
    match setting.terminal.json {
        true => setting.terminal.document(&json!({ "v": 1, "stored": provider, "path": path }))?,
        false => setting.terminal.note(&format!("the key of {provider} is stored in {path}, for you alone")),
    }
    Ok(Exit::Ok)
}

/// A key that somebody types in; none at the end of input.
pub(super) async fn typed_key(provider: &str) -> Result<Option<String>, Failure> {
    lines::line(&format!("key of {} (it will not appear):", visible(provider)), Echo::Hidden).await
}
