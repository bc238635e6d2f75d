//! How an exchange can fail. The words name hosts and never whole addresses, which may hold keys.

use std::time::Duration;

use haft::ToolError;

use super::{BadAddress, tls};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// Somebody has to agree and does not.
    #[error(transparent)]
    Consent(ToolError),
    /// It did not come in time.
    #[error("Request timed out after {} seconds; try again with a larger timeout, or another address", .0.as_secs_f32())]
    TimedOut(Duration),
    /// It has more bytes than are taken.
    #[error("Response too large (exceeds {} limit)", Bytes(*.0))]
    TooLarge(usize),
    /// The name leads nowhere.
    #[error("could not resolve {host}: {reason}; check the spelling, and whether this machine is online")]
    Unresolved {
        /// The name.
        host: String,
        /// Why not.
        reason: String,
    },
    /// Nobody answers there.
    #[error("could not connect to {host}: {reason}")]
    Unreachable {
        /// The host and port, and the proxy that was to lead there.
        host: String,
        /// Why not.
        reason: String,
    },
    /// It cannot be made sure that it is the host.
    #[error("TLS error: the connection to {host} is not secure: {reason}")]
    Tls {
        /// The host and port.
        host: String,
        /// Why not.
        reason: String,
    },
    /// The answer broke off, or is none.
    #[error("{host} sent a broken answer: {reason}")]
    Broken {
        /// The host and port.
        host: String,
        /// What is wrong.
        reason: String,
    },
    /// It is sent on and on.
    #[error("too many redirects: gave up after {0}")]
    TooManyRedirects(usize),
    /// It is sent on to what is no address.
    #[error("{host} redirects to what cannot be requested: {problem}")]
    BadRedirect {
        /// The host that redirects.
        host: String,
        /// What is wrong with the new address.
        #[source]
        problem: BadAddress,
    },
    /// It is sent on to where it must not go.
    #[error("{host} redirects to {to}, which is not followed; use that address itself if it is meant")]
    NotFollowed {
        /// The host that redirects.
        host: String,
        /// The origin it redirects to.
        to: String,
    },
    /// A header holds what cannot be sent.
    #[error("the header {0} holds what cannot be sent")]
    Header(&'static str),
    /// This machine cannot make connections.
    #[error("no connection can be made: {0}")]
    Client(String),
}

impl WebError {
    /// Says what a failed connection failed of.
    pub(super) fn of(error: reqwest::Error, host: String) -> WebError {
        let error = error.without_url();
        if let Some(reason) = tls::problem(&error) {
            return WebError::Tls { host, reason };
        }
        let reason = haft::visible(&innermost(&error));
        match error.is_connect() {
            true => WebError::Unreachable { host, reason },
            false => WebError::Broken { host, reason },
        }
    }
}

impl From<ToolError> for WebError {
    fn from(error: ToolError) -> WebError {
        WebError::Consent(error)
    }
}

impl From<WebError> for ToolError {
    /// All of it is something a model can do something about.
    fn from(error: WebError) -> ToolError {
        match error {
            WebError::Consent(error) => error,
            other => ToolError::failure(other.to_string()),
        }
    }
}

/// The last of the causes: those before it only say that something went wrong.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// A number of bytes as people write it.
struct Bytes(usize);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => write!(f, "{}MB", bytes >> 20),
            bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => write!(f, "{}KB", bytes >> 10),
            bytes => write!(f, "{bytes} byte"),
        }
    }
}
