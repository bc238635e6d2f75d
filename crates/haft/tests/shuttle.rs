//! Explores how threads can interleave in the registry and the gate: `cargo test -p haft --features shuttle --test shuttle`.
//!
//! A wake-up that is lost shows as a deadlock, or as a run that never ends.

#![allow(clippy::unwrap_used, reason = "whatever fails here fails the test")]

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use haft::permission::{
    Answer, Ask, Asker, Effect, Gate, GateParts, Layer, MemoryGrants, Origin, Question, Reach, Reply,
    Request, Resource, Rule, Ruleset, Scope,
};
use haft::{
    Action, AgentId, Audience, BoxFuture, Call, CallId, Dynamic, Events, Factory, Input, MemoryRecorder,
    MessageId, Presented, Recorder, Registry, Services, SessionId, Settlement, Tool, ToolContext, ToolError,
    Turn, TurnSpec,
};
use serde_json::{Value, json};
use shuttle::future::block_on;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;
use shuttle::{Config, MaxSteps, Runner};

const STACK_BYTES: usize = 1 << 20;

/// Explores a scenario at random, and then by priorities, which finds rarer orders.
fn explore(scenario: fn()) {
    let config = || {
        let mut config = Config::new();
        config.max_steps = MaxSteps::FailAfter(100_000);
        // Compiling a JSON Schema needs more than the 32 KiB that a thread of shuttle has.
        config.stack_size = STACK_BYTES;
        config
    };
    Runner::new(RandomScheduler::new(3000), config()).run(scenario);
    Runner::new(PctScheduler::new(3, 1500), config()).run(scenario);
}

fn spec(configuration: u64) -> TurnSpec {
    let agent = AgentId::parse("build").unwrap();
    TurnSpec { agent, rules: Arc::default(), audience: Audience::Operator, configuration }
}

/// A tool that says who it is, in its description as in its output, after others had a chance to interfere.
fn tagged(tag: impl Into<String>) -> Tool {
    let tag = tag.into();
    Tool::dynamic(Dynamic {
        description: tag.clone(),
        input: json!({ "type": "object" }),
        output: json!(true),
        execute: Arc::new(move |_, _| {
            let tag = tag.clone();
            Box::pin(async move {
                shuttle::future::yield_now().await;
                Ok(Value::String(tag))
            })
        }),
        present: |_, output| Presented::text(output.as_str().unwrap_or_default()),
    })
}

fn context(session: &SessionId) -> ToolContext {
    ToolContext {
        session: session.clone(),
        agent: AgentId::parse("build").unwrap(),
        message: MessageId::mint(),
        call: CallId::mint(),
    }
}

fn turn(registry: &Registry, configuration: u64) -> Turn {
    block_on(registry.turn(&spec(configuration), Services::in_memory(Ruleset::default()))).unwrap()
}

/// Settles a call of `tool` and checks that nothing ran but what was advertised. Returns whether it ran.
fn settle(turn: &Turn) -> bool {
    let call = Call {
        context: context(&SessionId::mint()),
        provider_id: None,
        name: "tool".to_owned(),
        input: Input::Json(json!({})),
    };
    let advertised = turn.definitions().iter().find(|definition| definition.name.as_str() == "tool");
    match (block_on(turn.settle(call)).unwrap(), advertised) {
        (Settlement::Completed(completed), Some(definition)) => {
            assert_eq!(completed.text(), definition.description);
            true
        }
        (Settlement::Rejected(rejection), Some(_)) => {
            assert_eq!(rejection.kind(), "stale");
            false
        }
        (Settlement::Rejected(rejection), None) => {
            assert_eq!(rejection.kind(), "unknown_tool");
            false
        }
        (Settlement::Completed(_), None) => panic!("what was not advertised ran"),
    }
}

