//! The only code of these tests that touches the API: a world to register in, settle in and look at.

mod parts;
mod people;
mod tools;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use haft::permission::{Effect, Gate, GateParts, Layer, Origin, Rule, Ruleset};
use haft::{
    AgentId, Audience, BoxFuture, Call, CallId, Events, Hook, Input, Limits, MessageId, Model, Offer,
    Registration, Registry, Seq, Services, SessionId, SettleError, Settlement, Subscription, Tool,
    ToolContext, Turn, TurnSpec, Viewer,
};
use proptest::test_runner::Config as ProptestConfig;
use serde_json::Value;

pub(crate) use parts::{Book, Log, Notes, Shelf};
pub(crate) use people::{Asks, Patient, Somebody};
pub(crate) use tools::{Door, Hooked, Runs, Say, dynamic, echo, looks_at, made_by, says, tool};

/// Everything a call needs, with nobody to ask and everything allowed unless it is said otherwise.
pub(crate) struct World {
    pub(crate) process: Registry,
    pub(crate) location: Registry,
    pub(crate) spec: TurnSpec,
    pub(crate) services: Services,
    pub(crate) session: SessionId,
    pub(crate) message: MessageId,
    pub(crate) log: Log,
    pub(crate) recorder: Arc<Notes>,
    pub(crate) outputs: Arc<Shelf>,
    pub(crate) book: Arc<Book>,
    pub(crate) asker: Arc<Patient>,
    _listening: Subscription,
}

impl World {
    /// A world in which everything is allowed.
    pub(crate) fn new() -> World {
        World::ruled("* *: allow")
    }

    /// A world with these rules, one to a line: `action pattern: effect`.
    pub(crate) fn ruled(text: &str) -> World {
        World::built(rules(text), Gate::new)
    }

    /// A world in which nothing is done and decisions are taken down.
    pub(crate) fn rehearsing(text: &str) -> World {
        World::built(rules(text), Gate::rehearsal)
    }

    pub(crate) fn built(rules: Ruleset, gate: impl FnOnce(GateParts) -> Gate) -> World {
        let log = Log::default();
        let recorder = Arc::new(Notes::new(log.clone()));
        let outputs = Arc::new(Shelf::default());
        let book = Arc::new(Book::default());
        let asker = Arc::new(Patient::default());
        let events = Events::new(recorder.clone());
        let heard = log.clone();
        let listening = events.subscribe(move |seq: Seq, event| heard.announce(seq, event));
        let rules = Arc::new(rules);
        let gate = gate(GateParts {
            policy: Box::new(rules.clone()),
            grants: book.clone(),
            asker: asker.clone(),
            recorder: recorder.clone(),
            events: events.clone(),
        });
        let services = Services {
            gate,
            recorder: recorder.clone(),
            outputs: outputs.clone(),
            hooks: Arc::new([]),
            events,
            limits: Limits::default(),
        };
        let process = Registry::root();
        World {
            location: process.child(),
            process,
            spec: TurnSpec { agent: agent("build"), rules, audience: Audience::Operator, configuration: 0 },
            services,
            session: SessionId::mint(),
            message: MessageId::mint(),
            log,
            recorder,
            outputs,
            book,
            asker,
            _listening: listening,
        }
    }

    pub(crate) fn hooked(mut self, hooks: impl IntoIterator<Item = impl Hook + 'static>) -> World {
        self.services.hooks = hooks.into_iter().map(|hook| Arc::new(hook) as Arc<dyn Hook>).collect();
        self
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.services.gate
    }

    /// Registers one tool in the location.
    pub(crate) fn register(&self, name: &str, offer: impl Into<Offer>) -> Registration {
        self.location.register([(name, offer)]).expect("the name is valid")
    }

    pub(crate) fn turn(&self) -> Turn {
        now(self.location.turn(&self.spec, self.services.clone())).expect("the turn can be prepared")
    }

    /// The names a turn advertises, or why there is no turn.
    pub(crate) fn advertised(&self) -> String {
        match now(self.location.turn(&self.spec, self.services.clone())) {
            Ok(turn) => names(&turn),
            Err(error) => format!("no turn: {error}"),
        }
    }

    pub(crate) fn context(&self) -> ToolContext {
        ToolContext {
            session: self.session.clone(),
            agent: self.spec.agent.clone(),
            message: self.message.clone(),
            call: CallId::mint(),
        }
    }

