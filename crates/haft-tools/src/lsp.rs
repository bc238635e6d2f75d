//! Language servers: programs that know a language, started when they are first needed and spoken to over their
//! standard streams. They answer questions about code, and say what is wrong with a file after it was changed.
//!
//! Nothing is fetched, and none is started in a project that nobody trusts: a server runs what the project's own
//! configuration tells it to. One that is started can look at files, and change none of them.

mod address;
mod answers;
mod asking;
mod capabilities;
mod client;
mod diagnosing;
mod documents;
mod failure;
mod found;
mod framing;
mod habits;
mod listening;
mod pool;
mod position;
mod problems;
mod pulling;
mod servers;
mod shared;
mod waiting;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::blocking::blocking;
use crate::listed::ProgramEntry;
use crate::process::{FilterError, Processes, untrusted};
use crate::workspace::Workspace;
pub(crate) use asking::{Operation, Query};
use client::Client;
pub use diagnosing::Diagnosing;
use failure::RequestError;
use pool::Pool;
use servers::Known;

/// All servers together are given so much time after a call to say what is wrong, unless configured otherwise.
pub const DIAGNOSING_TIME: Duration = Duration::from_secs(15);
/// Larger files are not shown to servers.
pub(crate) const TEXT_BYTES_MAX: usize = 4 << 20;

/// The names of the language servers that are built in.
pub fn built_in_servers() -> impl Iterator<Item = &'static str> {
    servers::names()
}

/// What is configured of a language server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerEntry {
    /// What it has in common with other programs.
    pub program: ProgramEntry,
    /// What it is told when it is started.
    pub initialization: Option<Value>,
}

impl AsRef<ProgramEntry> for ServerEntry {
    fn as_ref(&self) -> &ProgramEntry {
        &self.program
    }
}

/// How long servers are waited for, and how many there may be.
#[derive(Debug, Clone, Copy)]
pub struct LspLimits {
    /// To become ready.
    pub start: Duration,
    /// To answer a question.
    pub request: Duration,
    /// Without being used, before one is ended.
    pub idle: Duration,
    /// To say more about a text, for one that names no versions and was never given so long before, or was seen to speak
    /// more than once about one.
    pub settling: Duration,
    /// So many run at a time.
    pub servers_max: usize,
}

impl Default for LspLimits {
    fn default() -> LspLimits {
        LspLimits {
            start: Duration::from_secs(45),
            request: Duration::from_secs(30),
            idle: Duration::from_secs(600),
            settling: Duration::from_millis(250),
            servers_max: 8,
        }
    }
}

/// Whether there are language servers in a location.
#[derive(Clone)]
pub enum Languages {
    /// There may be some.
    On(Arc<LanguageServers>),
    /// The configuration wants none.
    Off,
    /// Nobody trusts the project.
    Untrusted,
}

/// The language servers of a location. When this is dropped they are asked to end, and made to if they do not.
pub struct LanguageServers {
    known: Vec<Known>,
    pool: Arc<Pool>,
}

/// A server that is known, and where its program is.
#[derive(Debug)]
pub struct KnownServer {
    /// Its name.
    pub name: String,
    /// How the names of its files end.
    pub extensions: Vec<String>,
    /// Its program, if it is there.
    pub program: Option<PathBuf>,
    /// What it is started as.
    pub command: String,
    /// How to get it.
    pub install: String,
}

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// Its program is not there.
    #[error("{name} is not installed ({command} was not found){}", .install.as_ref().map(|how| format!(": {how}")).unwrap_or_default())]
    Absent {
        /// The server.
        name: String,
        /// Its program.
        command: String,
        /// How to get it.
        install: Option<String>,
    },
    /// Its file is somebody's whom nobody trusts.
    #[error("{name} is not started, because {}", untrusted(.repository))]
    Untrusted {
        /// The server.
        name: String,
        /// The repository that the file belongs to.
        repository: PathBuf,
    },
    /// It ended too often.
    #[error("{name} ended {times} times in a row ({why}); it is tried again in {} s", left.as_secs() + 1)]
    Resting {
        /// The server.
        name: String,
        /// So many times.
        times: u32,
        /// How it ended last.
        why: String,
        /// How long it is left alone.
        left: Duration,
    },
    /// There are enough.
    #[error("{0} language servers run already and all are busy; try again when one of them has answered")]
    TooMany(usize),
    /// It could not be started.
    #[error("{name}: {source}")]
    Start {
        /// The server.
        name: String,
        /// Why.
        source: FilterError,
    },
    /// It did not become ready.
    #[error("{name} did not become ready: {source}")]
    NotReady {
        /// The server.
        name: String,
        /// Why.
        source: RequestError,
    },
}

