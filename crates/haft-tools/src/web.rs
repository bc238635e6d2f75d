//! The network as tools reach it: one guarded client that decides about every address it connects to.
//!
//! Whoever sends something makes an [`Outgoing`] target, has it permitted, and hands the permit to [`Web::exchange`].
//! The client looks the name up itself, asks where the name leads to a private address, connects to the very
//! addresses it has looked at, and does the same again for each redirect. Time and bytes are limited for the whole
//! exchange, bytes as they are after unpacking.

mod address;
mod charset;
mod client;
mod clock;
mod error;
mod names;
mod proxies;
mod reply;
mod request;
mod route;
mod tls;

pub(crate) use charset::{ContentType, decode};

pub(crate) use address::shown;
pub use address::{Address, BadAddress};
pub use client::Web;
pub use error::WebError;
pub use names::{Names, SystemNames};
pub use proxies::Proxies;
pub use reply::{Progress, Reply};
pub use request::{Consented, Method, Outgoing, Request};
pub use route::{PRIVATE_ADDRESS, private_question};

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
