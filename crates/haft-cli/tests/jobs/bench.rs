//! A process that stays, without a store: every built-in tool in a workspace, and a way to settle calls.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use haft::permission::{Effect, Layer, Origin, Rule, Ruleset};
use haft::{
    AgentId, Audience, Call, CallId, Completed, Hook, Input, Limits, MemoryOutputs, MemoryRecorder,
    MessageId, Registration, Registry, Services, SessionId, Settlement, ShortMemory, ToolContext, TurnSpec,
};
use haft_sandbox::Sandbox;
use haft_tools::{Jobs, Processes, ToolServices, Workspace, builtins};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(crate) struct Bench {
    pub(crate) session: SessionId,
    pub(crate) outputs: MemoryOutputs,
    pub(crate) services: Services,
    registry: Registry,
    runtime: Runtime,
    // Dropped in this order: what runs in the workspace goes before it does.
    registration: Registration,
    jobs: Option<Arc<Jobs>>,
    _top: TempDir,
}

/// What a bench may have otherwise.
#[derive(Default)]
pub(crate) struct With {
    pub(crate) background_after: Option<Duration>,
    pub(crate) kept_bytes_max: Option<u64>,
    pub(crate) rules: Vec<(&'static str, &'static str, Effect)>,
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
}

impl Bench {
    /// Everything is allowed.
    pub(crate) fn new() -> Bench {
        Bench::with(With::default())
    }

