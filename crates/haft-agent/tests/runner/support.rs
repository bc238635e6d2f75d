//! A location with a few tools, a few agents and a script.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft::permission::{
    Ask, Effect, Gate, GateParts, Layer, MemoryGrants, Nobody, Origin, Question, Reach, Resource, Rule,
    Ruleset,
};
use haft::{
    Action, AgentId, BoxError, BoxFuture, Event, Events, Executor, Inbox, MemoryOutputs, MemoryRecorder,
    MemoryTranscript, Model, OpenTurns, Part, Registration, Registry, Services, SessionId, ShortMemory, Task,
    Tool, ToolContext, ToolError, Viewer,
};
use haft_agent::provider::{
    CallResult, Deltas, ModelInfo, Options, Prompt, Provider, ProviderError, Utterance, Uttered,
};
use haft_agent::{
    Agency, AgentSpec, Agents, Conversation, Influence, Interrupt, Mode, Models, Outcome, Own, Parts,
    Policies, Script, Served, Settings, Start, Uninfluenced,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

pub(crate) struct World {
    pub(crate) agency: Agency,
    pub(crate) inbox: Inbox,
    pub(crate) recorder: Arc<MemoryRecorder>,
    pub(crate) heard: Arc<Mutex<Vec<Prompt>>>,
    pub(crate) told: Arc<Mutex<Vec<Event>>>,
    pub(crate) ran: Arc<AtomicUsize>,
    pub(crate) session: SessionId,
    _kept: (Registration, haft::Subscription, tempfile::TempDir),
}

/// What can be different from world to world.
pub(crate) struct Plan {
    pub(crate) script: Value,
    pub(crate) rules: Vec<(&'static str, &'static str, Effect)>,
    pub(crate) steps: Option<u32>,
    pub(crate) context: Option<u64>,
    pub(crate) depth: u32,
    pub(crate) influence: Arc<dyn Influence>,
    /// Failures before the script is asked, in order.
    pub(crate) failures: Vec<fn() -> ProviderError>,
}

impl Plan {
    pub(crate) fn new(script: Value) -> Plan {
        let rules = vec![("*", "*", Effect::Allow)];
        let influence = Arc::new(Uninfluenced);
        Plan { script, rules, steps: None, context: None, depth: 1, influence, failures: Vec::new() }
    }

    pub(crate) fn build(self) -> World {
        World::new(self)
    }
}

fn rule((action, resource, effect): &(&str, &str, Effect)) -> Rule {
    Rule::new(action, resource, *effect, Origin::named(Layer::Global, "test"))
}

pub(crate) fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

impl World {
    fn new(plan: Plan) -> World {
        let recorder = Arc::new(MemoryRecorder::default());
        let events = Events::new(recorder.clone());
        let told: Arc<Mutex<Vec<Event>>> = Arc::default();
        let noting = told.clone();
        let subscription = events.subscribe(move |_, event| noting.lock().unwrap().push(event.clone()));
        let rules = Arc::new(Ruleset::new(plan.rules.iter().map(rule)));
        let own = Own { session: SessionId::mint(), agent: agent("build"), rules: rules.clone() };
        let policies = Policies::new(own);
        let gate = Gate::new(GateParts {
            policy: Box::new(policies.clone()),
            grants: Arc::new(MemoryGrants::default()),
            asker: Arc::new(Nobody("nobody is here".to_owned())),
            recorder: recorder.clone(),
            events: events.clone(),
        });
        let (agency, inbox, ran) = (Agency::default(), Inbox::default(), Arc::new(AtomicUsize::new(0)));
        let shelves = tempfile::tempdir().unwrap();
        let registry = Registry::root();
        let tools = [
            ("echo", Tool::new(Echo { ran: ran.clone(), gate: gate.clone() })),
            ("slow", Tool::new(Slow { ran: ran.clone() })),
            ("task", Tool::new(Delegate { agency: agency.clone() })),
        ];
        let registration = registry.register(tools).unwrap();
        let heard: Arc<Mutex<Vec<Prompt>>> = Arc::default();
        let provider = Arc::new(Listening {
            script: Script::from_json(&plan.script).unwrap(),
            heard: heard.clone(),
            failures: Mutex::new(plan.failures.into_iter().rev().collect()),
        });
        agency.furnish(Parts {
            registry,
            services: Services {
                gate,
                recorder: recorder.clone(),
                outputs: Arc::new(MemoryOutputs::default()),
                hooks: Arc::new([]),
                events,
                limits: haft::Limits::default(),
            },
            transcript: Arc::new(MemoryTranscript::default()),
            memory: Arc::new(ShortMemory::default()),
            inbox: inbox.clone(),
            open_turns: OpenTurns::default(),
            agents: Arc::new(Staff { rules, steps: plan.steps }),
            models: Arc::new(OneModel { provider, context: plan.context }),
            influence: plan.influence,
            policies,
            viewer: Viewer::default(),
            settings: Settings {
                subagent_depth: plan.depth,
                not_for_subagents: vec!["task".to_owned()],
                ..Settings::default()
            },
            shelves: Some(shelves.path().to_owned()),
            ended: Box::new(|_| {}),
        });
        let session = SessionId::mint();
        let _kept = (registration, subscription, shelves);
        World { agency, inbox, recorder, heard, told, ran, session, _kept }
    }

    pub(crate) async fn open(&self) -> Conversation {
        let start = Start {
            session: self.session.clone(),
            agent: agent("build"),
            model: None,
            title: String::new(),
            parent: None,
            waits_for_tasks: true,
        };
        self.agency.open(start).await.unwrap()
    }

    pub(crate) async fn say(&self, text: &str) -> Outcome {
        self.open().await.say(vec![Part::text(text)], &Interrupt::default()).await
    }

    /// What the model was told last of its calls.
    pub(crate) fn last_results(&self) -> Vec<CallResult> {
        let heard = self.heard.lock().unwrap();
        let conversation = &heard.last().unwrap().conversation;
        let results = conversation.iter().rev().find_map(|said| match said.utterance() {
            Utterance::Results(results) => Some(results.clone()),
            Utterance::User(_) | Utterance::Assistant(_) => None,
        });
        results.unwrap_or_default()
    }

    pub(crate) fn runs(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }

    /// The calls that ended, each with how.
    pub(crate) fn ends(&self) -> BTreeMap<String, String> {
        let calls = self.recorder.calls();
        let end = |known: &haft::Remembered| {
            (format!("{} {:?}", known.call.name, known.call.provider_id), format!("{:?}", known.ended))
        };
        calls.iter().map(end).collect()
    }
}

pub(crate) fn text_of(result: &CallResult) -> String {
    let content = result.content.read().unwrap();
    content.iter().filter_map(haft::Content::as_text).collect::<Vec<_>>().join("\n")
}

/// What a prompt shows, one line for each utterance.
pub(crate) fn sketch(prompt: &Prompt) -> Vec<String> {
    prompt
        .conversation
        .iter()
        .map(|said| match said.utterance() {
            Utterance::User(content) => {
                format!(
                    "user: {}",
                    content.iter().filter_map(haft::Content::as_text).collect::<Vec<_>>().join(" | ")
                )
            }
            Utterance::Assistant(uttered) => {
                let words: Vec<String> = uttered
                    .iter()
                    .map(|uttered| match uttered {
                        Uttered::Text(text) => text.clone(),
                        Uttered::Reasoning { text, .. } => format!("({text})"),
                        Uttered::Call { name, .. } => format!("{name}()"),
                    })
                    .collect();
                format!("assistant: {}", words.join(" | "))
            }
            Utterance::Results(results) => {
                let results: Vec<String> = results
                    .iter()
                    .map(|result| format!("{}{}", text_of(result), if result.is_error { " !" } else { "" }))
                    .collect();
                format!("results: {}", results.join(" | "))
            }
        })
        .collect()
}

/// A script that remembers what it was told.
struct Listening {
    script: Script,
    heard: Arc<Mutex<Vec<Prompt>>>,
    failures: Mutex<Vec<fn() -> ProviderError>>,
}

impl Provider for Listening {
    fn answer<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<Box<dyn Deltas>, ProviderError>> {
        self.heard.lock().unwrap().push(prompt.clone());
        if let Some(failure) = self.failures.lock().unwrap().pop() {
            return Box::pin(std::future::ready(Err(failure())));
        }
        self.script.answer(prompt)
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        self.script.models()
    }
}

struct OneModel {
    provider: Arc<Listening>,
    context: Option<u64>,
}

impl Models for OneModel {
    fn serve(&self, name: Option<&str>) -> Result<Served, BoxError> {
        let id = name.and_then(|name| name.split_once('/')).map_or("m", |(_, id)| id).to_owned();
        let info = ModelInfo { id: id.clone(), context: self.context, ..ModelInfo::default() };
        let model = Model { provider: "test".to_owned(), id };
        Ok(Served { provider: self.provider.clone(), model, info })
    }
}

struct Staff {
    rules: Arc<Ruleset>,
    steps: Option<u32>,
}

impl Staff {
    fn spec(&self, name: &str) -> Option<AgentSpec> {
        let modes = HashMap::from([
            ("build", Mode::Primary),
            ("plan", Mode::Primary),
            ("general", Mode::Subagent),
            ("helper", Mode::All),
        ]);
        let mode = *modes.get(name)?;
        Some(AgentSpec {
            name: agent(name),
            description: Some(format!("does {name} things")),
            mode,
            model: None,
            options: Options::default(),
            variant: None,
            steps: self.steps.filter(|_| mode == Mode::Primary),
            rules: match name {
                "build" => self.rules.clone(),
                // Whatever whoever has them work may do, they would do more if they could.
                _ => Arc::new(Ruleset::new([rule(&("*", "*", Effect::Allow))])),
            },
        })
    }
}

impl Agents for Staff {
    fn agent(&self, name: &AgentId) -> Result<Arc<AgentSpec>, BoxError> {
        self.spec(name.as_str()).map(Arc::new).ok_or_else(|| format!("unknown agent {name}").into())
    }

    fn system(&self, agent: &AgentSpec, _model: &Model) -> Vec<String> {
        vec![format!("You are {}.", agent.name)]
    }
}

/// Says something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// What.
    text: String,
}