#[test]
fn a_call_never_runs_what_was_not_advertised() {
    explore(|| {
        let process = Registry::root();
        let location = process.child();
        let base = process.register([("tool", tagged("process"))]).unwrap();
        let overriding = {
            let location = location.clone();
            thread::spawn(move || {
                let first = location.register([("tool", tagged("first"))]).unwrap();
                let second =
                    location.register([("tool", tagged("second")), ("other", tagged("other"))]).unwrap();
                drop(first);
                drop(second);
            })
        };
        let removing = thread::spawn(move || drop(base));
        let settling: Vec<_> = (0..2)
            .map(|_| {
                let location = location.clone();
                thread::spawn(move || {
                    let turn = turn(&location, 0);
                    settle(&turn);
                    settle(&turn);
                })
            })
            .collect();
        overriding.join().unwrap();
        removing.join().unwrap();
        settling.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(location.ids().is_empty());
    });
}

/// A factory that takes its time and never makes the same tool twice.
fn numbered() -> Factory {
    let made = Arc::new(AtomicUsize::new(0));
    Arc::new(move |_| {
        let number = made.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            shuttle::future::yield_now().await;
            Ok(tagged(format!("made {number}")))
        })
    })
}

#[test]
fn turns_that_make_a_tool_at_once_advertise_the_same_one() {
    explore(|| {
        let registry = Registry::root();
        let _made = registry.register([("tool", numbered())]).unwrap();
        let turns: Vec<_> = (0..3)
            .map(|_| {
                let registry = registry.clone();
                thread::spawn(move || turn(&registry, 0))
            })
            .collect();
        let turns: Vec<Turn> = turns.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(turns.iter().all(settle), "one of them was stale");
    });
}

#[test]
fn a_tool_made_again_is_never_run_for_an_older_turn() {
    explore(|| {
        let registry = Registry::root();
        let _made = registry.register([("tool", numbered())]).unwrap();
        let settling: Vec<_> = (0..3)
            .map(|configuration| {
                let registry = registry.clone();
                thread::spawn(move || settle(&turn(&registry, configuration)))
            })
            .collect();
        settling.into_iter().for_each(|thread| assert!(thread.join().is_ok()));
    });
}

#[test]
fn a_call_that_is_settled_twice_at_once_runs_once() {
    explore(|| {
        let registry = Registry::root();
        let runs = Arc::new(AtomicUsize::new(0));
        let noted = runs.clone();
        let tool = Tool::dynamic(Dynamic {
            description: String::new(),
            input: json!({ "type": "object" }),
            output: json!(true),
            execute: Arc::new(move |_, _| {
                noted.fetch_add(1, Ordering::SeqCst);
                Box::pin(async { Ok(json!("done")) })
            }),
            present: |_, _| Presented::default(),
        });
        let _tool = registry.register([("tool", tool)]).unwrap();
        let turn = Arc::new(turn(&registry, 0));
        let session = SessionId::mint();
        let call = Call {
            context: context(&session),
            provider_id: Some("call_1".to_owned()),
            name: "tool".to_owned(),
            input: Input::Json(json!({})),
        };
        let settling: Vec<_> = (0..2)
            .map(|_| {
                let (turn, mut call) = (turn.clone(), call.clone());
                call.context.call = CallId::mint();
                thread::spawn(move || block_on(turn.settle(call)).is_ok())
            })
            .collect();
        let settled: Vec<bool> = settling.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(settled.contains(&true), "neither settled");
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    });
}

/// Somebody who never answers here.
struct Elsewhere;

impl Asker for Elsewhere {
    fn ask<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::pending())
    }
}

/// A gate that asks about everything and is answered through [`Gate::reply`] alone.
fn gate() -> Gate {
    let recorder: Arc<dyn Recorder> = Arc::new(MemoryRecorder::default());
    let rule = Rule::new("*", "*", Effect::Ask, Origin::named(Layer::Session, "test"));
    Gate::new(GateParts {
        policy: Box::new(Arc::new(Ruleset::new([rule]))),
        grants: Arc::new(MemoryGrants::default()),
        asker: Arc::new(Elsewhere),
        events: Events::new(recorder.clone()),
        recorder,
    })
}

struct Wants;

impl Ask for Wants {
    fn questions(&self) -> Vec<Question> {
        vec![Question::new(Action::new("edit"), Resource::new("a")).saving("*")]
    }

