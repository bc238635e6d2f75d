//! Asking servers what they find, rather than waiting until they tell.
//!
//! An answer is about the version that was sent before the question: a server takes messages in their order. So nothing
//! has to be guessed, and nobody waits for a server that collects changes before it looks at them.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::address;
use super::asking::{CHANGED_MIND, CHANGED_MIND_PAUSE, UNKNOWN_METHOD};
use super::client::Client;
use super::failure::RequestError;

/// The command by which typescript-language-server passes a request on to what it is built around.
const TSSERVER: &str = "typescript.tsserverRequest";
/// What is asked there: errors of the text itself, and those of what it means.
const TSSERVER_QUESTIONS: [&str; 2] = ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"];

/// How a server is asked what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pulling {
    /// As the protocol has it.
    Standard,
    /// It publishes in steps, each with what is left of the last version, and says neither which version they are of nor
    /// when the last step is done. What it is built around can be asked for each step.
    TypeScript,
}

impl Pulling {
    /// How a server that has told this of itself can be asked.
    pub(super) fn of(capabilities: &Value) -> Option<Pulling> {
        let standard = &capabilities["diagnosticProvider"];
        let commands = capabilities["executeCommandProvider"]["commands"].as_array();
        match commands.is_some_and(|commands| commands.iter().any(|command| command == TSSERVER)) {
            true => Some(Pulling::TypeScript),
            false if matches!(standard, Value::Null | Value::Bool(false)) => None,
            false => Some(Pulling::Standard),
        }
    }
}

impl Client {
    /// Asks a server that can be asked, and notes what it answers as found in this version. Whoever waits sees to the time.
    pub(super) async fn pull(&self, path: &Path, version: i32, limit: Duration) {
        // Where there is no answer, it may still tell by itself.
        let Ok(Some(pulling)) = self.ready(limit).await.map(|capabilities| capabilities.pulling) else {
            return;
        };
        if self.state().refuses_asking {
            return;
        }
        loop {
            self.has_read_project().await;
            let answer = match pulling {
                Pulling::Standard => self.pull_standard(path, limit).await,
                Pulling::TypeScript => self.pull_typescript(path, limit).await,
            };
            match answer {
                Ok(Some(diagnostics)) if self.shared().pulled(path, version, &diagnostics) => {
                    return self.shared().tell_news();
                }
                // It was reading the project when it answered.
                Ok(Some(_)) => {}
                Err(RequestError::Refused { code, .. }) if CHANGED_MIND.contains(&code) => {
                    tokio::time::sleep(CHANGED_MIND_PAUSE).await;
                }
                // It would offer this to those who say that they ask.
                Err(RequestError::Refused { code: UNKNOWN_METHOD, .. }) => {
                    self.state().refuses_asking = true;
                    return;
                }
                Ok(None) | Err(_) => return,
            }
        }
    }

    async fn pull_standard(&self, path: &Path, limit: Duration) -> Result<Option<Value>, RequestError> {
        let params = json!({ "textDocument": { "uri": address::of(path) } });
        let mut report = self.request("textDocument/diagnostic", &params, limit).await?;
        Ok((report["kind"] == "full").then(|| report["items"].take()))
    }

    async fn pull_typescript(&self, path: &Path, limit: Duration) -> Result<Option<Value>, RequestError> {
        let arguments = json!({ "file": address::of(path) });
        let ask = |question| async move {
            let params = json!({ "command": TSSERVER, "arguments": [question, arguments, {}] });
            self.request("workspace/executeCommand", &params, limit).await
        };
        let [syntax, meaning] = TSSERVER_QUESTIONS;
        let (syntax, meaning) = tokio::try_join!(ask.clone()(syntax), ask(meaning))?;
        let ignored = &self.shared().purpose.initialization["diagnostics"]["ignoredCodes"];
        Ok(typescript_errors(&[syntax, meaning], ignored))
    }
}

/// What was answered, in the words of the protocol; nothing, if one of the answers is none.
fn typescript_errors(answers: &[Value], ignored: &Value) -> Option<Value> {
    let mut all = Vec::new();
    for answer in answers {
        let found = answer["body"].as_array().filter(|_| answer["success"] != false)?;
        let is_ignored =
            |found: &Value| ignored.as_array().is_some_and(|codes| codes.contains(&found["code"]));
        all.extend(found.iter().filter(|found| !is_ignored(found)).map(typescript_error));
    }
    Some(Value::Array(all))
}

/// Lines and characters are counted from one there.
fn typescript_error(found: &Value) -> Value {
    let from_zero = |number: &Value| number.as_u64().unwrap_or_default().saturating_sub(1);
    let place = |end: &str| {
        let place = &found[end];
        json!({ "line": from_zero(&place["line"]), "character": from_zero(&place["offset"]) })
    };
    let severity = match found["category"].as_str() {
        Some("warning") => 2,
        Some("message") => 3,
        Some("suggestion") => 4,
        Some(_) | None => 1,
    };
    json!({
        "range": { "start": place("start"), "end": place("end") },
        "severity": severity,
        "message": found["text"],
        "code": found["code"],
        "source": found["source"].as_str().unwrap_or("typescript"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_asked_as_they_say() {
        let typescript = json!({ "executeCommandProvider": { "commands": ["other", TSSERVER] } });
        assert_eq!(Pulling::of(&typescript), Some(Pulling::TypeScript));
        assert_eq!(Pulling::of(&json!({ "diagnosticProvider": {} })), Some(Pulling::Standard));
        for none in [json!({ "diagnosticProvider": false, "executeCommandProvider": {} }), json!(null)] {
            assert_eq!(Pulling::of(&none), None);
        }
    }

    #[test]
    fn errors_of_both_steps_are_told_in_the_words_of_the_protocol() {
        let place = |line: u32, offset: u32| json!({ "line": line, "offset": offset });
        let found = |code: u32, category: &str| json!({ "start": place(1, 3), "end": place(2, 1), "text": "no", "code": code, "category": category });
        let answer = |found: Value| json!({ "success": true, "body": found });
        let answers =
            [answer(json!([found(1, "error")])), answer(json!([found(2, "error"), found(3, "suggestion")]))];
        let errors = typescript_errors(&answers, &json!([2])).unwrap();
        assert_eq!(errors.as_array().unwrap().len(), 2);
        assert_eq!(errors[0]["range"]["start"], json!({ "line": 0, "character": 2 }));
        assert_eq!(errors[0]["range"]["end"], json!({ "line": 1, "character": 0 }));
        assert_eq!((&errors[0]["severity"], &errors[1]["severity"]), (&json!(1), &json!(4)));
        // One that has answered only half is not believed to have found nothing.
        assert!(typescript_errors(&[answer(json!([])), json!({ "success": false })], &json!(null)).is_none());
    }
}