    pub(crate) fn call(&self, name: &str, input: Value) -> Call {
        Call { context: self.context(), provider_id: None, name: name.to_owned(), input: Input::Json(input) }
    }

    /// Registers a tool, settles one call of it and says how it ended.
    pub(crate) fn settle_one(&self, tool: Tool, input: Value) -> String {
        let _registration = self.register("tool", tool);
        settle(&self.turn(), self.call("tool", input))
    }

    /// The states that were announced, in order.
    pub(crate) fn states(&self) -> String {
        self.log
            .lines()
            .iter()
            .filter_map(|line| line.strip_prefix("announced "))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// So many random cases. A failing one is shrunk and printed, and nothing is written into the source tree.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A model in a client with flags switched on.
pub(crate) fn viewer(model: Option<&str>, client: &str, flags: &[&str]) -> Audience {
    let model = model.map(|text| {
        let (provider, id) = text.split_once('/').expect("a model is written provider/id");
        Model { provider: provider.to_owned(), id: id.to_owned() }
    });
    let flags = flags.iter().map(|flag| (*flag).to_owned()).collect::<BTreeSet<_>>();
    Audience::Model(Viewer { model, client: client.to_owned(), flags })
}

pub(crate) fn agent(name: &str) -> AgentId {
    AgentId::parse(name).expect("the agent's name is valid")
}

/// Reads rules, one to a line: `action pattern: effect`. Those that begin with `untrusted` only narrow.
pub(crate) fn rules(text: &str) -> Ruleset {
    let mut rules = Ruleset::default();
    let mut narrowing = Vec::new();
    for (at, line) in text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty()) {
        let (untrusted, line) = match line.strip_prefix("untrusted ") {
            Some(line) => (true, line),
            None => (false, line),
        };
        let (what, effect) = line.rsplit_once(": ").expect("a rule has an effect");
        let (action, pattern) = what.split_once(' ').expect("a rule has an action and a pattern");
        let effect = Effect::parse(effect).expect("the effect is allow, ask or deny");
        let position = Some((at as u32 + 1, 1));
        let origin = Origin { layer: Layer::Project, source: "haft.json".into(), position };
        let rule = Rule::new(action, pattern, effect, origin);
        if untrusted { narrowing.push(rule) } else { rules.extend([rule]) }
    }
    rules.narrow(narrowing);
    rules
}

/// The names a turn advertises, in their order.
pub(crate) fn names(turn: &Turn) -> String {
    turn.definitions().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// Settles a call that has nothing to wait for, and says how it ended.
pub(crate) fn settle(turn: &Turn, call: Call) -> String {
    told(now(turn.settle(call)))
}

/// How a call ended, in one text: `completed`, `rejected` (both told to the model) or `error` (not told).
pub(crate) fn told(result: Result<Settlement, SettleError>) -> String {
    match result {
        Ok(Settlement::Completed(completed)) => format!("completed: {}", completed.text()),
        Ok(Settlement::Rejected(rejection)) => format!("rejected as {}: {rejection}", rejection.kind()),
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(" ({cause})"));
            format!("error: {error}{}", cause.unwrap_or_default())
        }
    }
}

/// The value of a future that has nothing to wait for.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for something"),
    }
}

/// A future that is polled by hand, so that a test decides what happens while it waits. Dropping it cancels it.
pub(crate) struct Started<'a, T> {
    future: BoxFuture<'a, T>,
    wakes: Arc<Wakes>,
}

impl<'a, T> Started<'a, T> {
    /// Starts a future and takes it as far as it goes.
    pub(crate) fn new(future: impl Future<Output = T> + Send + 'a) -> Started<'a, T> {
        let mut started = Started { future: Box::pin(future), wakes: Arc::default() };
        assert!(started.poll().is_none(), "it has nothing to wait for");
        started
    }

    /// Goes on if it can.
    pub(crate) fn poll(&mut self) -> Option<T> {
        let waker = Waker::from(self.wakes.clone());
        match Pin::new(&mut self.future).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    /// Goes on to the end. It must have been woken: a wake-up that is lost would leave a runtime waiting for ever.
    pub(crate) fn finish(mut self) -> T {
        assert!(self.wakes.0.load(Ordering::SeqCst) > 0, "it was not woken");
        self.poll().expect("it still waits for something")
    }
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
