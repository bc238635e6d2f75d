//! Waiting for what a server finds in the version of a file that it was sent, and no longer than it takes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::client::Client;
use super::shared::RequestError;
use crate::after::Problem;

/// A server that does not say which version it speaks of is given so long to say more.
const SETTLING: Duration = Duration::from_millis(250);
/// Such a server may also say nothing where nothing has changed. It is waited for at least so long,
const QUIET_MIN: Duration = Duration::from_secs(1);
/// and so many times as long as it has ever taken.
const QUIET_TIMES: u32 = 3;
/// A server that has found nothing in time is given less and less of it, down to this.
const SILENT_MIN: Duration = Duration::from_secs(1);
/// A server that is busy with the whole project shows it within this time of its start.
const BEGINNING: Duration = Duration::from_millis(500);

/// What is to be done while nothing was found.
enum Step {
    Done(Arc<[Problem]>),
    /// Nothing but news can change anything.
    WaitForNews,
    /// So much time alone does, too.
    WaitFor(Duration),
}

/// What is taken for findings of a version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Believed {
    /// Only what the server says is of it: it was asked, and will answer.
    Versions,
    /// Also what comes after it was sent and is followed by nothing else, and silence.
    Quiet,
}

impl Client {
    /// The problems of a version of a file. Those of a later version will do.
    pub(super) async fn findings(
        &self,
        path: &Path,
        version: i32,
        deadline: Instant,
    ) -> Result<Arc<[Problem]>, RequestError> {
        let limit = self.lenience(deadline.saturating_duration_since(Instant::now()));
        let findings = async {
            tokio::select! {
                found = self.published(path, version, Believed::Versions) => return found,
                () = self.pull(path, version, limit) => {}
            }
            self.published(path, version, Believed::Quiet).await
        };
        match tokio::time::timeout(limit, findings).await {
            Ok(found) => found,
            Err(_) => {
                self.state().silences += 1;
                Err(RequestError::TimedOut(limit))
            }
        }
    }

    /// Waits, for a while, until a server is no longer busy with the whole project.
    pub(super) async fn settled(&self, limit: Duration) {
        let settled = async {
            let mut news = self.shared().news.subscribe();
            loop {
                news.borrow_and_update();
                let is_beginning = self.age() < BEGINNING && !self.state().has_progressed;
                if self.ended().is_some() || !(self.shared().is_busy() || is_beginning) {
                    return;
                }
                let left = BEGINNING.saturating_sub(self.age()).max(Duration::from_millis(10));
                let heard = news.changed();
                if is_beginning {
                    let _either = tokio::time::timeout(left, heard).await;
                } else if heard.await.is_err() {
                    return;
                }
            }
        };
        // What it knows by then is what it is asked for.
        let _busy = tokio::time::timeout(limit, settled).await;
    }

    fn lenience(&self, limit: Duration) -> Duration {
        let silences = self.state().silences.min(8);
        limit.min((limit / 2u32.pow(silences)).max(SILENT_MIN))
    }

    async fn published(
        &self,
        path: &Path,
        version: i32,
        believed: Believed,
    ) -> Result<Arc<[Problem]>, RequestError> {
        let mut news = self.shared().news.subscribe();
        loop {
            news.borrow_and_update();
            if let Some(ended) = self.ended() {
                return Err(RequestError::Gone(ended));
            }
            let closed = match self.step(path, version, believed) {
                Step::Done(problems) => return Ok(problems),
                Step::WaitForNews => news.changed().await.is_err(),
                Step::WaitFor(time) => {
                    tokio::time::timeout(time, news.changed()).await.is_ok_and(|news| news.is_err())
                }
            };
            if closed {
                return Err(RequestError::Deaf);
            }
        }
    }

    fn step(&self, path: &Path, version: i32, believed: Believed) -> Step {
        let state = self.state();
        let Some(document) = state.documents.get(path) else { return Step::WaitForNews };
        let Some(found) = &document.found else { return Step::WaitForNews };
        if found.version >= version && found.is_certain {
            return Step::Done(found.problems.clone());
        }
        if believed == Believed::Versions {
            return Step::WaitForNews;
        }
        if found.version >= version {
            let left = SETTLING.saturating_sub(found.at.elapsed());
            return match left.is_zero() {
                true => Step::Done(found.problems.clone()),
                false => Step::WaitFor(left),
            };
        }
        let may_be_quiet = state.documents.gives_versions == Some(false) && found.problems.is_empty();
        if !may_be_quiet {
            return Step::WaitForNews;
        }
        let quiet = QUIET_MIN.max(state.documents.slowest * QUIET_TIMES);
        match quiet.checked_sub(document.sent.elapsed()) {
            Some(left) if !left.is_zero() => Step::WaitFor(left),
            Some(_) | None => Step::Done(found.problems.clone()),
        }
    }
}