    pub(crate) fn with(with: With) -> Bench {
        let top = TempDir::new().unwrap();
        let rule = |(action, pattern, effect): (&str, &str, Effect)| {
            Rule::new(action, pattern, effect, Origin::named(Layer::Session, "the test"))
        };
        let rules = [("*", "*", Effect::Allow)].into_iter().chain(with.rules).map(rule);
        let outputs = MemoryOutputs::default();
        let hooks: Arc<[Arc<dyn Hook>]> = with.hooks.into();
        let mut services = Services::in_memory(Ruleset::new(rules));
        services.outputs = Arc::new(outputs.clone());
        services.hooks = hooks.clone();
        let kept = ["PATH", "LANG"].into_iter();
        let kept = kept.filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect();
        let sandbox = Sandbox::with_helper(Path::new(env!("CARGO_BIN_EXE_haft")));
        let mut processes = Processes::new(kept, Limits::default().text).confined_by(sandbox);
        processes.background_after = with.background_after;
        processes.keeps_helper = true;
        processes.kept_bytes_max = with.kept_bytes_max.unwrap_or(processes.kept_bytes_max);
        let jobs = Arc::new(Jobs::default());
        let tools = ToolServices {
            workspace: Workspace::open(top.path(), None).unwrap(),
            gate: services.gate.clone(),
            outputs: services.outputs.clone(),
            memory: Arc::new(ShortMemory::default()),
            events: services.events.clone(),
            journal: Arc::new(MemoryRecorder::default()),
            media_bytes_max: 20 << 20,
            image_side_max: 2000,
            cache: None,
            require_read: false,
            processes: Arc::new(processes),
            after: Arc::new([]),
            languages: haft_tools::Languages::Off,
            jobs: Some(jobs.clone()),
            hooks,
            asker: Arc::new(haft::permission::Nobody(String::new())),
            subagents: None,
            inbox: haft::Inbox::default(),
            turns: haft::OpenTurns::default(),
            web_search: haft_tools::WebSearching::default(),
            code_search: haft_tools::CodeSearching::default(),
            skills: Arc::default(),
            web: haft_tools::web::Web::default(),
        };
        let registry = Registry::root();
        let registration = registry.register(builtins(&tools)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let session = SessionId::mint();
        Bench { session, outputs, services, registry, runtime, registration, jobs: Some(jobs), _top: top }
    }

    /// The process lets go of its jobs, as when it ends in an orderly way.
    pub(crate) fn let_go(&mut self) {
        let empty = Registry::root();
        self.registry = empty.clone();
        self.registration = empty.register(Vec::<(&str, haft::Tool)>::new()).unwrap();
        drop(self.jobs.take());
    }

    /// Ends the jobs of the session.
    pub(crate) fn end_session(&self) {
        self.jobs.as_ref().unwrap().end_of(&self.session);
    }

    /// Settles a call in this session, for so long at most.
    fn settle(&self, session: &SessionId, tool: &str, input: Value, limit: Duration) -> Option<Settlement> {
        let spec = TurnSpec {
            agent: AgentId::parse("build").unwrap(),
            rules: Arc::new(Ruleset::default()),
            audience: Audience::Operator,
            configuration: 0,
        };
        let context = ToolContext {
            session: session.clone(),
            agent: spec.agent.clone(),
            message: MessageId::mint(),
            call: CallId::mint(),
        };
        self.runtime.block_on(async {
            let turn = self.registry.turn(&spec, self.services.clone()).await.unwrap();
            let call = Call { context, provider_id: None, name: tool.to_owned(), input: Input::Json(input) };
            Some(tokio::time::timeout(limit, turn.settle(call)).await.ok()?.unwrap())
        })
    }

    pub(crate) fn completed(&self, tool: &str, input: Value) -> Completed {
        match self.settle(&self.session, tool, input, Duration::from_secs(300)) {
            Some(Settlement::Completed(completed)) => completed,
            Some(Settlement::Rejected(rejection)) => panic!("rejected: {rejection}"),
            None => panic!("a call hangs"),
        }
    }

    pub(crate) fn rejected(&self, tool: &str, input: Value) -> String {
        self.rejected_in(&self.session, tool, input)
    }

    pub(crate) fn rejected_in(&self, session: &SessionId, tool: &str, input: Value) -> String {
        match self.settle(session, tool, input, Duration::from_secs(300)) {
            Some(Settlement::Completed(completed)) => panic!("completed: {}", completed.text()),
            Some(Settlement::Rejected(rejection)) => rejection.to_string(),
            None => panic!("a call hangs"),
        }
    }

    /// Begins a call and drops it once something is so.
    pub(crate) fn abandon(&self, tool: &str, input: Value, is_so: impl Fn() -> bool) {
        let spec = TurnSpec {
            agent: AgentId::parse("build").unwrap(),
            rules: Arc::new(Ruleset::default()),
            audience: Audience::Operator,
            configuration: 0,
        };
        let context = ToolContext {
            session: self.session.clone(),
            agent: spec.agent.clone(),
            message: MessageId::mint(),
            call: CallId::mint(),
        };
        self.runtime.block_on(async {
            let turn = self.registry.turn(&spec, self.services.clone()).await.unwrap();
            let call = Call { context, provider_id: None, name: tool.to_owned(), input: Input::Json(input) };
            let becomes_so = async {
                while !is_so() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            tokio::select! {
                _ = turn.settle(call) => panic!("it ended"),
                () = becomes_so => {}
            }
        });
    }

    /// Starts a job and returns its id.
    pub(crate) fn start(&self, script: &str) -> String {
        self.start_as(json!({ "command": script, "background": true }))
    }

    pub(crate) fn start_as(&self, input: Value) -> String {
        self.completed("bash", input).structured["job"].as_str().unwrap().to_owned()
    }

    /// Does something with a job; returns what it printed meanwhile and how it stands.
    pub(crate) fn job(&self, action: &str, id: &str) -> (String, String) {
        let done = self.completed("jobs", json!({ "action": action, "id": id })).structured;
        let printed = done["output"].as_str().unwrap_or_default().to_owned();
        (printed, done["jobs"][0]["state"].as_str().unwrap().to_owned())
    }

    pub(crate) fn write(&self, id: &str, text: &str) {
        self.completed("jobs", json!({ "action": "write", "id": id, "input": text }));
    }

    /// Reads a job until it has printed something.
    pub(crate) fn read_until(&self, id: &str, wanted: &str) -> String {
        let mut all = String::new();
        for _ in 0..3000 {
            let (printed, state) = self.job("read", id);
            all.push_str(&printed);
            if all.contains(wanted) {
                return all;
            }
            assert_eq!(state, "runs", "it ended without {wanted:?}: {all:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it never printed {wanted:?}: {all:?}");
    }
}

/// A text that no other command has in its line.
pub(crate) fn mark() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("5{}.{next:04}7", std::process::id())
}

/// Whether a process has this in its command line.
pub(crate) fn is_running(text: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(text))
}

/// Waits until something is so; panics when it has not become so in a long time.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never: {what}");
}

const ALONE: &str = "HAFT_TEST_ALONE";

/// Whether this process was started for this test alone.
pub(crate) fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// This program again, for one test alone.
pub(crate) fn alone(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(ALONE, "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}
