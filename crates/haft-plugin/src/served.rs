//! One file that is served: what it offers, and its host, which is started when something is first needed of it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft::{Registration, ToolContext};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::desk::{Desk, Engine, HostProgram, LaunchError};
use crate::discovery::{CodeFile, Role};
use crate::error::{Fault, HostError};
use crate::hooks::HookError;
use crate::host::{Host, Launched, Patience};
use crate::manifest::{Chosen, Content, Manifest};
use crate::offers;
use crate::words::Loaded;

/// The hook that is told of everything.
const EVENT: &str = "event";
/// The hook that is told of the end.
const DISPOSE: &str = "dispose";
/// How long the end is waited for.
const DISPOSING_MAX: Duration = Duration::from_secs(2);

/// How far the code of others may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginLimits {
    /// How long loading a file may take.
    pub load: Duration,
    /// How long a call may take, apart from the time in which it waits for a person.
    pub call: Duration,
    /// How long a hook may take.
    pub hook: Duration,
    /// How long code may run without a pause.
    pub busy: Duration,
}

impl Default for PluginLimits {
    fn default() -> PluginLimits {
        PluginLimits {
            load: Duration::from_secs(20),
            call: Duration::from_secs(600),
            hook: Duration::from_secs(30),
            busy: Duration::from_secs(8),
        }
    }
}

/// What every file of a location is loaded with.
pub(crate) struct House {
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) limits: PluginLimits,
    /// What a plugin is told about where it is.
    pub(crate) input: Value,
    pub(crate) directory: PathBuf,
    pub(crate) worktree: PathBuf,
}

/// A step of a hook that is no function.
pub(crate) struct Step<'a> {
    pub(crate) hook: &'a str,
    pub(crate) with: Value,
    pub(crate) context: &'a ToolContext,
    /// The address of a request that is to be carried.
    pub(crate) carries: Option<String>,
    /// How long it may take.
    pub(crate) answer: Duration,
}

/// A file that is served.
pub(crate) struct Served {
    pub(crate) file: CodeFile,
    pub(crate) manifest: Manifest,
    house: Arc<House>,
    /// Its hook that is told of everything, for people.
    event_hook: Arc<str>,
    host: tokio::sync::Mutex<Option<Arc<Host>>>,
    /// A process for its next host, started before it is needed.
    ahead: Mutex<Option<Launching>>,
    /// Whether nothing but one call is wanted of it.
    is_called_once: AtomicBool,
    /// Its tools. They go with this value.
    pub(crate) registration: Mutex<Option<Registration>>,
}

impl Served {
    /// Serves a file whose offers are known already.
    pub(crate) fn recalled(house: &Arc<House>, file: CodeFile, manifest: Manifest) -> Arc<Served> {
        Served::new(house, file, manifest, None)
    }

    /// Loads a file to find out what it offers, with the engine that is wanted, or the first that can.
    pub(crate) async fn load(
        house: &Arc<House>,
        file: CodeFile,
        wanted: Option<Engine>,
    ) -> Result<Arc<Served>, Fault> {
        let engines: &[Engine] = match wanted {
            Some(Engine::Embedded) => &[Engine::Embedded],
            Some(Engine::Bun) => &[Engine::Bun],
            Some(Engine::Node) => &[Engine::Node],
            None => &[Engine::Embedded, Engine::Bun, Engine::Node],
        };
        let content = Content::of(&file.path)
            .ok_or_else(|| Fault::new(format!("{} cannot be read", file.path.display())))?;
        let mut best: Option<Fault> = None;
        for engine in engines {
            let fault = match start(house, &file, launch(house, &file, *engine)).await {
                Ok((host, loaded)) => {
                    let loaded = offers::usable(loaded);
                    let chosen = wanted.map_or(Chosen::Found(*engine), Chosen::Configured);
                    let manifest = Manifest::new(&content, loaded, chosen).ok_or_else(|| {
                        Fault::new("a module that it imports went away while it was loaded, or is none")
                    })?;
                    return Ok(Served::new(house, file, manifest, Some(Arc::new(host))));
                }
                Err(Unserved::Absent(engine)) => {
                    Fault::new(format!("{} is not on the PATH", engine.as_str()))
                }
                Err(Unserved::Broken(HostError::Load(fault))) if fault.is_unsupported => fault,
                Err(Unserved::Broken(HostError::Load(fault))) => return Err(fault.located()),
                // A runtime that does not run here is as good as none, but why is worth knowing.
                Err(Unserved::Broken(gone @ HostError::Gone(_))) if *engine != Engine::Embedded => {
                    best = Some(Fault::new(format!("{}: {gone}", engine.as_str())).of(&file.path));
                    continue;
                }
                Err(Unserved::Broken(other)) => {
                    // Whatever else went wrong costs little to try again, and may be mended elsewhere than in the file.
                    let is_remembered = matches!(other, HostError::TimedOut(_) | HostError::Busy(_));
                    return Err(Fault { is_remembered, ..Fault::new(other.to_string()).of(&file.path) });
                }
            };
            // What the first engine lacks says more than that another is not there.
            best.get_or_insert(fault);
        }
        Err(best.unwrap_or_else(|| Fault::new("there is no engine")))
    }

