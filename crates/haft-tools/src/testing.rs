//! A bench for tests: a workspace in a temporary directory, every tool registered, nothing durable.
//!
//! It is the only code of the tests that touches the API; the cases are data.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::Expect;
use haft::permission::{
    Answer, Asker, Effect, Gate, GateParts, Inquiry, Layer, MemoryGrants, Nobody, Origin, Rehearsed, Reply,
    Request, Resource, Rule, Ruleset, Told,
};
use haft::{
    AgentId, Audience, BoxFuture, Call, CallId, Completed, Definition, Event, Events, Inbox, Input, Limits,
    Memory, MemoryOutputs, MemoryRecorder, MessageId, Model, OpenTurns, OutputStore, Recorder, Registration,
    Registry, Services, SessionId, SettleError, Settlement, ShortMemory, SubAgents, Subscription, Tool,
    ToolContext, TurnSpec, Viewer,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::search_service::WebSearching;
use crate::skills::{SkillPlace, Skills};
use crate::web::Web;
use crate::{AfterChange, CodeSearching, Languages, Processes, ToolServices, Workspace, builtins};

/// Somebody who answers every question of the model's the same way, and says no to all others.
pub(crate) struct Answering(pub(crate) Told);

impl Asker for Answering {
    fn ask<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Reply(Reply::Reject(None))))
    }

    fn inquire<'a>(&'a self, _: &'a Inquiry) -> BoxFuture<'a, Told> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

pub(crate) struct Bench {
    top: Arc<TempDir>,
    pub(crate) services: ToolServices,
    recorder: Arc<dyn Recorder>,
    rules: Arc<Ruleset>,
    session: SessionId,
    registry: Registry,
    reported: Arc<Mutex<Vec<&'static str>>>,
    _registration: Registration,
    replaced: Vec<Registration>,
    _subscription: Subscription,
}

impl Bench {
    /// A workspace `ws` beside a directory `out`; everything is allowed.
    pub(crate) fn new() -> Bench {
        let top = TempDir::new().unwrap();
        fs::create_dir(top.path().join("ws")).unwrap();
        fs::create_dir(top.path().join("out")).unwrap();
        let workspace = Workspace::open(&top.path().join("ws"), None).unwrap();
        Bench::with(Arc::new(top), workspace, &[], Gate::new)
    }

    /// The same files, opened at a directory of the repository `ws`.
    pub(crate) fn at(&self, directory: &str) -> Bench {
        let root = self.path("");
        let workspace = Workspace::open(&root.join(directory), Some(&root)).unwrap();
        Bench::with(self.top.clone(), workspace, &[], Gate::new)
    }

    /// The same files, with rules that deny.
    pub(crate) fn denying(&self, rules: &[(&str, &str)]) -> Bench {
        let rules: Vec<_> = rules.iter().map(|(action, pattern)| (*action, *pattern, "deny")).collect();
        self.ruled(&rules)
    }

    /// The same files, with rules: the action, the pattern and the effect of each.
    pub(crate) fn ruled(&self, rules: &[(&str, &str, &str)]) -> Bench {
        Bench::with(self.top.clone(), self.services.workspace.clone(), rules, Gate::new)
    }

    /// The same files and the same record, with further rules.
    pub(crate) fn again(&self, rules: &[(&str, &str, &str)]) -> Bench {
        let mut bench = self.ruled(rules);
        bench.services.journal = self.services.journal.clone();
        let registration = bench.registry.register(builtins(&bench.services)).unwrap();
        bench.replaced.push(registration);
        bench
    }

    /// The same bench, on which these steps follow every change.
    pub(crate) fn following<const N: usize>(mut self, steps: [Arc<dyn AfterChange>; N]) -> Bench {
        self.services.after = Arc::new(steps);
        self.registered_again()
    }

    /// The same bench, where somebody answers the model's questions.
    pub(crate) fn answered_by(mut self, asker: Arc<dyn Asker>) -> Bench {
        self.services.asker = asker;
        self.registered_again()
    }