impl StartError {
    fn absent(known: &Known) -> StartError {
        StartError::Absent {
            name: known.name.clone(),
            command: known.command[0].clone(),
            install: (!known.own.install.is_empty()).then(|| known.own.install.to_owned()),
        }
    }
}

impl LanguageServers {
    /// Those that are built in, changed and joined by what is configured. None is started.
    pub fn new(
        workspace: Workspace,
        processes: Arc<Processes>,
        entries: &[ServerEntry],
        limits: LspLimits,
    ) -> LanguageServers {
        LanguageServers {
            known: servers::known(entries),
            pool: Arc::new(Pool::new(workspace, processes, limits)),
        }
    }

    /// Every server that is known, for people to see what there is and what is missing.
    pub fn list(&self) -> Vec<KnownServer> {
        let listed = |known: &Known| KnownServer {
            name: known.name.clone(),
            extensions: known.extensions.clone(),
            program: self.pool.program(known, self.pool.workspace().directory()),
            command: known.command.join(" "),
            install: known.own.install.to_owned(),
        };
        self.known.iter().map(listed).collect()
    }

    /// How many servers run.
    pub fn running(&self) -> usize {
        self.pool.running().len()
    }

    /// Asks all servers to end, and waits until they have.
    pub async fn close(&self) {
        let pool = self.pool.clone();
        blocking(move |_| pool.close()).await;
    }

    /// The servers that are for a file.
    fn of(&self, path: &Path) -> Vec<&Known> {
        self.known.iter().filter(|known| known.is_for(path)).collect()
    }

    /// The server that is there for a file, started if need be and perhaps not ready yet.
    async fn client(&self, known: &Known, path: &Path) -> Result<Arc<Client>, StartError> {
        if let Some(repository) = self.pool.stranger(path) {
            // That a server is missing, too, need not be said.
            let root = self.pool.workspace().base();
            return Err(match self.pool.program(known, root) {
                Some(_) => StartError::Untrusted { name: known.name.clone(), repository },
                None => StartError::absent(known),
            });
        }
        let root = known.root(path, self.pool.workspace().base());
        let (pool, known) = (self.pool.clone(), known.clone());
        blocking(move |_| pool.client(&known, &root)).await
    }

    /// The same, ready to be asked. One that does not become ready in all its time is ended.
    async fn ready_client(
        &self,
        known: &Known,
        path: &Path,
        limit: Duration,
    ) -> Result<Arc<Client>, StartError> {
        let client = self.client(known, path).await?;
        let left = self.pool.limits().start.saturating_sub(client.age());
        match client.ready(left.min(limit)).await {
            Ok(_) => Ok(client),
            Err(RequestError::Gone(ended)) if servers::is_empty_proxy(&ended.why) => {
                Err(StartError::absent(known))
            }
            Err(source) => {
                if client.age() >= self.pool.limits().start {
                    client.shared().kill();
                }
                Err(StartError::NotReady { name: known.name.clone(), source })
            }
        }
    }
}

/// The path of a file by its address.
pub(crate) fn path_of(address: &str) -> Option<PathBuf> {
    address::path(address)
}

/// The text of a file that a server has open, as it is on disk; nothing, if it is no longer a text.
fn text_on_disk(path: &Path) -> Option<String> {
    let found = path.metadata().ok().filter(|found| found.is_file())?;
    (found.len() <= TEXT_BYTES_MAX as u64).then(|| std::fs::read(path).ok())?.as_deref().and_then(text_of)
}

/// The text of a file's bytes, without the mark that some begin with.
pub(crate) fn text_of(bytes: &[u8]) -> Option<String> {
    let (text, _) = crate::encoding::view(bytes).ok()?;
    Some(text.into_owned())
}
