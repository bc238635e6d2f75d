//! Which servers run: one for each project and language, started when it is first needed, never too many.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_sandbox::Program;

use super::client::Client;
use super::failure::Ended;
use super::servers::Known;
use super::shared::Purpose;
use super::{LspLimits, StartError};
use crate::process::{Processes, is_program};
use crate::workspace::Workspace;

/// After its second end in a row a server is left alone for so long, then twice as long, and so on up to a limit.
const BACK_OFF: Duration = Duration::from_secs(1);
const BACK_OFF_MAX: Duration = Duration::from_secs(60);
/// One that ran for so long had begun well.
const LIVED_WELL: Duration = Duration::from_secs(60);

/// The servers of a location.
pub(super) struct Pool {
    workspace: Workspace,
    processes: Arc<Processes>,
    limits: LspLimits,
    slots: Mutex<HashMap<(String, PathBuf), Slot>>,
    /// Repositories that were said not to be trusted.
    told: Mutex<BTreeSet<PathBuf>>,
}

/// What there is to know of a server in a project.
#[derive(Default)]
struct Slot {
    client: Option<Arc<Client>>,
    /// So many times in a row it ended by itself.
    ends: u32,
    /// How it ended last.
    last: Option<Arc<Ended>>,
}

impl Slot {
    /// Takes note of an end that nobody wished for.
    fn settle(&mut self) {
        let ended = self.client.as_ref().and_then(|client| client.ended());
        if self.client.as_ref().is_some_and(|client| !client.is_usable()) {
            self.client = None;
        }
        let Some(ended) = ended.filter(|ended| !ended.is_wanted) else { return };
        self.ends = if ended.lived > LIVED_WELL { 1 } else { self.ends + 1 };
        self.last = Some(ended);
    }

    /// How long it is still left alone.
    fn rest(&self) -> Duration {
        let Some(last) = &self.last else { return Duration::ZERO };
        let pause = match self.ends.checked_sub(2) {
            None => Duration::ZERO,
            Some(doublings) => BACK_OFF.saturating_mul(2u32.saturating_pow(doublings)).min(BACK_OFF_MAX),
        };
        pause.saturating_sub(last.at.elapsed())
    }
}

impl Pool {
    pub(super) fn new(workspace: Workspace, processes: Arc<Processes>, limits: LspLimits) -> Pool {
        Pool { workspace, processes, limits, slots: Mutex::default(), told: Mutex::default() }
    }

    pub(super) fn limits(&self) -> &LspLimits {
        &self.limits
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The repository that a file belongs to, if nobody trusts it.
    pub(super) fn stranger(&self, file: &Path) -> Option<PathBuf> {
        self.processes.own_programs.stranger(file, self.workspace.base())
    }

    /// Whether nobody was told yet that a repository is not trusted.
    pub(super) fn is_news(&self, repository: &Path) -> bool {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(repository.to_owned())
    }

    /// Where the program of a server is: in the project's own directories of programs, as far as they are trusted, or on
    /// the path.
    pub(super) fn program(&self, known: &Known, beside: &Path) -> Option<PathBuf> {
        let name = &known.command[0];
        if name.contains('/') {
            return Some(self.workspace.directory().join(name)).filter(|path| is_program(path));
        }
        let own = self.processes.own_programs.installed(name, beside, self.workspace.base());
        own.or_else(|| self.processes.on_path(name))
    }

    /// The server that runs for a project, or a new one. This blocks for as long as a start takes.
    pub(super) fn client(&self, known: &Known, root: &Path) -> Result<Arc<Client>, StartError> {
        let mut slots = self.slots();
        let key = (known.name.clone(), root.to_owned());
        let slot = slots.entry(key.clone()).or_default();
        slot.settle();
        if let Some(client) = &slot.client {
            return Ok(client.clone());
        }
        let (rest, name) = (slot.rest(), known.name.clone());
        if !rest.is_zero() {
            let why = slot.last.as_ref().map(|ended| ended.why.clone()).unwrap_or_default();
            return Err(StartError::Resting { name, times: slot.ends, why, left: rest });
        }
        self.make_room(&mut slots)?;
        let client = Arc::new(self.start(known, root)?);
        slots.entry(key).or_default().client = Some(client.clone());
        Ok(client)
    }

    /// The servers that run.
    pub(super) fn running(&self) -> Vec<Arc<Client>> {
        let slots = self.slots();
        slots.values().filter_map(|slot| slot.client.clone()).filter(|client| client.is_usable()).collect()
    }

    /// Ends all servers, and waits until they are gone.
    pub(super) fn close(&self) {
        let clients: Vec<_> = self.slots().drain().filter_map(|(_, slot)| slot.client).collect();
        // All are asked before any is waited for.
        clients.iter().for_each(|client| client.begin_close());
        clients.iter().for_each(|client| client.wait_until_gone());
    }

    fn start(&self, known: &Known, root: &Path) -> Result<Client, StartError> {
        let name = || known.name.clone();
        let program = self.program(known, root).ok_or_else(|| StartError::absent(known))?;
        let mut env = self.processes.environment.clone();
        env.extend(known.environment.iter().map(|(name, value)| (name.into(), value.into())));
        let args: Vec<OsString> = known.command[1..].iter().map(OsString::from).collect();
        let mut readable = vec![self.workspace.base(), self.workspace.directory()];
        readable.extend(own_directory(&program));
        let to_start = Program { program: program.clone().into(), args, env, cwd: root.to_owned() };
        let serving = self.processes.serve(to_start, &readable);
        let serving = serving.map_err(|source| StartError::Start { name: name(), source })?;
        let purpose = Purpose {
            root: root.to_owned(),
            initialization: known.own.initialization.clone(),
            idle: self.limits.idle,
            settling: self.limits.settling,
        };
        let client = Client::new(serving, purpose);
        client.map_err(|error| StartError::Start { name: name(), source: error.into() })
    }

    /// Ends the server that was not used for longest, if there are as many as there may be.
    fn make_room(&self, slots: &mut HashMap<(String, PathBuf), Slot>) -> Result<(), StartError> {
        let running: Vec<&mut Slot> = slots.values_mut().filter(|slot| slot.client.is_some()).collect();
        if running.len() < self.limits.servers_max {
            return Ok(());
        }
        let idle = |slot: &Slot| slot.client.as_ref().and_then(|client| client.idle_since());
        let oldest: Option<(Instant, &mut Slot)> =
            running.into_iter().filter_map(|slot| Some((idle(slot)?, slot))).min_by_key(|(since, _)| *since);
        match oldest.and_then(|(_, slot)| slot.client.take()) {
            Some(client) => {
                client.begin_close();
                // It goes away by itself, and is made to if it does not.
                std::thread::spawn(move || client.wait_until_gone());
                Ok(())
            }
            None => Err(StartError::TooMany(self.limits.servers_max)),
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<(String, PathBuf), Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The directory that a program was installed in with what it needs.
fn own_directory(program: &Path) -> Option<&Path> {
    let modules =
        program.ancestors().find(|path| path.file_name().is_some_and(|name| name == "node_modules"));
    modules.or_else(|| program.parent())
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}
