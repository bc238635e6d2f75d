//! Tools and hooks to settle calls with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use haft::{
    BoxError, BoxFuture, Dynamic, Executor, Factory, Hook, InitContext, Presented, Tool, ToolContext,
    ToolError, ToolName,
};
use serde_json::Value;

use super::{Asks, Log, World};

/// Says something.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Say {
    /// What to say.
    pub(crate) text: String,
}

struct Does<F>(F);

impl<F, R> Executor for Does<F>
where
    F: Fn(Say, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send,
{
    type Input = Say;
    type Output = String;

    async fn execute(&self, input: &Say, context: &ToolContext) -> Result<String, ToolError> {
        (self.0)(input.clone(), context.clone()).await
    }
}

/// A typed tool that does this.
pub(crate) fn tool<F, R>(work: F) -> Tool
where
    F: Fn(Say, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send,
{
    Tool::new(Does(work))
}

/// A tool that repeats what it is given.
pub(crate) fn echo() -> Tool {
    tool(async |input: Say, _| Ok(input.text))
}

/// A tool that always says this.
pub(crate) fn says(text: impl Into<String>) -> Tool {
    let text = text.into();
    tool(move |_, _| std::future::ready(Ok(text.clone())))
}

/// A tool whose types are only known while running.
pub(crate) fn dynamic(
    input: Value,
    output: Value,
    work: impl Fn(Value) -> Result<Value, ToolError> + Send + Sync + 'static,
) -> Tool {
    Tool::dynamic(Dynamic {
        description: "Does what it was told to.".to_owned(),
        input,
        output,
        execute: Arc::new(move |input, _| Box::pin(std::future::ready(work(input)))),
        present: |_, output| match output {
            Value::String(text) => Presented::text(text.as_str()),
            _ => Presented::default(),
        },
    })
}

/// A tool that acts on what it is given, with the gate's consent, and says so in the log.
pub(crate) fn looks_at(world: &World, action: &'static str) -> Tool {
    let (gate, log) = (world.gate().clone(), world.log.clone());
    tool(move |input: Say, context: ToolContext| {
        let (gate, log) = (gate.clone(), log.clone());
        async move {
            let permit = gate.grant(&context, Asks::to(action, &input.text).saving(&input.text)).await?;
            log.say("acted");
            drop(permit);
            Ok(format!("did {}", input.text))
        }
    })
}

/// Makes a tool for an agent, and says so in the log.
pub(crate) fn made_by(log: &Log) -> Factory {
    let log = log.clone();
    Arc::new(move |context: InitContext| {
        let model = context.model.map_or("no model".to_owned(), |model| model.id);
        let maker = format!("made for {} with {model}", context.agent);
        log.say(&maker);
        Box::pin(std::future::ready(Ok(says(maker))))
    })
}

/// Counts how often a tool ran.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<AtomicUsize>);

impl Runs {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn note(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// A tool that repeats what it is given, and is counted.
    pub(crate) fn echo(&self) -> Tool {
        let runs = self.clone();
        tool(move |input: Say, _| {
            runs.note();
            std::future::ready(Ok(input.text))
        })
    }
}

/// Something to wait for.
#[derive(Clone, Default)]
pub(crate) struct Door(Arc<AtomicBool>);

impl Door {
    pub(crate) fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Waits until the door is open. Whoever opens it polls again by hand.
    pub(crate) async fn wait(&self) {
        std::future::poll_fn(|_| if self.0.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending })
            .await;
    }

    /// A tool that says this as soon as the door is open.
    pub(crate) fn then_says(&self, text: &'static str) -> Tool {
        let door = self.clone();
        tool(move |_, _| {
            let door = door.clone();
            async move {
                door.wait().await;
                Ok(text.to_owned())
            }
        })
    }
}

type Before = Box<dyn Fn(Value) -> Result<Value, BoxError> + Send + Sync>;
type After = Box<dyn Fn(Presented) -> Result<Presented, BoxError> + Send + Sync>;

/// A hook that does this before and that after a call.
pub(crate) struct Hooked {
    before: Before,
    after: After,
}

impl Hooked {
    pub(crate) fn before(work: impl Fn(Value) -> Result<Value, BoxError> + Send + Sync + 'static) -> Hooked {
        Hooked { before: Box::new(work), after: Box::new(Ok) }
    }

    pub(crate) fn after(
        work: impl Fn(Presented) -> Result<Presented, BoxError> + Send + Sync + 'static,
    ) -> Hooked {
        Hooked { before: Box::new(Ok), after: Box::new(work) }
    }

    /// One that says in the log when it is there.
    pub(crate) fn noting(log: &Log, name: &'static str) -> Hooked {
        let (before, after) = (log.clone(), log.clone());
        Hooked {
            before: Box::new(move |input| {
                before.say(format!("{name} before"));
                Ok(input)
            }),
            after: Box::new(move |shown| {
                after.say(format!("{name} after"));
                Ok(shown)
            }),
        }
    }
}

impl Hook for Hooked {
    fn before<'a>(
        &'a self,
        _tool: &'a ToolName,
        _context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, BoxError>> {
        Box::pin(async move { (self.before)(input) })
    }

    fn after<'a>(
        &'a self,
        _tool: &'a ToolName,
        _context: &'a ToolContext,
        _input: &'a Value,
        shown: Presented,
    ) -> BoxFuture<'a, Result<Presented, BoxError>> {
        Box::pin(async move { (self.after)(shown) })
    }
}