    /// The same bench, with other agents.
    pub(crate) fn with_agents(mut self, agents: Arc<dyn SubAgents>) -> Bench {
        self.services.subagents = Some(agents);
        self.registered_again()
    }

    /// The same bench, with skills.
    pub(crate) fn with_skills(mut self, places: Vec<SkillPlace>) -> Bench {
        self.services.skills = Arc::new(Skills::new(places));
        self.registered_again()
    }

    /// The same bench, with a person who says no to whatever is asked.
    pub(crate) fn rejecting(mut self) -> Bench {
        self.services.gate = Gate::new(GateParts {
            policy: Box::new(self.rules.clone()),
            grants: Arc::new(MemoryGrants::default()),
            asker: Arc::new(Answering(Told::Dismissed)),
            recorder: self.recorder.clone(),
            events: self.services.events.clone(),
        });
        self.registered_again()
    }

    /// The same bench, with another way to the network.
    pub(crate) fn reaching(mut self, web: Web) -> Bench {
        self.services.web = web;
        self.registered_again()
    }

    /// The same bench, in a process that stays.
    pub(crate) fn staying(mut self) -> Bench {
        self.services.jobs = Some(Arc::default());
        self.registered_again()
    }

    pub(crate) fn registered_again(mut self) -> Bench {
        let registration = self.registry.register(builtins(&self.services)).unwrap();
        self.replaced.push(registration);
        self
    }

    fn rehearsing(&self) -> Bench {
        let mut bench = Bench::with(self.top.clone(), self.services.workspace.clone(), &[], Gate::rehearsal);
        bench.services.code_search = self.services.code_search.clone();
        bench.services.web_search = self.services.web_search.clone();
        bench.registered_again()
    }

    fn with(
        top: Arc<TempDir>,
        workspace: Workspace,
        ruled: &[(&str, &str, &str)],
        gate: fn(GateParts) -> Gate,
    ) -> Bench {
        let kept = Arc::new(MemoryRecorder::default());
        let recorder: Arc<dyn Recorder> = kept.clone();
        let events = Events::new(recorder.clone());
        let origin = || Origin::named(Layer::Session, "the test");
        let mut rules = Ruleset::new([Rule::new("*", "*", Effect::Allow, origin())]);
        rules.extend(ruled.iter().map(|(action, pattern, effect)| {
            Rule::new(action, pattern, Effect::parse(effect).unwrap(), origin())
        }));
        let rules = Arc::new(rules);
        let gate = gate(GateParts {
            policy: Box::new(rules.clone()),
            grants: Arc::new(MemoryGrants::default()),
            asker: Arc::new(Nobody("nobody is there".to_owned())),
            recorder: recorder.clone(),
            events: events.clone(),
        });
        let outputs: Arc<dyn OutputStore> = Arc::new(MemoryOutputs::default());
        let memory: Arc<dyn Memory> = Arc::new(ShortMemory::default());
        let reported = Arc::new(Mutex::new(Vec::new()));
        let heard = reported.clone();
        let subscription = events.subscribe(move |_, event| {
            if let Event::Reported { name, .. } = event {
                heard.lock().unwrap().push(*name);
            }
        });
        let services = ToolServices {
            workspace,
            gate,
            outputs,
            memory,
            events,
            media_bytes_max: 20 << 20,
            image_side_max: 2000,
            cache: None,
            journal: kept,
            require_read: false,
            after: Arc::new([]),
            languages: Languages::Off,
            jobs: None,
            hooks: Arc::new([]),
            processes: Arc::new(Processes::new(Vec::new(), Limits::default().text)),
            asker: Arc::new(Nobody("nobody is there".to_owned())),
            subagents: None,
            inbox: Inbox::default(),
            turns: OpenTurns::default(),
            web_search: WebSearching::default(),
            code_search: CodeSearching::default(),
            skills: Arc::new(Skills::new(Vec::new())),
            web: Web::default(),
        };
        let registry = Registry::root();
        let registration = registry.register(builtins(&services)).unwrap();
        Bench {
            top,
            services,
            recorder,
            rules,
            session: SessionId::mint(),
            registry,
            reported,
            _registration: registration,
            replaced: Vec::new(),
            _subscription: subscription,
        }
    }

