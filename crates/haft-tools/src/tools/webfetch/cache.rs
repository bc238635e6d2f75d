//! What a session has fetched lately, so that asking again for another part or format costs nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft::SessionId;

use super::Format;
use crate::web::Address;

const KEPT: Duration = Duration::from_secs(5 * 60);
const PAGES_MAX: usize = 32;
const BYTES_MAX: usize = 32 << 20;

/// An answer as it came.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) address: Address,
    /// What its header said, as it was written.
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

/// The same page may be another one for whoever wants another format of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) session: SessionId,
    pub(super) url: String,
    pub(super) format: Format,
}

/// The answers that are kept, the oldest first.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<(Key, Instant, Arc<Fetched>)>>);

impl Cache {
    pub(super) fn recall(&self, key: &Key, now: Instant) -> Option<Arc<Fetched>> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(_, at, _)| now.saturating_duration_since(*at) < KEPT);
        pages.iter().find(|(known, _, _)| known == key).map(|(_, _, page)| page.clone())
    }

    pub(super) fn keep(&self, key: Key, now: Instant, page: Arc<Fetched>) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(known, _, _)| *known != key);
        pages.push_back((key, now, page));
        while pages.len() > PAGES_MAX
            || pages.iter().map(|(_, _, page)| page.bytes.len()).sum::<usize>() > BYTES_MAX
        {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Arc, BYTES_MAX, Cache, Fetched, Format, Instant, KEPT, Key, PAGES_MAX};

    fn page(bytes: usize) -> Arc<Fetched> {
        let address = Address::parse("http://a.example").unwrap();
        Arc::new(Fetched { address, content_type: String::new(), bytes: vec![0; bytes] })
    }

    #[test]
    fn pages_are_kept_for_a_session_for_a_while_and_not_too_many() {
        let session = haft::SessionId::mint();
        let key = |url: &str| Key { session: session.clone(), url: url.to_owned(), format: Format::Text };
        let (cache, now) = (Cache::default(), Instant::now());
        cache.keep(key("a"), now, page(1));
        assert!(cache.recall(&key("a"), now + KEPT / 2).is_some());
        assert!(cache.recall(&Key { format: Format::Html, ..key("a") }, now).is_none());
        assert!(cache.recall(&Key { session: haft::SessionId::mint(), ..key("a") }, now).is_none());
        assert!(cache.recall(&key("a"), now + KEPT).is_none());
        for number in 0..=PAGES_MAX {
            cache.keep(key(&number.to_string()), now, page(1));
        }
        assert!(cache.recall(&key("0"), now).is_none() && cache.recall(&key("1"), now).is_some());
        cache.keep(key("large"), now, page(BYTES_MAX));
        assert!(cache.recall(&key("1"), now).is_none() && cache.recall(&key("large"), now).is_some());
    }
}
