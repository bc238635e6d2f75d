//! The client: looks up, asks, connects to what it looked up, and starts again where it is sent on.

use std::sync::Arc;

use haft::permission::{Ask, Gate, Permit, Question, Reach, Showing};
use haft::{ToolContext, ToolError};
use reqwest::header::{HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use reqwest::{Client, Response, StatusCode, redirect};

use super::clock::Clock;
use super::names::{Names, SystemNames};
use super::proxies::Proxies;
use super::reply::Reply;
use super::request::{Consented, Method, Outgoing, Request};
use super::route::{Route, Way, endpoint, is_private};
use super::{Address, WebError};

/// The guarded client. Cloning it is cheap.
#[derive(Clone)]
pub struct Web(Arc<Parts>);

struct Parts {
    names: Box<dyn Names>,
    proxies: Proxies,
}

/// Asks somebody whether to go on to another address.
struct Hop {
    question: Question,
    shown: String,
}

impl Ask for Hop {
    fn questions(&self) -> Vec<Question> {
        vec![self.question.clone()]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing { title: self.shown.clone(), detail: String::new() }
    }
}

impl Default for Web {
    /// A client that uses no proxy.
    fn default() -> Web {
        Web::new(Proxies::default())
    }
}

impl Web {
    /// A client that looks names up as the machine does.
    pub fn new(proxies: Proxies) -> Web {
        Web::with_names(SystemNames, proxies)
    }

    /// A client that looks names up elsewhere.
    pub fn with_names(names: impl Names + 'static, proxies: Proxies) -> Web {
        Web(Arc::new(Parts { names: Box::new(names), proxies }))
    }

    /// Sends what was agreed to, follows redirects as far as that is agreed to, and returns the answer once its headers
    /// are there. Dropping the future or the answer ends the connection.
    pub async fn exchange<A: Outgoing>(
        &self,
        permit: Permit<A>,
        gate: &Gate,
        context: &ToolContext,
    ) -> Result<Reply, WebError> {
        let outgoing = permit.into_target();
        let request = outgoing.request();
        let mut clock = Clock::start(request.time);
        let mut headers = request.headers.clone();
        let (mut address, mut consented) = (request.address.clone(), request.consented);
        for _ in 0..=request.redirects_max {
            let route = self.route(address.clone(), consented, &clock).await?;
            let route = clock.paused(gate.grant(context, route)).await?;
            let response = clock.within(send(route, request, &headers)).await??;
            let next = match request.answers_redirects {
                true => None,
                false => redirected(&response, &address)?,
            };
            let Some(next) = next else {
                return Reply::new(address, response, clock, request.bytes_max);
            };
            let not_followed = || WebError::NotFollowed { host: address.endpoint(), to: next.origin() };
            let question = match request.method {
                Method::Get => outgoing.onward(&next),
                Method::Post(_) | Method::Other(..) => None,
            };
            let question = question.ok_or_else(not_followed)?;
            clock.paused(agree(gate, context, question, &address, &next)).await?;
            if next.origin() != address.origin() {
                headers = without_secrets(&headers);
            }
            // Whoever agreed to an endpoint has agreed to it wherever it stands in the chain, and to no other.
            let is_same = next.endpoint() == request.address.endpoint();
            consented = if is_same { request.consented } else { Consented::Public };
            address = next;
        }
        Err(WebError::TooManyRedirects(request.redirects_max))
    }

    /// Finds out where an address leads.
    async fn route(&self, address: Address, consented: Consented, clock: &Clock) -> Result<Route, WebError> {
        if let Some(found) = address.literal() {
            return Ok(match self.0.proxies.proxy_for(&address) {
                // What is private is private to this machine, so a proxy would reach something else.
                Some(proxy) if !is_private(&found) => Route::over(address, proxy.clone(), consented),
                _ => Route::direct(address, &found, consented),
            });
        }
        let found = clock.within(self.0.names.look_up(address.host())).await?;
        let proxy = self.0.proxies.proxy_for(&address);
        match (found, proxy) {
            (Ok(found), None) if !found.is_empty() => Ok(Route::direct(address, &found, consented)),
            (Ok(found), Some(_)) if is_private(&found) => Ok(Route::direct(address, &found, consented)),
            // Behind a proxy, machines often cannot look up the names of others.
            (_, Some(proxy)) => Ok(Route::over(address, proxy.clone(), consented)),
            (Ok(_), None) => Err(WebError::Unresolved {
                host: address.host().to_owned(),
                reason: "it has no address".to_owned(),
            }),
            (Err(error), None) => {
                Err(WebError::Unresolved { host: address.host().to_owned(), reason: error.to_string() })
            }
        }
    }
}

async fn agree(
    gate: &Gate,
    context: &ToolContext,
    question: Question,
    from: &Address,
    to: &Address,
) -> Result<(), ToolError> {
    let shown = format!("go on to {to}, where {} redirects", from.endpoint());
    let _agreed = gate.grant(context, Hop { question, shown: haft::visible(&shown) }).await?;
    Ok(())
}

/// Sends a request to the addresses that were looked at, and once more if a challenge comes back.
async fn send(permit: Permit<Route>, request: &Request, headers: &HeaderMap) -> Result<Response, WebError> {
    let route = permit.into_target();
    let client = client(&route)?;
    let response = send_once(&client, &route, request, headers.clone()).await?;
    match &request.honest_agent {
        Some(agent) if is_challenge(&response) => {
            let mut headers = headers.clone();
            headers.insert(USER_AGENT, agent.clone());
            send_once(&client, &route, request, headers).await
        }
        Some(_) | None => Ok(response),
    }
}

async fn send_once(
    client: &Client,
    route: &Route,
    request: &Request,
    headers: HeaderMap,
) -> Result<Response, WebError> {
    let url = route.address.without_fragment();
    let builder = match &request.method {
        Method::Get => client.get(url),
        Method::Post(body) => client.post(url).body(body.clone()),
        Method::Other(method, body) => client.request(method.clone(), url).body(body.clone()),
    };
    let sent = builder.headers(headers).send().await;
    sent.map_err(|error| match (WebError::of(error, route.address.endpoint()), &route.way) {
        (WebError::Unreachable { host, reason }, Way::Proxy(proxy)) => {
            WebError::Unreachable { host: format!("{host} over the proxy {}", endpoint(proxy)), reason }
        }
        (error, _) => error,
    })
}

/// A client for one route. No connection is kept: the next request has to be agreed to by itself.
fn client(route: &Route) -> Result<Client, WebError> {
    // Whoever was first has installed the same.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let url = route.address.url();
    let failed = |error: reqwest::Error| WebError::Client(haft::causes(&error.without_url()));
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .pool_max_idle_per_host(0);
    builder = match &route.way {
        Way::Direct(addresses) => builder.resolve_to_addrs(url.host_str().unwrap_or_default(), addresses),
        Way::Proxy(proxy) => builder.proxy(reqwest::Proxy::all(proxy.clone()).map_err(failed)?),
    };
    // Without encryption no certificates are needed, and a machine may have none.
    let is_plain =
        url.scheme() == "http" && !matches!(&route.way, Way::Proxy(proxy) if proxy.scheme() == "https");
    let builder = if is_plain { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(failed)
}

/// Whether a host wants to know that a browser is asking.
fn is_challenge(response: &Response) -> bool {
    let mitigated = response.headers().get("cf-mitigated");
    response.status() == StatusCode::FORBIDDEN && mitigated.is_some_and(|value| value == "challenge")
}

/// Where an answer redirects, if it does.
fn redirected(response: &Response, from: &Address) -> Result<Option<Address>, WebError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes());
    let next = from.join(&location);
    next.map(Some).map_err(|problem| WebError::BadRedirect { host: from.endpoint(), problem })
}

fn without_secrets(headers: &HeaderMap) -> HeaderMap {
    let open = |(_, value): &(&_, &HeaderValue)| !value.is_sensitive();
    headers.iter().filter(open).map(|(name, value)| (name.clone(), value.clone())).collect()
}
