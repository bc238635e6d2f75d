//! The tools of a file as the registry takes them: named, asked about like any other effect, and called in their host.

use std::cell::LazyCell;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft::permission::{Ask, Gate, Question, Reach, Resource, Showing};
use haft::{
    Action, Callback, Dynamic, InvalidName, Offer, Presented, Registrar, Tool, ToolContext, ToolError,
    ToolName,
};
use serde_json::{Value, json};

use crate::discovery::{CodeFile, Role};
use crate::error::Fault;
use crate::facts;
use crate::served::Served;
use crate::source_place::Source;
use crate::words::{Loaded, LoadedTool, Returned, Skipped};

/// What a title of a call shows of its input.
const TITLE_CHARS_MAX: usize = 200;

/// The name of each tool of a file, in order.
pub(crate) fn names(file: &CodeFile, loaded: &Loaded) -> Vec<Result<ToolName, InvalidName>> {
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let named = |key: &str| match (file.role, key) {
        (Role::Plugin | Role::Table, key) if key != "default" => key.to_owned(),
        (Role::Plugin | Role::Table | Role::Tools, "default") => stem.clone(),
        (Role::Plugin | Role::Table | Role::Tools, key) => format!("{stem}_{key}"),
    };
    loaded.tools.iter().map(|tool| ToolName::parse(&named(&tool.key))).collect()
}

/// Takes out the tools that no model could be offered.
pub(crate) fn usable(mut loaded: Loaded) -> Loaded {
    for tool in std::mem::take(&mut loaded.tools) {
        let is_object = tool.parameters.get("type").is_some_and(|kind| kind == "object");
        let why = match is_object {
            true => made(&tool, Arc::new(|_, _| Box::pin(std::future::ready(Ok(Value::Null)))))
                .unusable()
                .map(str::to_owned),
            false => Some("they are not an object".to_owned()),
        };
        match why {
            Some(why) => loaded.faulty.push(Skipped {
                export: tool.key,
                why: format!("its arguments cannot be put into a schema: {why}"),
                argument: None,
            }),
            None => loaded.tools.push(tool),
        }
    }
    loaded
}

fn made(tool: &LoadedTool, execute: Callback) -> Tool {
    let parts = Dynamic {
        description: tool.description.clone(),
        input: tool.parameters.clone(),
        output: output_schema(),
        execute,
        present,
    };
    if tool.judges { Tool::judging(parts) } else { Tool::dynamic(parts) }
}

/// What is needed to register tools.
pub(crate) struct Registering<'a> {
    pub(crate) registrar: &'a Registrar,
    pub(crate) gate: &'a Gate,
    pub(crate) action_of: fn(&str) -> Action,
    pub(crate) reserved: &'a [&'a str],
}

/// Registers the tools of a file in a scope of its own, and returns what is wrong with those that are not.
pub(crate) fn register(served: &Arc<Served>, desk: &Registering<'_>) -> Vec<Fault> {
    let path = &served.file.path;
    // Most files have no fault, and are not read for one.
    let source = LazyCell::new(|| Source::read(path));
    let at = |fault: Fault, key: &str| fault.of(path).at(source.export(key));
    let faulty = |tool: &Skipped| {
        let fault = Fault::new(format!("the tool {}: {}", tool.export, tool.why));
        match &tool.argument {
            Some(argument) => fault.of(path).at(source.argument(&tool.export, argument)),
            None => at(fault, &tool.export),
        }
    };
    let mut faults: Vec<Fault> = served.manifest.loaded.faulty.iter().map(faulty).collect();
    let mut offers: Vec<(ToolName, Offer)> = Vec::new();
    let loaded = &served.manifest.loaded;
    for (tool, name) in loaded.tools.iter().zip(names(&served.file, loaded)) {
        match name {
            Ok(name) if desk.reserved.contains(&name.as_str()) => {
                let why = format!("{name} is the name of a permission of haft's own, and of no tool");
                faults.push(at(Fault::new(why).fix("rename the file or its export"), &tool.key));
            }
            Ok(name) if offers.iter().any(|(known, _)| *known == name) => {
                let twice = Fault::new(format!("the tool {name} is there twice"));
                faults.push(at(twice.fix("rename one of its exports"), &tool.key));
            }
            Ok(name) => {
                let action = (desk.action_of)(name.as_str());
                let execute = callback(
                    served.clone(),
                    action.clone(),
                    name.clone(),
                    tool.key.clone(),
                    desk.gate.clone(),
                );
                let offer = Offer::new(made(tool, execute)).under(action);
                offers.push((name, offer));
            }
            Err(error) => {
                let fault = Fault::new(error.to_string()).fix("rename the file or its export");
                faults.push(at(fault, &tool.key));
            }
        }
    }
    match desk.registrar.register(offers.iter().map(|(name, offer)| (name.as_str(), offer.clone()))) {
        Ok(registration) => {
            *served.registration.lock().unwrap_or_else(PoisonError::into_inner) = Some(registration);
        }
        Err(error) => faults.push(Fault::new(error.to_string())),
    }
    faults
}

fn output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "output": { "type": "string" },
            "title": { "type": "string" },
            "metadata": { "type": "object" },
            "attachments": { "type": "array", "items": { "type": "object" } },
        },
        "required": ["output"],
    })
}

