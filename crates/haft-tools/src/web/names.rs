//! Looking names up. The client does it itself, so that what was looked at is what it connects to.

use std::io;
use std::net::IpAddr;

use haft::BoxFuture;

/// Knows which addresses a name stands for.
pub trait Names: Send + Sync {
    /// The addresses of a host.
    fn look_up<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Asks the machine, as every other program does.
pub struct SystemNames;

impl Names for SystemNames {
    fn look_up<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
