//! Waiting for what a server finds in the version of a file that it was sent, and no longer than it takes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::client::Client;
use super::failure::RequestError;
use super::habits::Fence;
use crate::after::Problem;

/// A server that does not say which version it speaks of is given so long to say more, unless it needs longer or nobody
/// knows yet: see `LspLimits::settling`.
const SPOKEN: Duration = Duration::from_millis(35);
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
        tokio::time::timeout(limit, findings).await.unwrap_or(Err(RequestError::TimedOut(limit)))
    }

    /// Waits until a server does not say that it is reading the project.
    pub(super) async fn has_read_project(&self) {
        let mut news = self.shared().news.subscribe();
        loop {
            news.borrow_and_update();
            if !self.state().is_unready || news.changed().await.is_err() {
                return;
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
        let settling = self.shared().purpose.settling;
        let mut state = self.state();
        let documents = &state.documents;
        let (habits, slowest) = (documents.habits, documents.slowest);
        let Some(document) = documents.get(path) else { return Step::WaitForNews };
        let Some(found) = &document.found else { return Step::WaitForNews };
        if found.version >= version && found.is_certain() {
            return Step::Done(found.problems.clone());
        }
        if believed == Believed::Versions {
            return Step::WaitForNews;
        }
        let is_spoken = found.version >= version;
        let mut shows_habits = false;
        let (since, limit) = if is_spoken {
            let is_early = found.is_early() && habits.speaks_at_once != Some(true);
            let is_of_version = document.fence == Fence::Passed && !is_early && !document.is_behind;
            shows_habits = is_of_version && documents.is_told_last(document);
            let has_said_all = habits.was_heard_out && found.step() >= habits.steps;
            (found.at, if is_of_version && has_said_all { SPOKEN } else { settling })
        } else {
            // Silence says something once the server has read what it is silent about.
            let has_read = document.fence != Fence::Ahead || !habits.answers;
            let may_be_quiet = found.problems.is_empty() || found.is_early();
            if habits.gives_versions != Some(false) || !has_read || !may_be_quiet {
                return Step::WaitForNews;
            }
            let since = if found.is_early() { document.sent.max(found.at) } else { document.sent };
            (since, QUIET_MIN.max(slowest * QUIET_TIMES))
        };
        let left = limit.saturating_sub(since.elapsed());
        if !left.is_zero() {
            return Step::WaitFor(left);
        }
        let problems = found.problems.clone();
        state.documents.hear_out(path, version, shows_habits);
        Step::Done(problems)
    }
}
