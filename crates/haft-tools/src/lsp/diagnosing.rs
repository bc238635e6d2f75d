//! What is wrong with a file since it was changed: problems that servers find in it now and did not find before.
//!
//! A server is shown the file as it was, unless it has it open already, and then as it is. It is waited for until it has
//! spoken of the version that it was sent, and no longer than there is time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft::BoxFuture;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::client::{Client, Happened};
use super::documents::Baseline;
use super::failure::RequestError;
use super::servers::Known;
use super::{LanguageServers, StartError, TEXT_BYTES_MAX, problems};
use crate::after::{AfterChange, Aftermath, TIME_MAX, Verdict};
use crate::workspace::{Before, LeftFile};

/// So many problems of a file are told.
const TOLD_MAX: usize = 20;
/// So many files of a call are looked at.
const FILES_MAX: usize = 32;
/// A server that an earlier call has started, and that was not ready in all its time, is given so much more.
const STILL_STARTING: Duration = Duration::from_secs(1);

/// Looks for new problems after files were changed.
pub struct Diagnosing {
    servers: Arc<LanguageServers>,
    limit: Duration,
}

/// A file as it was and as it is.
#[derive(Clone)]
struct Changed {
    /// Its place in the list.
    at: usize,
    path: PathBuf,
    /// `None` if it cannot be known.
    before: Option<Arc<str>>,
    now: Arc<str>,
    is_new: bool,
}

/// What a server makes of a file.
struct Judged {
    at: usize,
    by: String,
    outcome: Result<Verdict, String>,
}

impl Diagnosing {
    /// A step that gives servers so much time.
    pub fn new(servers: Arc<LanguageServers>, limit: Duration) -> Diagnosing {
        Diagnosing { servers, limit: limit.min(TIME_MAX) }
    }

    async fn diagnose(&self, files: &[LeftFile]) -> Vec<Aftermath> {
        let deadline = Instant::now() + self.limit;
        let changed: Vec<Changed> =
            files.iter().enumerate().filter_map(|(at, file)| changed(at, file)).collect();
        self.announce(&changed);
        let mut judging = JoinSet::new();
        for file in changed.iter().take(FILES_MAX) {
            for known in self.servers.of(&file.path) {
                let (servers, known, file) = (self.servers.clone(), known.clone(), file.clone());
                judging.spawn(async move { servers.judge(&known, file, deadline).await });
            }
        }
        let mut judged: Vec<Judged> = judging.join_all().await.into_iter().flatten().collect();
        judged.sort_by(|one, other| (one.at, &one.by).cmp(&(other.at, &other.by)));
        joined(judged)
    }

    /// Tells running servers of files that they may not have open.
    fn announce(&self, changed: &[Changed]) {
        for client in self.servers.pool.running() {
            let of_project = changed.iter().filter(|file| file.path.starts_with(client.root()));
            let happened = |file: &Changed| match file.is_new {
                true => (file.path.clone(), Happened::Made),
                false => (file.path.clone(), Happened::Changed),
            };
            let files: Vec<_> = of_project.map(happened).collect();
            if !files.is_empty() {
                // One that is gone does not need to know.
                let _gone = client.announce(&files);
            }
        }
    }
}

impl AfterChange for Diagnosing {
    fn name(&self) -> &'static str {
        "diagnostics"
    }

    fn follow<'a>(&'a self, files: &'a [LeftFile]) -> BoxFuture<'a, Vec<Aftermath>> {
        Box::pin(self.diagnose(files))
    }
}

/// A file that servers can be shown. What is outside belongs to a project that nobody may have trusted.
fn changed(at: usize, file: &LeftFile) -> Option<Changed> {
    let bare = |text: &str| text.strip_prefix('\u{feff}').unwrap_or(text).into();
    let now: Arc<str> = file.text().filter(|text| text.len() <= TEXT_BYTES_MAX).map(bare)?;
    let (before, is_new) = match file.before() {
        Before::Nothing => (None, true),
        Before::Text(text) => (Some(bare(text)), false),
        Before::Unknown => (None, false),
    };
    let path = file.place().real().to_owned();
    file.place().is_inside().then_some(Changed { at, path, before, now, is_new })
}