struct Echo {
    ran: Arc<AtomicUsize>,
    gate: Gate,
}

struct ToSay(String);

impl Ask for ToSay {
    fn questions(&self) -> Vec<Question> {
        vec![Question::new(Action::new("echo"), Resource::new(&self.0))]
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }
}

impl Executor for Echo {
    type Input = Words;
    type Output = String;

    async fn execute(&self, input: &Words, context: &ToolContext) -> Result<String, ToolError> {
        if input.text == "fail" {
            return Err(ToolError::failure("it failed"));
        }
        let permit = self.gate.grant(context, ToSay(input.text.clone())).await?;
        self.ran.fetch_add(1, Ordering::SeqCst);
        Ok(permit.into_target().0)
    }
}

/// Waits.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wait {
    /// How long.
    ms: u64,
}

struct Slow {
    ran: Arc<AtomicUsize>,
}

impl Executor for Slow {
    type Input = Wait;
    type Output = String;

    async fn execute(&self, input: &Wait, _: &ToolContext) -> Result<String, ToolError> {
        tokio::time::sleep(Duration::from_millis(input.ms)).await;
        self.ran.fetch_add(1, Ordering::SeqCst);
        Ok(format!("waited {}", input.ms))
    }
}

/// Has an agent do something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Assignment {
    /// Which.
    agent: String,
    /// What.
    prompt: String,
    /// Which session to go on with.
    #[serde(default)]
    resume: Option<String>,
    /// Whether not to wait for it.
    #[serde(default)]
    background: bool,
}

struct Delegate {
    agency: Agency,
}

impl Executor for Delegate {
    type Input = Assignment;
    type Output = String;

    async fn execute(&self, input: &Assignment, context: &ToolContext) -> Result<String, ToolError> {
        let task = Task {
            agent: agent(&input.agent),
            description: "a task".to_owned(),
            prompt: input.prompt.clone(),
            resume: input.resume.as_deref().map(|id| SessionId::parse(id).unwrap()),
            in_background: input.background,
        };
        Ok(self.agency.run_task(context, task).await?.envelope(None))
    }
}