    fn reach(&self) -> Reach {
        Reach::Changes
    }
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Came {
    Permitted,
    Declined,
}

fn came(result: Result<haft::permission::Permit<Wants>, ToolError>) -> Came {
    match result {
        Ok(_) => Came::Permitted,
        Err(ToolError::Declined) => Came::Declined,
        Err(error) => panic!("{error}"),
    }
}

fn request(gate: &Gate, session: &SessionId) -> thread::JoinHandle<Came> {
    let (gate, context) = (gate.clone(), context(session));
    thread::spawn(move || came(block_on(gate.grant(&context, Wants))))
}

/// Answers the first request that is pending, as soon as there is one, unless everything has ended.
fn answer_first(gate: &Gate, reply: Reply, is_over: impl Fn() -> bool) -> bool {
    while !is_over() {
        if let Some(request) = gate.pending().first() {
            return block_on(gate.reply(&request.id, reply)).is_ok();
        }
        thread::yield_now();
    }
    false
}

#[test]
fn every_request_ends_whoever_answers() {
    explore(|| {
        let (gate, session) = (gate(), SessionId::mint());
        let over = Arc::new(AtomicUsize::new(0));
        let repliers: Vec<_> = [Reply::Once, Reply::Reject(None), Reply::Always(Scope::Session)]
            .into_iter()
            .map(|reply| {
                let (gate, over) = (gate.clone(), over.clone());
                thread::spawn(move || {
                    while over.load(Ordering::SeqCst) < 2 {
                        answer_first(&gate, reply.clone(), || over.load(Ordering::SeqCst) == 2);
                    }
                })
            })
            .collect();
        for request in [request(&gate, &session), request(&gate, &session)] {
            request.join().unwrap();
            over.fetch_add(1, Ordering::SeqCst);
        }
        repliers.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(gate.pending().is_empty());
    });
}

#[test]
fn exactly_one_reply_wins() {
    explore(|| {
        let (gate, session) = (gate(), SessionId::mint());
        let over = Arc::new(AtomicUsize::new(0));
        let reply = |reply: Reply| {
            let (gate, over) = (gate.clone(), over.clone());
            thread::spawn(move || answer_first(&gate, reply, || over.load(Ordering::SeqCst) == 1))
        };
        let (yes, no) = (reply(Reply::Once), reply(Reply::Reject(None)));
        let came = request(&gate, &session).join().unwrap();
        over.store(1, Ordering::SeqCst);
        let expected = match (yes.join().unwrap(), no.join().unwrap()) {
            (true, false) => Came::Permitted,
            (false, true) => Came::Declined,
            other => panic!("{other:?} replies won"),
        };
        assert_eq!(came, expected);
        assert!(gate.pending().is_empty());
    });
}

#[test]
fn a_request_that_is_dropped_leaves_nothing_pending() {
    explore(|| {
        let (gate, session) = (gate(), SessionId::mint());
        let dropping = {
            let (gate, context) = (gate.clone(), context(&session));
            thread::spawn(move || {
                let mut asking: BoxFuture<'_, _> = Box::pin(gate.grant(&context, Wants));
                let polled = Pin::new(&mut asking).poll(&mut Context::from_waker(Waker::noop()));
                thread::yield_now();
                matches!(polled, Poll::Ready(_))
            })
        };
        let replying = {
            let gate = gate.clone();
            thread::spawn(move || {
                for request in gate.pending() {
                    drop(block_on(gate.reply(&request.id, Reply::Always(Scope::Session))));
                }
            })
        };
        dropping.join().unwrap();
        replying.join().unwrap();
        assert!(gate.pending().is_empty());
    });
}

#[test]
fn an_always_leaves_nothing_that_it_covers_waiting() {
    explore(|| {
        let (gate, session) = (gate(), SessionId::mint());
        let requests = [request(&gate, &session), request(&gate, &session)];
        assert!(answer_first(&gate, Reply::Always(Scope::Session), || false));
        for request in requests {
            assert_eq!(request.join().unwrap(), Came::Permitted);
        }
        assert!(gate.pending().is_empty());
    });
}
