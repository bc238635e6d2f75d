//! Holds very many conversations at once and says how that went, for `cargo xtask bench sessions`.
//!
//! `sessions FILES DATA SESSIONS CALLS` begins so many sessions together, each with a model of its own that makes so
//! many calls of `read` one after the other. Everything is recorded on disk, in the directory `DATA`. It answers with
//! one JSON document.

#![allow(clippy::print_stdout, reason = "answering on stdout is what it is for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use haft::permission::{Effect, Gate, GateParts, Layer, Nobody, Origin, Rule, Ruleset};
use haft::{
    AgentId, BoxError, BoxFuture, Events, Finish, Inbox, Limits, Model, OpenTurns, Part, Registration,
    Registry, Services, SessionId, Viewer,
};
use haft_agent::provider::{
    Delta, Deltas, ModelCall, ModelInfo, Options, Prompt, Provider, ProviderError, Told, Utterance,
};
use haft_agent::{
    Agency, AgentSpec, Agents, End, Interrupt, Mode, Models, Own, Parts, Policies, Served, Settings, Start,
};
use haft_store::{JournalBounds, Redactor, Retention, Store, StoreOptions};
use haft_tools::{DiskRestorer, Processes, ToolServices, Workspace, builtins};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [files, data, sessions, calls] = arguments.as_slice() else {
        return Err("usage: sessions FILES DATA SESSIONS CALLS".into());
    };
    hold(Path::new(files), Path::new(data), sessions.parse()?, calls.parse()?)
}

fn hold(files: &Path, data: &Path, sessions: usize, calls: usize) -> Result<(), Box<dyn Error>> {
    let turnarounds: Turnarounds = Arc::default();
    let reading = Reading { files: files.to_owned(), calls, turnarounds: turnarounds.clone() };
    let (agency, _registration) = house(files, data, reading)?;
    let threads = std::thread::available_parallelism()?.get();
    let started = Instant::now();
    std::thread::scope(|scope| {
        let share = |thread: usize| (sessions + thread) / threads;
        let holding: Vec<_> = (0..threads)
            .map(|thread| {
                let (agency, sessions) = (&agency, share(thread));
                scope.spawn(move || hold_some(agency, sessions))
            })
            .collect();
        holding
            .into_iter()
            .try_for_each(|held| held.join().unwrap_or_else(|_| Err("a thread died".to_owned())))
    })?;
    let seconds = started.elapsed().as_secs_f64();
    let mut turnarounds = std::mem::take(&mut *turnarounds.lock().unwrap_or_else(PoisonError::into_inner));
    turnarounds.sort_by(f64::total_cmp);
    let percentile = |percent: usize| turnarounds[(turnarounds.len() * percent).div_ceil(100).max(1) - 1];
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let told = json!({
        "seconds": seconds,
        "calls_per_second": (sessions * calls) as f64 / seconds,
        "p50_ms": percentile(50),
        "p99_ms": percentile(99),
        "peak_kib": peak.trim().trim_end_matches(" kB").parse::<u64>()?,
    });
    println!("{told}");
    Ok(())
}

/// Holds so many conversations on this thread, all at once.
fn hold_some(agency: &Agency, sessions: usize) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let mut talks = tokio::task::JoinSet::new();
        for _ in 0..sessions {
            talks.spawn(talk(agency.clone()));
        }
        while let Some(talked) = talks.join_next().await {
            talked.map_err(|error| error.to_string())??;
        }
        Ok(())
    })
}

async fn talk(agency: Agency) -> Result<(), String> {
    let start = Start {
        session: SessionId::mint(),
        agent: agent(),
        model: None,
        title: "many".to_owned(),
        parent: None,
        waits_for_tasks: false,
    };
    let mut conversation = agency.open(start).await.map_err(|error| error.to_string())?;
    match conversation.say(vec![Part::text("go")], &Interrupt::default()).await.end {
        End::Done => Ok(()),
        end => Err(format!("a session ended otherwise: {end:?}")),
    }
}

fn agent() -> AgentId {
    AgentId::parse("build").expect("a name")
}

