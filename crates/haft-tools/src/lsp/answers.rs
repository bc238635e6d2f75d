//! What a server is answered when it asks its client something.

use std::path::Path;

use serde_json::{Value, json};

use super::address;

/// The code of the protocol for a method that nobody knows.
const UNKNOWN_METHOD: i64 = -32601;

/// Who is asked: the project, and what is configured for the server.
pub(super) struct Asked<'a> {
    pub(super) root: &'a Path,
    pub(super) initialization: &'a Value,
}

/// The answer to a request of the server's: a result, or an error.
pub(super) fn answer(client: &Asked<'_>, id: &Value, method: &str, params: &Value) -> Value {
    let result = match method {
        "workspace/configuration" => {
            let items = params["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().map(|item| section(client.initialization, item["section"].as_str())).collect()
        }
        "workspace/workspaceFolders" => folders(client.root),
        // Whatever a server would change, only the model changes files, and asks before it does.
        "workspace/applyEdit" => json!({ "applied": false, "failureReason": "this client changes no files" }),
        "window/showDocument" => json!({ "success": false }),
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/showMessageRequest"
        | "window/workDoneProgress/create"
        | "workspace/codeLens/refresh"
        | "workspace/diagnostic/refresh"
        | "workspace/foldingRange/refresh"
        | "workspace/inlayHint/refresh"
        | "workspace/inlineValue/refresh"
        | "workspace/semanticTokens/refresh" => Value::Null,
        other => {
            let message = format!("this client does not know {other}");
            return json!({ "jsonrpc": "2.0", "id": id, "error": { "code": UNKNOWN_METHOD, "message": message } });
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The project as a list of folders.
pub(super) fn folders(root: &Path) -> Value {
    let name = root.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    json!([{ "uri": address::of(root), "name": name }])
}

/// What is configured under a name with dots.
fn section(configured: &Value, name: Option<&str>) -> Value {
    let Some(name) = name.filter(|name| !name.is_empty()) else { return configured.clone() };
    let direct = configured.get(name);
    let found = direct.or_else(|| name.split('.').try_fold(configured, |at, part| at.get(part)));
    found.cloned().unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_asks_is_answered() {
        let configured = json!({ "python": { "analysis": { "strict": true } }, "a.b": 1 });
        let client = Asked { root: Path::new("/p q"), initialization: &configured };
        let asked = |method: &str, params: Value| {
            let answer = answer(&client, &json!("x"), method, &params);
            assert_eq!(answer["id"], "x");
            answer.get("result").cloned().unwrap_or_else(|| answer["error"]["code"].clone())
        };
        let sections = ["python", "python.analysis.strict", "a.b", "none"];
        let items: Vec<Value> = sections.iter().map(|section| json!({ "section": section })).collect();
        assert_eq!(
            asked("workspace/configuration", json!({ "items": items })),
            json!([{ "analysis": { "strict": true } }, true, 1, null])
        );
        assert_eq!(asked("workspace/configuration", json!({ "items": [{}] })), json!([configured]));
        assert_eq!(asked("workspace/workspaceFolders", Value::Null)[0]["uri"], "file:///p%20q");
        assert_eq!(asked("client/registerCapability", json!({})), Value::Null);
        assert_eq!(asked("workspace/applyEdit", json!({}))["applied"], false);
        assert_eq!(asked("window/nonsense", json!({})), UNKNOWN_METHOD);
    }
}
