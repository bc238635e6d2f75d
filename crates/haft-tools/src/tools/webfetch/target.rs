//! What is fetched, and what has to be agreed to.

use std::time::Duration;

use haft::Action;
use haft::permission::{Ask, Question, Reach, Resource, Showing};

use super::{ACTION, Format};
use crate::web::{Address, Consented, Outgoing, Request, WebError, private_question};

/// What browsers say of themselves: some hosts answer nobody else.
const BROWSER: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36";
/// Who is really asking, for hosts that want to know.
const HONEST: &str = concat!("haft/", env!("CARGO_PKG_VERSION"), " (opencode)");

/// A text to fetch for another purpose, under the same rules.
pub(crate) fn plain_target(
    address: &Address,
    spelled: &str,
    time: Duration,
    bytes_max: usize,
) -> Result<FetchTarget, WebError> {
    let mut target = FetchTarget::new(address, spelled, Format::Text)?.within(time);
    target.request.bytes_max = bytes_max;
    Ok(target)
}

/// Something to fetch.
pub(crate) struct FetchTarget {
    request: Request,
    /// As the model wrote it.
    spelled: String,
    private: Option<Question>,
}

impl FetchTarget {
    pub(super) fn new(address: &Address, spelled: &str, format: Format) -> Result<FetchTarget, WebError> {
        let private = private_question(address);
        let mut request = Request::get(address.clone())
            .header("user-agent", BROWSER)?
            .header("accept", format.accepted())?
            .header("accept-language", "en-US,en;q=0.9")?;
        request.honest_agent = HONEST.parse().ok();
        if private.is_some() {
            request.consented = Consented::ThisEndpoint;
        }
        Ok(FetchTarget { request, spelled: spelled.to_owned(), private })
    }

    pub(super) fn within(mut self, time: Duration) -> FetchTarget {
        self.request.time = time;
        self
    }
}

impl Ask for FetchTarget {
    fn questions(&self) -> Vec<Question> {
        let mut question = question(&self.request.address);
        question.resources =
            question.resources.into_iter().map(|one| one.or_forbidden_as(&self.spelled)).collect();
        std::iter::once(question).chain(self.private.clone()).collect()
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing { title: haft::visible(&format!("fetch {}", self.request.address)), detail: String::new() }
    }
}

impl Outgoing for FetchTarget {
    fn request(&self) -> &Request {
        &self.request
    }

    fn onward(&self, to: &Address) -> Option<Question> {
        Some(question(to))
    }
}

/// Whether an address may be fetched. Rules speak of it in its normal form, and those that deny also of what a server makes
/// of it; "always" means its host.
pub(crate) fn question(address: &Address) -> Question {
    let url = address.without_fragment();
    let mut resource = Resource::new(url.as_str());
    if url.path() == "/" && url.query().is_none() {
        resource = resource.or(url.as_str().trim_end_matches('/'));
    }
    let resource = resource.or_forbidden_as(address.unescaped());
    Question::new(Action::new(ACTION), resource).saving(format!("{}/*", address.origin()))
}