    /// A path in the workspace.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join("ws").join(name)
    }

    /// A path outside the workspace.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join("out").join(name)
    }

    /// Makes a file in the workspace, and the directories it needs.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Makes a link in the workspace.
    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn context(&self) -> ToolContext {
        ToolContext {
            session: self.session.clone(),
            agent: AgentId::parse("build").unwrap(),
            message: MessageId::mint(),
            call: CallId::mint(),
        }
    }

    /// Settles a call.
    pub(crate) fn settle(&self, tool: &str, input: Value) -> Settlement {
        self.settle_as(self.context(), tool, input)
    }

    /// Settles a call that must complete, and returns its id.
    pub(crate) fn made(&self, tool: &str, input: Value) -> CallId {
        self.made_as(self.context(), tool, input)
    }

    /// The same as a call that was begun earlier.
    pub(crate) fn made_as(&self, context: ToolContext, tool: &str, input: Value) -> CallId {
        match self.settle_as(context.clone(), tool, input) {
            Settlement::Completed(_) => context.call,
            Settlement::Rejected(rejection) => panic!("rejected: {rejection}"),
        }
    }

    fn settle_as(&self, context: ToolContext, tool: &str, input: Value) -> Settlement {
        self.attempt_as(context, tool, input).unwrap()
    }

    /// Settles a call that may end without a settlement.
    pub(crate) fn attempt(&self, tool: &str, input: Value) -> Result<Settlement, SettleError> {
        self.attempt_as(self.context(), tool, input)
    }

    fn attempt_as(&self, context: ToolContext, tool: &str, input: Value) -> Result<Settlement, SettleError> {
        run(async {
            let turn =
                self.registry.turn(&self.spec(Audience::Operator), self.turn_services()).await.unwrap();
            let turn = Arc::new(turn);
            let _open = self.services.turns.enter(&context.session, &context.message, &turn);
            let call = Call { context, provider_id: None, name: tool.to_owned(), input: Input::Json(input) };
            turn.settle(call).await
        })
    }

    /// Begins a call and drops it after a while.
    pub(crate) fn abandon(&self, tool: &str, input: Value, after: Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let work = async {
            let turn =
                self.registry.turn(&self.spec(Audience::Operator), self.turn_services()).await.unwrap();
            let (context, name) = (self.context(), tool.to_owned());
            let call = Call { context, provider_id: None, name, input: Input::Json(input) };
            // Whether it was quicker is told by the files.
            let _settled = tokio::time::timeout(after, turn.settle(call)).await;
        };
        runtime.block_on(work);
        runtime.shutdown_background();
    }

    /// The same bench, on which a tool takes the place of the one of its name.
    pub(crate) fn replacing(mut self, name: &str, tool: Tool) -> Bench {
        let later = self.registry.register([(name, tool)]).unwrap();
        self.replaced.push(later);
        self
    }

    pub(crate) fn completed(&self, tool: &str, input: Value) -> Completed {
        match self.settle(tool, input) {
            Settlement::Completed(completed) => completed,
            Settlement::Rejected(rejection) => panic!("rejected: {rejection}"),
        }
    }

    pub(crate) fn rejected(&self, tool: &str, input: Value) -> String {
        match self.settle(tool, input) {
            Settlement::Completed(completed) => panic!("completed: {}", completed.text()),
            Settlement::Rejected(rejection) => self.masked(&rejection.to_string()),
        }
    }

    /// Settles a call and compares what is shown, with the workspace's path written as `$ws`.
    #[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
    pub(crate) fn check(&self, tool: &str, input: Value, expected: Expect) {
        let shown = match self.settle(tool, input) {
            Settlement::Completed(done) => format!("title: {}\n{}", done.title, done.text()),
            Settlement::Rejected(rejection) => format!("rejected: {rejection}"),
        };
        expected.assert_eq(&self.masked(&shown));
    }

    /// What would be asked for a call, one question per line, and what a person would be shown.
    #[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
    pub(crate) fn check_questions(&self, tool: &str, input: Value, expected: Expect) {
        expected.assert_eq(&self.questions(tool, input));
    }

    /// The same as text.
    pub(crate) fn questions(&self, tool: &str, input: Value) -> String {
        let bench = self.rehearsing();
        bench.settle(tool, input);
        let rehearsed = bench.services.gate.rehearsed();
        let mut shown: String = rehearsed.iter().map(question).collect();
        if let Some(last) = rehearsed.last() {
            shown.push_str(&format!("{}\n{}", last.showing.title, last.showing.detail));
        }
        self.masked(&shown)
    }

    pub(crate) fn reported(&self) -> Vec<&'static str> {
        self.reported.lock().unwrap().clone()
    }

    /// What a model is told of the tools.
    pub(crate) fn definitions(&self, model: Option<&str>) -> Vec<Definition> {
        self.definitions_of(model.map(|id| ("any", id)))
    }

    /// The same for the model of a provider.
    pub(crate) fn definitions_of(&self, model: Option<(&str, &str)>) -> Vec<Definition> {
        let model = model.map(|(provider, id)| Model { provider: provider.to_owned(), id: id.to_owned() });
        let audience = Audience::Model(Viewer { model, ..Viewer::default() });
        let turn = run(self.registry.turn(&self.spec(audience), self.turn_services())).unwrap();
        turn.definitions().to_vec()
    }

    /// The tools that a client with these features shows.
    pub(crate) fn shown_to(&self, client: &str, flags: &[&str]) -> Vec<String> {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let audience = Audience::Model(Viewer { model: None, client: client.to_owned(), flags });
        let turn = run(self.registry.turn(&self.spec(audience), self.turn_services())).unwrap();
        turn.definitions().iter().map(|tool| tool.name.to_string()).collect()
    }

    /// Every tool that is registered, also those that no model is shown.
    pub(crate) fn all_definitions(&self) -> Vec<Definition> {
        let turn = run(self.registry.turn(&self.spec(Audience::Operator), self.turn_services())).unwrap();
        turn.definitions().to_vec()
    }

    /// No temporary file is left anywhere.
    pub(crate) fn check_no_residue(&self) {
        let walk = ignore::WalkBuilder::new(self.top.path()).standard_filters(false).build();
        let left: Vec<_> = walk
            .map(|entry| entry.unwrap().into_path())
            .filter(|path| path.to_string_lossy().contains(".haft-tmp-"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }

    fn masked(&self, text: &str) -> String {
        let top = self.top.path().canonicalize().unwrap();
        let top = top.to_str().unwrap();
        text.replace(&format!("{top}/ws"), "$ws").replace(&format!("{top}/out"), "$out").replace(top, "$top")
    }

    fn spec(&self, audience: Audience) -> TurnSpec {
        let agent = AgentId::parse("build").unwrap();
        TurnSpec { agent, rules: self.rules.clone(), audience, configuration: 0 }
    }

    fn turn_services(&self) -> Services {
        Services {
            gate: self.services.gate.clone(),
            recorder: self.recorder.clone(),
            outputs: self.services.outputs.clone(),
            hooks: Arc::new([]),
            events: self.services.events.clone(),
            limits: Limits::default(),
        }
    }
}

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Does something without the rights of root, to whom everything is readable. Threads inherit what their maker may do.
pub(crate) fn as_nobody<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let dropped = move || {
        if rustix::process::geteuid().is_root() {
            rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65534)).unwrap();
        }
        work()
    };
    match std::thread::spawn(dropped).join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn question(rehearsed: &Rehearsed) -> String {
    let spellings = |resource: &Resource| resource.spellings().collect::<Vec<_>>().join(" = ");
    let resources: Vec<String> = rehearsed.question.resources.iter().map(spellings).collect();
    format!(
        "{} on {} (always: {})\n",
        rehearsed.question.action,
        resources.join(", "),
        rehearsed.question.save.join(", ")
    )
}
