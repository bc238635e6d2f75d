//! Search services on the web: what is asked of them, where they are, and whose key is shown to them.
//!
//! They speak one message of the Model Context Protocol, without a handshake: [`protocol`] writes and reads it,
//! [`exchange`] sends it through the guarded client. A key is part of the request and of nothing else: it is taken out of
//! whatever comes back, in case a service repeats it.

mod exchange;
mod protocol;

use std::fmt;

use haft::SessionId;

use crate::web::{Address, BadAddress};

pub(crate) use exchange::{Inquiry, Purpose};

/// A company that searches the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// <https://exa.ai>
    Exa,
    /// <https://parallel.ai>
    Parallel,
}

impl Provider {
    /// Every one.
    pub const ALL: [Provider; 2] = [Provider::Exa, Provider::Parallel];

    /// The word for it, in configuration and metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Exa => "exa",
            Provider::Parallel => "parallel",
        }
    }

    /// The provider of this word.
    pub fn parse(word: &str) -> Option<Provider> {
        Provider::ALL.into_iter().find(|provider| provider.as_str() == word)
    }

    /// Its name as people write it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Provider::Exa => "Exa",
            Provider::Parallel => "Parallel",
        }
    }

    fn url(self) -> &'static str {
        match self {
            Provider::Exa => "https://mcp.exa.ai/mcp",
            Provider::Parallel => "https://search.parallel.ai/mcp",
        }
    }

    /// The one of a session that nobody chose for: each has half of them, and a session keeps its own.
    pub(crate) fn of_session(session: &SessionId) -> Provider {
        let mixed = |hash: u32, unit: u16| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193);
        let hash = session.as_str().encode_utf16().fold(0x811c_9dc5, mixed);
        if hash % 2 == 0 { Provider::Exa } else { Provider::Parallel }
    }
}

/// A key that is shown to a service and to nobody else.
#[derive(Clone, PartialEq, Eq)]
pub struct ServiceKey(String);

impl ServiceKey {
    /// A key; `None` if there is nothing in it.
    pub fn new(key: &str) -> Option<ServiceKey> {
        let key = key.trim();
        (!key.is_empty()).then(|| ServiceKey(key.to_owned()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ServiceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceKey(…)")
    }
}

/// A service that can be asked.
#[derive(Debug, Clone)]
pub struct Service {
    pub(crate) provider: Provider,
    address: Address,
    is_configured: bool,
    key: Option<ServiceKey>,
}

impl Service {
    /// A service: at its own address unless another is configured.
    pub fn new(
        provider: Provider,
        url: Option<&str>,
        key: Option<ServiceKey>,
    ) -> Result<Service, BadAddress> {
        let address = Address::parse(url.unwrap_or(provider.url()))?;
        Ok(Service { provider, address, is_configured: url.is_some(), key })
    }

    /// Whether somebody set it up: nobody's key or address was ever found for it otherwise.
    pub fn is_set_up(&self) -> bool {
        self.is_configured || self.key.is_some()
    }
}

/// How the web is searched.
#[derive(Debug, Clone)]
pub struct WebSearching {
    /// Who was chosen. Otherwise it is the only one that is set up, or each session has its own.
    pub provider: Option<Provider>,
    /// Exa.
    pub exa: Service,
    /// Parallel.
    pub parallel: Service,
}

impl Default for WebSearching {
    /// Both at their own addresses, without keys.
    fn default() -> WebSearching {
        let shipped = |provider| Service::new(provider, None, None).expect("the shipped addresses are valid");
        let (exa, parallel) = (shipped(Provider::Exa), shipped(Provider::Parallel));
        WebSearching { provider: None, exa, parallel }
    }
}

impl WebSearching {
    /// Who is asked: the one that was chosen, else the only one that is set up, else the one of the session.
    pub(crate) fn service(&self, session: &SessionId) -> &Service {
        let provider = self.provider.or(match (self.exa.is_set_up(), self.parallel.is_set_up()) {
            (true, false) => Some(Provider::Exa),
            (false, true) => Some(Provider::Parallel),
            (true, true) | (false, false) => None,
        });
        match provider.unwrap_or_else(|| Provider::of_session(session)) {
            Provider::Exa => &self.exa,
            Provider::Parallel => &self.parallel,
        }
    }
}

#[cfg(test)]
mod tests;
