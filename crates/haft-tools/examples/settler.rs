//! Settles calls and says how long each took, for `cargo xtask bench files`.
//!
//! `settler DIRECTORY` reads calls from stdin, one JSON document `{"tool","input"}` a line, and answers each with a line
//! `{"nanoseconds","completed","text"}`. `settler DIRECTORY TOOL INPUT` settles one call and answers it the same way.

#![allow(clippy::print_stdout, reason = "answering on stdout is what it is for")]

use std::error::Error;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use haft::permission::{Effect, Layer, Origin, Rule, Ruleset};
use haft::{
    AgentId, Audience, Call, CallId, Input, MemoryRecorder, MessageId, Registration, Registry, Services,
    SessionId, Settlement, ShortMemory, ToolContext, Turn, TurnSpec,
};
use haft_tools::{ToolServices, Workspace, builtins};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        match arguments.as_slice() {
            [directory] => {
                let settler = Settler::new(directory).await?;
                for line in std::io::stdin().lock().lines() {
                    let mut call: Value = serde_json::from_str(&line?)?;
                    let tool = call["tool"].as_str().ok_or("a call names its tool")?.to_owned();
                    println!("{}", settler.settle(&tool, call["input"].take()).await?);
                }
                Ok(())
            }
            [directory, tool, input] => {
                let input = serde_json::from_str(input)?;
                println!("{}", Settler::new(directory).await?.settle(tool, input).await?);
                Ok(())
            }
            _ => Err("usage: settler DIRECTORY [TOOL INPUT]".into()),
        }
    })
}

/// All built-in tools in one directory. Everything is allowed, as a model meets it that never leaves the workspace.
struct Settler {
    turn: Turn,
    session: SessionId,
    _registration: Registration,
}

impl Settler {
    async fn new(directory: &str) -> Result<Settler, Box<dyn Error>> {
        let origin = || Origin::named(Layer::Defaults, "the benchmark");
        let rules = [("*", "*", Effect::Allow), ("read", "*.env", Effect::Ask)];
        let rules = rules.map(|(action, pattern, effect)| Rule::new(action, pattern, effect, origin()));
        let services = Services::in_memory(Ruleset::new(rules));
        let tools = ToolServices {
            workspace: Workspace::open(Path::new(directory), Some(Path::new(directory)))?,
            gate: services.gate.clone(),
            outputs: services.outputs.clone(),
            memory: Arc::new(ShortMemory::default()),
            events: services.events.clone(),
            journal: Arc::new(MemoryRecorder::default()),
            media_bytes_max: 20 << 20,
            image_side_max: 2000,
            cache: None,
            require_read: false,
            after: Arc::new([]),
            processes: Arc::new(haft_tools::Processes::new(Vec::new(), haft::Limits::default().text)),
        };
        let registry = Registry::root();
        let registration = registry.register(builtins(&tools))?;
        let spec = TurnSpec {
            agent: AgentId::parse("build")?,
            rules: Arc::new(Ruleset::default()),
            audience: Audience::Operator,
            configuration: 0,
        };
        let turn = registry.turn(&spec, services).await?;
        Ok(Settler { turn, session: SessionId::mint(), _registration: registration })
    }

    async fn settle(&self, tool: &str, input: Value) -> Result<Value, Box<dyn Error>> {
        let context = ToolContext {
            session: self.session.clone(),
            agent: AgentId::parse("build")?,
            message: MessageId::mint(),
            call: CallId::mint(),
        };
        let call = Call { context, provider_id: None, name: tool.to_owned(), input: Input::Json(input) };
        let started = Instant::now();
        let settled = self.turn.settle(call).await?;
        let nanoseconds = u64::try_from(started.elapsed().as_nanos())?;
        let (completed, text) = match &settled {
            Settlement::Completed(done) => (true, done.text()),
            Settlement::Rejected(rejection) => (false, rejection.to_string()),
        };
        Ok(json!({"nanoseconds": nanoseconds, "completed": completed, "text": text}))
    }
}
