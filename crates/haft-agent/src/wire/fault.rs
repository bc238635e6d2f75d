//! What goes wrong between haft and a provider, before it is told in the provider's name.

use std::time::Duration;

use serde_json::Value;

use crate::provider::ProviderError;

/// The most characters of a provider's own words.
const MESSAGE_CHARS_MAX: usize = 600;

/// What went wrong.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// A tool cannot be put into the format.
    Incompatible { tool: String, problem: String },
    /// The stream ended early.
    Cut(String),
    /// The stream holds what its format does not know.
    Malformed(String),
    /// The provider reports an error of its own.
    Reported(Report),
}

/// An error in a provider's words.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Report {
    /// The HTTP status, or the number that an error in a stream gives in its place.
    pub(crate) status: Option<u16>,
    /// The provider's words for its kind.
    pub(crate) kind: String,
    /// Its message.
    pub(crate) message: String,
    /// When it wants to be asked again.
    pub(crate) retry_after: Option<Duration>,
}

impl Report {
    /// Reads `{"error": …}` in any of its shapes: an object or a text, below `error` or itself.
    pub(crate) fn of(json: &Value) -> Report {
        // Gemini wraps errors of streams in a list.
        let json = json.get(0).unwrap_or(json);
        let error = json.get("error").filter(|error| !error.is_null()).unwrap_or(json);
        let text = |key: &str| error[key].as_str().map(str::to_owned);
        let number = error["code"].as_u64().or_else(|| error["code"].as_str()?.parse().ok());
        // OpenRouter repeats what the provider behind it said.
        let raw = error["metadata"]["raw"].as_str().map(|raw| format!(": {raw}")).unwrap_or_default();
        let message =
            text("message").or_else(|| error.as_str().map(str::to_owned)).or_else(|| text("detail"));
        let kinds = ["type", "code", "status"].into_iter().filter_map(text);
        Report {
            status: number.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code)),
            kind: kinds.collect::<Vec<_>>().join(" "),
            message: message.unwrap_or_else(|| json.to_string()) + &raw,
            retry_after: None,
        }
    }

    fn says(&self, words: &[&str]) -> bool {
        let (kind, message) = (self.kind.to_lowercase(), self.message.to_lowercase());
        words.iter().any(|word| kind.contains(word) || message.contains(word))
    }

    fn is_kind(&self, words: &[&str]) -> bool {
        let kind = self.kind.to_lowercase();
        words.iter().any(|word| kind.contains(word))
    }

    fn told(self, provider: &str, secrets: &[String]) -> ProviderError {
        const TOO_LONG: &[&str] = &[
            "context_length",
            "context length",
            "context window",
            "context size",
            "maximum context",
            "prompt is too long",
            "input is too long",
            "too many tokens",
            "exceeds the maximum number of tokens",
            "input token count",
            "request_too_large",
            "reduce the length",
        ];
        let (owner, message) = (provider.to_owned(), shown(&self.message, secrets));
        let unpaid = self.is_kind(&["insufficient_quota", "billing", "payment"]);
        if unpaid || self.status == Some(402) {
            return ProviderError::Refused { provider: owner, message };
        }
        let status = self.status.unwrap_or_default();
        if matches!(status, 0 | 400 | 413 | 422) && self.says(TOO_LONG) || status == 413 {
            return ProviderError::TooLong(message);
        }
        let is_unauthorised = matches!(status, 401 | 403)
            || self.is_kind(&["authentication", "permission", "unauthorized", "invalid_api_key"])
            // Gemini answers 400 to a wrong key.
            || self.says(&["api_key_invalid", "api key not valid"]);
        if is_unauthorised {
            return ProviderError::Unauthorised { provider: owner, message };
        }
        let is_busy = matches!(status, 408 | 425 | 429 | 500..=599)
            || self.is_kind(&[
                "overloaded",
                "rate_limit",
                "resource_exhausted",
                "unavailable",
                "server_error",
                "api_error",
                "internal",
                "timeout",
            ]);
        match is_busy {
            true => ProviderError::Busy { provider: owner, message, retry_after: self.retry_after },
            false => ProviderError::Refused { provider: owner, message },
        }
    }
}

impl Fault {
    /// Something that the format does not know.
    pub(crate) fn malformed(what: impl Into<String>) -> Fault {
        Fault::Malformed(what.into())
    }

    /// Tells it in the name of a provider, without the secrets that were sent to it.
    pub(crate) fn told(self, provider: &str, secrets: &[String]) -> ProviderError {
        let owner = provider.to_owned();
        match self {
            Fault::Incompatible { tool, problem } => {
                ProviderError::Incompatible { tool, provider: owner, problem }
            }
            Fault::Cut(message) => {
                ProviderError::Broken { provider: owner, message: shown(&message, secrets) }
            }
            Fault::Malformed(message) => {
                ProviderError::Malformed { provider: owner, message: shown(&message, secrets) }
            }
            Fault::Reported(report) => report.told(provider, secrets),
        }
    }
}

/// Words of a provider: short, harmless on a terminal, and without what only the two may know.
pub(crate) fn shown(message: &str, secrets: &[String]) -> String {
    let hidden = secrets.iter().fold(message.to_owned(), |message, secret| message.replace(secret, "[key]"));
    let mut short: String = hidden.trim().chars().take(MESSAGE_CHARS_MAX).collect();
    if short.len() < hidden.trim().len() {
        short.push('…');
    }
    haft::visible(&short)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(status: Option<u16>, body: &Value) -> String {
        let report = Report { status: status.or(Report::of(body).status), ..Report::of(body) };
        let error = Fault::Reported(report).told("p", &["sk-secret".to_owned()]);
        let text = format!("{error:?}");
        assert!(!text.contains("sk-secret"), "{text}");
        text.split([' ', '(']).next().unwrap_or_default().to_owned()
    }

    #[test]
    fn what_providers_report_is_sorted_by_what_can_be_done_about_it() {
        let openai = |code: &str| json!({"error": {"message": "m sk-secret", "type": "t", "code": code}});
        let cases = [
            (Some(401), json!({"error": {"message": "bad key sk-secret"}}), "Unauthorised"),
            (
                Some(400),
                json!({"error": {"status": "INVALID_ARGUMENT", "message": "API key not valid."}}),
                "Unauthorised",
            ),
            (Some(429), openai("rate_limit_exceeded"), "Busy"),
            (Some(429), openai("insufficient_quota"), "Refused"),
            (
                Some(529),
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}),
                "Busy",
            ),
            (None, json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}), "Busy"),
            (None, json!({"error": {"code": 502, "message": "upstream"}}), "Busy"),
            (Some(400), openai("context_length_exceeded"), "TooLong"),
            (Some(400), json!({"error": {"message": "prompt is too long: 9 > 8"}}), "TooLong"),
            (Some(413), json!("too large"), "TooLong"),
            (Some(400), json!({"error": "model 'x' not found"}), "Refused"),
            (Some(404), json!({"detail": "Not Found"}), "Refused"),
            (Some(402), json!({"error": {"message": "no credits"}}), "Refused"),
        ];
        for (status, body, expected) in cases {
            assert_eq!(kind(status, &body), expected, "{body}");
        }
    }

    #[test]
    fn words_of_providers_are_bounded_and_harmless() {
        let text = shown(&format!("\u{1b}[31m{}", "x".repeat(5000)), &[]);
        assert!(text.chars().count() < 700 && !text.contains('\u{1b}'));
    }
}