/// One verdict for each file, of all the servers that are for it.
fn joined(judged: Vec<Judged>) -> Vec<Aftermath> {
    let mut all: Vec<Aftermath> = Vec::new();
    for Judged { at, by, outcome } in judged {
        let (verdict, error) = match outcome {
            Ok(verdict) => (verdict, None),
            Err(error) => (Verdict::default(), Some(error)),
        };
        match all.last_mut().filter(|last| last.file == at) {
            Some(last) => {
                last.by.push_str(&format!(", {by}"));
                let joined = last.verdict.get_or_insert_default();
                joined.problems.extend(verdict.problems);
                joined.more += verdict.more + joined.problems.len().saturating_sub(TOLD_MAX);
                joined.problems.truncate(TOLD_MAX);
                joined.may_be_old |= verdict.may_be_old;
                last.error = last.error.take().or(error);
            }
            None => all.push(Aftermath { file: at, by, text: None, error, verdict: Some(verdict) }),
        }
    }
    all
}

impl LanguageServers {
    /// What a server makes of a file; nothing, if there is no such server here.
    async fn judge(&self, known: &Known, file: Changed, deadline: Instant) -> Option<Judged> {
        let left = deadline.saturating_duration_since(Instant::now());
        let client = match self.client(known, &file.path).await {
            Ok(client) if client.age() > left => self.ready_client(known, &file.path, STILL_STARTING).await,
            Ok(_) => self.ready_client(known, &file.path, left).await,
            Err(error) => Err(error),
        };
        let outcome = match client {
            Ok(client) => compared(&client, &file, deadline).await.map_err(|error| error.to_string()),
            // That one is missing is for `haft doctor` to say, and that one fails was said before.
            Err(StartError::Absent { .. } | StartError::Resting { .. } | StartError::TooMany(_)) => {
                return None;
            }
            Err(StartError::Untrusted { ref repository, .. }) if !self.pool.is_news(repository) => {
                return None;
            }
            Err(
                error @ (StartError::Untrusted { .. }
                | StartError::Start { .. }
                | StartError::NotReady { .. }),
            ) => Err(error.to_string()),
        };
        Some(Judged { at: file.at, by: known.name.clone(), outcome })
    }
}

/// The problems that a file has now and did not have before.
async fn compared(client: &Client, file: &Changed, deadline: Instant) -> Result<Verdict, RequestError> {
    let Changed { path, now, .. } = file;
    let known = known_before(client, file, deadline).await?;
    let version = client.put(path, now)?;
    // Until somebody was told of more, this is what is known.
    note(client, path, version, known.clone());
    client.saved(path)?;
    let found = client.findings(path, version, deadline).await;
    // Once for each change: that nothing was found in the file as it was is part of the same silence.
    if let Err(RequestError::TimedOut(_)) = found {
        client.state().silences += 1;
    }
    let found = found?;
    note(client, path, version, Some(Baseline { problems: found.clone(), text: now.clone() }));
    let new = match &known {
        Some(Baseline { problems, text }) => problems::new(problems, text, &found, now),
        None => found.to_vec(),
    };
    let more = new.len().saturating_sub(TOLD_MAX);
    Ok(Verdict { problems: new.into_iter().take(TOLD_MAX).collect(), more, may_be_old: known.is_none() })
}

/// Notes what is known of a version of a file, unless there is a newer one already.
fn note(client: &Client, path: &Path, version: i32, known: Option<Baseline>) {
    if let Some(document) = client.state().documents.get_mut(path).filter(|open| open.version == version) {
        document.known = known;
    }
}

/// The problems that a file had before it was changed; `None` if there was no finding out.
async fn known_before(
    client: &Client,
    file: &Changed,
    deadline: Instant,
) -> Result<Option<Baseline>, RequestError> {
    let Changed { path, before, is_new, .. } = file;
    let Some(before) = before else {
        return Ok(is_new.then(|| Baseline { problems: Arc::new([]), text: Arc::from("") }));
    };
    // What nobody was told of yet, because it was found too late, still counts as new.
    let told = open_as(client, path, before);
    if told.is_some() {
        return Ok(told);
    }
    let version = client.put(path, before)?;
    // The other half is for the file as it is now.
    let half = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
    match client.findings(path, version, half).await {
        Ok(problems) => Ok(Some(Baseline { problems, text: before.clone() })),
        Err(RequestError::TimedOut(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What is known of a file that a server has open with this very text.
fn open_as(client: &Client, path: &Path, text: &str) -> Option<Baseline> {
    let state = client.state();
    let open = state.documents.get(path).filter(|open| *open.text == *text)?;
    open.known.clone()
}