fn callback(served: Arc<Served>, action: Action, name: ToolName, key: String, gate: Gate) -> Callback {
    Arc::new(move |input, context| {
        let used = Use { action: action.clone(), name: name.clone(), path: served.file.path.clone(), input };
        let (served, key, gate) = (served.clone(), key.clone(), gate.clone());
        Box::pin(async move { call(&served, &key, &gate, used, &context).await })
    })
}

async fn call(
    served: &Served,
    key: &str,
    gate: &Gate,
    used: Use,
    context: &ToolContext,
) -> Result<Value, ToolError> {
    if !served.is_current() {
        return Err(ToolError::Stale);
    }
    let permit = gate.grant(context, used).await?;
    let Use { input, path, .. } = permit.into_target();
    // What was agreed to is what runs, however long that took.
    if !served.is_current() {
        return Err(ToolError::Stale);
    }
    let answer = served.call(key, input, context).await.map_err(|error| error.of_call(&path))?;
    let mut returned: Returned = serde_json::from_value(answer).map_err(|error| {
        ToolError::defect(format!("the host of {} answered nonsense: {error}", path.display()))
    })?;
    returned.metadata = facts::bounded(returned.metadata);
    returned.title = returned.title.map(facts::cut);
    serde_json::to_value(returned).map_err(ToolError::defect)
}

/// A tool that is to be used: code of somebody else's, of which nobody knows what it does.
struct Use {
    action: Action,
    name: ToolName,
    input: Value,
    path: PathBuf,
}

impl Ask for Use {
    fn questions(&self) -> Vec<Question> {
        vec![Question::new(self.action.clone(), Resource::new("*")).saving("*")]
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }

    fn show(&self) -> Showing {
        let input = haft::visible(&self.input.to_string());
        let short: String = input.chars().take(TITLE_CHARS_MAX).collect();
        let detail = format!(
            "{input}\n\n# The code is in {}. What it does to files cannot be undone by haft.",
            haft::visible(&self.path.to_string_lossy())
        );
        Showing { title: format!("{} {short}", self.name), detail }
    }
}

/// Shows what a tool returned. What is not what a host returns is shown as it is.
fn present(_input: &Value, output: &Value) -> Presented {
    let Ok(returned) = serde_json::from_value::<Returned>(output.clone()) else {
        return Presented::default();
    };
    let mut shown = Presented::text(returned.output).titled(returned.title.unwrap_or_default());
    shown.metadata = returned.metadata;
    for attached in returned.attachments {
        match data(&attached.url) {
            Some((mime, bytes)) => {
                let mime = if attached.mime.is_empty() { mime } else { attached.mime };
                shown = shown.attach(mime, bytes, attached.filename);
            }
            None => {
                let line =
                    format!("\n(an attachment at {} is no data: address and was left out)", attached.url);
                if let Some(haft::Content::Text(text)) = shown.content.first_mut() {
                    text.push_str(&line);
                }
            }
        }
    }
    shown
}

/// What a `data:` address holds.
fn data(url: &str) -> Option<(String, Vec<u8>)> {
    let (head, body) = url.strip_prefix("data:")?.split_once(',')?;
    let mime = head.strip_suffix(";base64")?;
    Some((mime.to_owned(), STANDARD.decode(body.trim()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::{names, present};
    use crate::discovery::{CodeFile, Owner, Role};
    use crate::words::{Loaded, LoadedTool};
    use serde_json::{Value, json};

    fn named(path: &str, role: Role, keys: &[&str]) -> Vec<String> {
        let file = CodeFile { path: path.into(), role, owner: Owner::Person, options: Value::Null };
        let tool = |key: &&str| LoadedTool {
            key: (*key).to_owned(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
            judges: false,
        };
        let loaded = Loaded { tools: keys.iter().map(tool).collect(), ..Loaded::default() };
        let shown = |name: Result<_, haft::InvalidName>| {
            name.map_or_else(|error| error.to_string(), |name: haft::ToolName| name.to_string())
        };
        names(&file, &loaded).into_iter().map(shown).collect()
    }

    #[test]
    fn tools_are_named_after_their_file_and_export() {
        assert_eq!(named("/x/math.ts", Role::Tools, &["default", "add"]), ["math", "math_add"]);
        assert_eq!(named("/x/tool.js", Role::Table, &["greet"]), ["greet"]);
        assert_eq!(named("/x/p.js", Role::Plugin, &["from_plugin"]), ["from_plugin"]);
        assert!(named("/x/9 lives.js", Role::Tools, &["default"])[0].contains("9 lives"));
    }

    #[test]
    fn attachments_are_media_and_anything_else_is_said() {
        let shown = present(
            &Value::Null,
            &json!({
                "output": "see", "title": "T", "metadata": { "n": 7 },
                "attachments": [
                    { "type": "file", "mime": "image/png", "url": "data:image/png;base64,aGk=", "filename": "a.png" },
                    { "type": "file", "mime": "text/plain", "url": "https://example.com/x" },
                ],
            }),
        );
        assert_eq!(shown.title, "T");
        assert_eq!(shown.metadata["n"], 7);
        assert_eq!(shown.content.len(), 2);
        assert!(shown.content[0].as_text().unwrap().contains("https://example.com/x"));
    }
}
