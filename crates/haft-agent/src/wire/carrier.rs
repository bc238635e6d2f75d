//! The seam to whoever carries requests in the place of haft's own connections: a plugin that somebody logged in through.

use haft::BoxFuture;

/// Carries requests to a provider.
pub trait Carrier: Send + Sync {
    /// Carries a request and brings back the answer, whatever its status is.
    fn carry<'a>(&'a self, request: Outbound) -> BoxFuture<'a, Result<Inbound, Dropped>>;
}

/// A request that is to be carried. It holds no secret but what the carrier itself gave.
pub struct Outbound {
    /// The method of HTTP.
    pub method: &'static str,
    /// Where to.
    pub url: String,
    /// Each a name and a value.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Option<String>,
}

/// What came back.
pub struct Inbound {
    /// The status of HTTP.
    pub status: u16,
    /// Each a name and a value.
    pub headers: Vec<(String, String)>,
    /// The rest of it.
    pub body: Box<dyn Arrival>,
}

/// An answer that is arriving. Whoever drops it wants no more of it.
pub trait Arrival: Send {
    /// The next bytes; none at the end.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Dropped>>;
}

/// Why nothing came back. The words hold no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Dropped {
    /// It did not get through, and may another time.
    #[error("{0}")]
    Unreachable(String),
    /// The carrier gave up.
    #[error("{0}")]
    Failed(String),
}
