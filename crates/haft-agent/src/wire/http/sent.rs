//! Requests over connections of our own, sent again where a server let go of one without having looked at it.

use std::error::Error;
use std::sync::Arc;

use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, Url};

use super::{Arriving, Http};
use crate::provider::{Headers, ProviderError};
use crate::wire::document::{Document, Unread};

/// So often a request is sent again.
const REPEATS_MAX: u32 = 2;

impl Http {
    /// Sends a request, and waits for the beginning of the answer.
    pub(super) async fn sent(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Option<Document>,
        further: &Headers,
    ) -> Result<(StatusCode, HeaderMap, Arriving), ProviderError> {
        let client = self.client(&url)?;
        let document = body.map(Arc::new);
        let unread = document.as_ref().map_or_else(Unread::default, |document| document.unread());
        let mut repeats = 0;
        let response = loop {
            let request = client.request(method.clone(), url.clone()).headers(headers.clone());
            let request = match &document {
                Some(document) => request.body(document.body()),
                None => request,
            };
            let why = match tokio::time::timeout(self.idle, request.send()).await {
                Ok(Ok(response)) => break response,
                Ok(Err(error)) if repeats < REPEATS_MAX && was_turned_away(&error) => {
                    repeats += 1;
                    continue;
                }
                Ok(Err(error)) => haft::causes(&error.without_url()),
                Err(_) => format!("no answer in {} seconds", self.idle.as_secs()),
            };
            return Err(unread.told().unwrap_or_else(|| self.unreachable(&why, further)));
        };
        Ok((response.status(), response.headers().clone(), Arriving::Streaming(response, unread)))
    }
}

/// Whether a server says that it did nothing with a request, as those do that are about to close a connection.
fn was_turned_away(error: &reqwest::Error) -> bool {
    let causes = std::iter::successors(error.source(), |&error| error.source());
    let said = causes.filter_map(|error| error.downcast_ref::<h2::Error>()).find(|error| error.is_remote());
    said.is_some_and(|said| {
        (said.is_go_away() && said.reason() == Some(h2::Reason::NO_ERROR))
            || (said.is_reset() && said.reason() == Some(h2::Reason::REFUSED_STREAM))
    })
}

#[cfg(test)]
mod tests;