    fn new(house: &Arc<House>, file: CodeFile, manifest: Manifest, host: Option<Arc<Host>>) -> Arc<Served> {
        let (house, host) = (house.clone(), tokio::sync::Mutex::new(host));
        let event_hook = format!("the hook {EVENT} of {}", file.path.display()).into();
        Arc::new(Served {
            file,
            manifest,
            house,
            event_hook,
            host,
            ahead: Mutex::default(),
            is_called_once: AtomicBool::new(false),
            registration: Mutex::default(),
        })
    }

    /// Whether it has a hook of this name.
    pub(crate) fn has_hook(&self, name: &str) -> bool {
        self.manifest.loaded.hooks.iter().any(|hook| hook == name)
    }

    /// Whether it only brings tools.
    pub(crate) fn has_no_hooks(&self) -> bool {
        self.manifest.loaded.hooks.is_empty()
    }

    /// Whether its host waits for an answer of ours.
    pub(crate) fn is_asking(&self) -> bool {
        let host = self.host.try_lock().ok();
        host.is_some_and(|host| host.as_ref().is_some_and(|host| host.is_asking()))
    }

    /// Whether the file is what it was.
    pub(crate) fn is_current(&self) -> bool {
        self.manifest.holds()
    }

    /// Has a process for its host start, if it has none, for a call that is the only one. Nothing of the file is run
    /// before the call is.
    pub(crate) fn expect_one_call(&self) {
        self.is_called_once.store(true, Ordering::Relaxed);
        let has_host = self.host.try_lock().map_or(true, |host| host.is_some());
        let mut ahead = self.ahead();
        if !has_host && ahead.is_none() {
            *ahead = Some(launch(&self.house, &self.file, self.manifest.engine));
        }
    }

    fn ahead(&self) -> MutexGuard<'_, Option<Launching>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a tool of it work.
    pub(crate) async fn call(
        &self,
        tool: &str,
        args: Value,
        context: &ToolContext,
    ) -> Result<Value, HostError> {
        let host = self.host().await?;
        let told = json!({
            "do": "call",
            "tool": tool,
            "args": args,
            "context": {
                "sessionID": context.session.as_str(),
                "messageID": context.message.as_str(),
                "agent": context.agent.as_str(),
                "callID": context.call.as_str(),
                "directory": self.house.directory,
                "worktree": self.house.worktree,
                "extra": {},
            },
        });
        let limits = self.house.limits;
        let patience = Patience { answer: limits.call, busy: limits.busy };
        let answered = host.request(told, Some(context), patience).await;
        if self.is_done_with(&host) {
            // It ends while the answer is put on record.
            host.dismiss();
        }
        answered
    }

    /// Whether nothing more can be wanted of its host after the one call there is. What code of other runtimes began and
    /// did not wait for cannot be seen; it has as long as haft needs.
    fn is_done_with(&self, host: &Host) -> bool {
        let is_seen = self.manifest.engine == Engine::Embedded && !host.is_asking();
        self.is_called_once.load(Ordering::Relaxed) && self.has_no_hooks() && is_seen
    }

    /// Lets its hooks of one name change an output, and returns it.
    pub(crate) async fn hook(
        &self,
        name: &str,
        input: Value,
        output: Value,
        context: Option<&ToolContext>,
    ) -> Result<Value, HostError> {
        let host = self.host().await?;
        let told = json!({ "do": "hook", "name": name, "input": input, "output": output });
        let limits = self.house.limits;
        host.request(told, context, Patience { answer: limits.hook, busy: limits.busy }).await
    }

    /// Has it do a step of a hook that is no function.
    pub(crate) async fn part(&self, step: Step<'_>) -> Result<Value, HostError> {
        let host = self.host().await?;
        let Step { hook, with, context, carries, answer } = step;
        let told = json!({ "do": "part", "hook": hook, "with": with });
        let patience = Patience { answer, busy: self.house.limits.busy };
        host.carry(told, Some(context), carries, patience).await
    }

    /// How far its code may go.
    pub(crate) fn limits(&self) -> PluginLimits {
        self.house.limits
    }

    /// Tells it of something that happened, if that is what it listens for.
    pub(crate) async fn announce(&self, event: Value) {
        let Ok(host) = self.host().await else { return };
        let input = json!({ "event": event });
        let told = json!({ "do": "hook", "name": EVENT, "input": input, "output": Value::Null });
        let limits = self.house.limits;
        host.tell(told, &self.event_hook, Patience { answer: limits.hook, busy: limits.busy });
    }