/// All built-in tools in one directory, where everything is allowed, and everything is recorded.
fn house(files: &Path, data: &Path, reading: Reading) -> Result<(Agency, Registration), Box<dyn Error>> {
    let directory = files.display().to_string();
    let (store, _notices) = Store::open(StoreOptions {
        data_dir: data.to_owned(),
        project: directory.clone(),
        directory,
        redactor: Redactor::from_env(std::env::vars()),
        retention: Retention::default(),
        journal: JournalBounds::default(),
        restorer: Arc::new(DiskRestorer),
    })?;
    let store = Arc::new(store);
    let origin = Origin::named(Layer::Defaults, "the benchmark");
    let rules = Arc::new(Ruleset::new([Rule::new("*", "*", Effect::Allow, origin)]));
    let own = Own { session: SessionId::mint(), agent: agent(), rules: rules.clone() };
    let policies = Policies::new(own);
    let events = Events::new(store.clone());
    let gate = Gate::new(GateParts {
        policy: Box::new(policies.clone()),
        grants: store.clone(),
        asker: Arc::new(Nobody("the benchmark asks nobody".to_owned())),
        recorder: store.clone(),
        events: events.clone(),
    });
    let (inbox, open_turns) = (Inbox::default(), OpenTurns::default());
    let tools = ToolServices {
        workspace: Workspace::open(files, Some(files))?,
        gate: gate.clone(),
        outputs: store.clone(),
        memory: store.clone(),
        events: events.clone(),
        journal: store.clone(),
        media_bytes_max: 20 << 20,
        image_side_max: 2000,
        cache: None,
        require_read: false,
        after: Arc::new([]),
        jobs: None,
        hooks: Arc::new([]),
        processes: Arc::new(Processes::new(Vec::new(), Limits::default().text)),
        asker: Arc::new(Nobody("nobody is there".to_owned())),
        subagents: None,
        inbox: inbox.clone(),
        turns: open_turns.clone(),
        skills: Arc::default(),
        web: haft_tools::web::Web::default(),
        web_search: haft_tools::WebSearching::default(),
        code_search: haft_tools::CodeSearching::default(),
        languages: haft_tools::Languages::Off,
    };
    let registry = Registry::root();
    let registration = registry.register(builtins(&tools))?;
    let agency = Agency::default();
    agency.furnish(Parts {
        registry,
        services: Services {
            gate,
            recorder: store.clone(),
            outputs: store.clone(),
            hooks: Arc::new([]),
            events,
            limits: Limits::default(),
        },
        transcript: store.clone(),
        memory: store,
        inbox,
        open_turns,
        agents: Arc::new(One(rules)),
        models: Arc::new(reading),
        influence: Arc::new(haft_agent::Uninfluenced),
        policies,
        viewer: Viewer::default(),
        settings: Settings::default(),
        shelves: Some(data.to_owned()),
        ended: Box::new(|_| {}),
    });
    Ok((agency, registration))
}

/// The one agent there is.
struct One(Arc<Ruleset>);

impl Agents for One {
    fn agent(&self, name: &AgentId) -> Result<Arc<AgentSpec>, BoxError> {
        Ok(Arc::new(AgentSpec {
            name: name.clone(),
            description: None,
            mode: Mode::Primary,
            model: None,
            options: Options::default(),
            variant: None,
            steps: None,
            rules: self.0.clone(),
        }))
    }

    fn system(&self, _agent: &AgentSpec, _model: &Model) -> Vec<String> {
        vec!["You read files.".to_owned()]
    }
}

/// Milliseconds from the end of an answer to the next question, of all sessions.
type Turnarounds = Arc<Mutex<Vec<f64>>>;

/// Models that read files, one for each session.
#[derive(Clone)]
struct Reading {
    files: PathBuf,
    calls: usize,
    turnarounds: Turnarounds,
}

impl Models for Reading {
    fn serve(&self, _name: Option<&str>) -> Result<Served, BoxError> {
        let provider = Reader { reading: self.clone(), answered: Mutex::default() };
        Ok(Served {
            provider: Arc::new(provider),
            model: Model { provider: "bench".to_owned(), id: "reader".to_owned() },
            info: ModelInfo::default(),
        })
    }
}

struct Reader {
    reading: Reading,
    answered: Mutex<Option<Instant>>,
}

impl Provider for Reader {
    fn answer<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<Box<dyn Deltas>, ProviderError>> {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answered) = *answered {
            let took = answered.elapsed().as_secs_f64() * 1e3;
            self.reading.turnarounds.lock().unwrap_or_else(PoisonError::into_inner).push(took);
        }
        let is_answer = |told: &&Arc<Told>| matches!(told.utterance(), Utterance::Assistant(_));
        let turn = prompt.conversation.iter().filter(is_answer).count();
        let mut deltas = match turn < self.reading.calls {
            true => {
                let file = self.reading.files.join(format!("f{turn}.txt"));
                let arguments = json!({ "filePath": file.display().to_string() }).to_string();
                let call = ModelCall {
                    id: format!("call_{turn}"),
                    name: "read".to_owned(),
                    arguments,
                    opaque: None,
                    is_cut: false,
                };
                vec![Delta::Call(call), Delta::Finished(Finish::Calls)]
            }
            false => vec![Delta::Text("done".to_owned()), Delta::Finished(Finish::Stop)],
        };
        deltas.reverse();
        *answered = Some(Instant::now());
        Box::pin(std::future::ready(Ok(Box::new(Written(deltas)) as Box<dyn Deltas>)))
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

struct Written(Vec<Delta>);

impl Deltas for Written {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Delta, ProviderError>>> {
        Box::pin(std::future::ready(self.0.pop().map(Ok)))
    }
}
