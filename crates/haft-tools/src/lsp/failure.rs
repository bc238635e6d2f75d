//! Why there is no answer, and what a server says about it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

/// So much of what a server complains of is told.
const COMPLAINT_CHARS_MAX: usize = 300;

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum RequestError {
    /// The server is gone.
    #[error("it ended: {}", .0.why)]
    Gone(Arc<Ended>),
    /// It takes too long.
    #[error("it gave no answer within {:.1} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// It finds nothing, and says each time that it has not read the project.
    #[error("it is still reading the project, and finds nothing before that")]
    StillReading,
    /// It takes nothing any more.
    #[error("it no longer reads what it is sent")]
    Deaf,
    /// It says that it cannot.
    #[error("it says: {message}")]
    Refused {
        /// The protocol's code.
        code: i64,
        /// Its words.
        message: String,
    },
}

/// The end of a server.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How it came to its end.
    pub(super) why: String,
    /// Whether it was asked to.
    pub(super) is_wanted: bool,
    pub(super) at: Instant,
    /// How long it ran.
    pub(super) lived: Duration,
}

/// What a server answered.
pub(super) fn outcome(message: &Value) -> Result<Value, RequestError> {
    match message.get("error").filter(|error| !error.is_null()) {
        Some(error) => Err(RequestError::Refused {
            code: error["code"].as_i64().unwrap_or_default(),
            message: in_short(error["message"].as_str().unwrap_or("an error without words")),
        }),
        None => Ok(message["result"].clone()),
    }
}

/// What a server says, as far as it is told.
fn in_short(said: &str) -> String {
    // One more than is told shows that there is more; what makes characters visible may lengthen it.
    let shown = haft::visible(&said.chars().take(COMPLAINT_CHARS_MAX + 1).collect::<String>());
    match shown.char_indices().nth(COMPLAINT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{RequestError, outcome};

    #[test]
    fn complaints_are_told_in_short() {
        let said = |message: &str| outcome(&json!({"error": {"code": 1, "message": message}})).unwrap_err();
        assert_eq!(said("no").to_string(), "it says: no");
        let long = said(&"é".repeat(100_000)).to_string();
        assert_eq!(long, format!("it says: {}…", "é".repeat(300)));
        let late = RequestError::TimedOut(Duration::from_micros(2_999_935));
        assert_eq!(late.to_string(), "it gave no answer within 3.0 s");
    }
}