    /// Ends its host, if it has one; the next call starts another.
    pub(crate) async fn rest(&self) {
        let mut host = self.host.lock().await;
        if host.as_ref().is_some_and(|host| host.is_idle()) {
            *host = None;
        }
    }

    /// Lets its code end what it was told to stop, for a moment.
    pub(crate) async fn stopped(&self) {
        let host = self.host.lock().await.clone();
        if let Some(host) = host.filter(|host| host.is_usable()) {
            host.stopped().await;
        }
    }

    /// Lets its host end by itself, after what it wants to do at the end.
    pub(crate) async fn close(&self) {
        let unused = self.ahead().take();
        if let Some(unused) = unused {
            // It ends as soon as nobody holds it.
            let _unused = unused.await;
        }
        if let Some(host) = self.host.lock().await.as_ref() {
            if host.is_usable() && self.has_hook(DISPOSE) {
                let told =
                    json!({ "do": "hook", "name": DISPOSE, "input": Value::Null, "output": Value::Null });
                let patience = Patience { answer: DISPOSING_MAX, busy: self.house.limits.busy };
                // It ends in any case.
                if let Err(error) = host.request(told, None, patience).await {
                    host.note(HookError::new(DISPOSE, &self.file.path, &error).to_string());
                }
            }
            host.close().await;
        }
    }

    /// Its host, started if there is none that can be used.
    async fn host(&self) -> Result<Arc<Host>, HostError> {
        let mut place = self.host.lock().await;
        if let Some(host) = place.as_ref().filter(|host| host.is_usable()) {
            return Ok(host.clone());
        }
        let ahead = self.ahead().take();
        let launching = ahead.unwrap_or_else(|| launch(&self.house, &self.file, self.manifest.engine));
        let started = start(&self.house, &self.file, launching).await;
        let (host, _) = started.map_err(|error| match error {
            Unserved::Absent(engine) => {
                HostError::Load(Fault::new(format!("{} is not on the PATH any more", engine.as_str())))
            }
            Unserved::Broken(error) => error,
        })?;
        // What was advertised is what runs: it may have been changed while it was loaded.
        if !self.is_current() {
            return Err(HostError::Changed);
        }
        let host = Arc::new(host);
        *place = Some(host.clone());
        Ok(host)
    }

    /// Drops what it has registered.
    pub(crate) fn unregister(&self) {
        drop(self.registration.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Why a file is not served.
enum Unserved {
    /// The engine is not there.
    Absent(Engine),
    /// Nothing came of it.
    Broken(HostError),
}

/// A process that is being started. Whoever lets go of it ends it.
type Launching = JoinHandle<Result<Launched, LaunchError>>;

/// Starts a process that can serve a file.
fn launch(house: &House, file: &CodeFile, engine: Engine) -> Launching {
    let readable = file.path.parent().map(|parent| parent.to_owned()).into_iter().collect();
    let (desk, program) = (house.desk.clone(), HostProgram { engine, readable });
    tokio::task::spawn_blocking(move || desk.launch(&program))
}

/// Begins to speak with a process and has it load a file.
async fn start(
    house: &Arc<House>,
    file: &CodeFile,
    launching: Launching,
) -> Result<(Host, Loaded), Unserved> {
    let broken = |message: String| Unserved::Broken(HostError::Defect(message));
    let launched =
        launching.await.map_err(|error| broken(error.to_string()))?.map_err(|error| match error {
            LaunchError::Absent(engine) => Unserved::Absent(engine),
            // Whoever wants it to run has to know what to do about it.
            LaunchError::Unconfined(why) => Unserved::Broken(HostError::Load(Fault::new(why).of(&file.path))),
            start @ LaunchError::Start(_) => broken(start.to_string()),
        })?;
    let host =
        Host::new(launched, house.desk.clone(), &file.path).map_err(|error| broken(error.to_string()))?;
    let role = match file.role {
        Role::Tools | Role::Table => "tool",
        Role::Plugin => "plugin",
    };
    let told =
        json!({ "do": "load", "file": file.path, "as": role, "options": file.options, "input": house.input });
    let patience = Patience { answer: house.limits.load, busy: house.limits.busy };
    let loaded = host.request(told, None, patience).await.map_err(|error| match error {
        HostError::Load(fault) => {
            let fault = if fault.file.is_none() { fault.of(&file.path) } else { fault };
            HostError::Load(fault.of_unseen(&file.path))
        }
        other => other,
    });
    let loaded = loaded.and_then(|answer| {
        serde_json::from_value(answer).map_err(|error| HostError::Nonsense(error.to_string()))
    });
    Ok((host, loaded.map_err(Unserved::Broken)?))
}
