//! Prints what the core costs: settling, preparing turns, matching rules, bounding. `--quick`, `--instructions`.
//!
//! Each figure is the best of several runs. Run it with `cargo run --release -p haft --example bench_core`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use haft::permission::{Effect, Gate, Layer, Origin, Pattern, Rule, Ruleset};
use haft::preview::{Budget, Shape, preview};
use haft::{
    AgentId, Audience, BoundError, Boundary, BoxFuture, Call, CallId, Change, Ended, Event, Events, Executor,
    Input, Limits, MessageId, Model, OpenOutput, Opened, Output, OutputId, OutputStore, Presented, Recorder,
    Registration, Registry, Seq, Services, SessionId, Shortening, StoreError, Tool, ToolContext, ToolError,
    Turn, TurnSpec, Viewer, bound,
};
use serde_json::Value;

/// Adds two numbers.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sum {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
}

struct Adder;

impl Executor for Adder {
    type Input = Sum;
    type Output = i64;

    async fn execute(&self, input: &Sum, _: &ToolContext) -> Result<i64, ToolError> {
        input.a.checked_add(input.b).ok_or_else(|| ToolError::failure("the sum is too large"))
    }
}

fn main() -> ExitCode {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| options.iter().any(|option| option == name);
    let result = match options.as_slice() {
        [kind, count] if kind == "--run" => repeat(count),
        _ => table(if has("--quick") { 3 } else { 15 }, has("--instructions")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints all figures, each the best of `runs`.
fn table(runs: usize, instructions: bool) -> Result<(), Box<dyn Error>> {
    println!("| what | figure | note |\n|---|---:|---|");
    settling(runs)?;
    if instructions {
        counted()?;
    }
    turns(runs)?;
    matching(runs);
    bounding(runs.min(5))
}

fn row(what: &str, figure: &str, note: &str) {
    println!("| {what} | {figure} | {note} |");
}

/// The shortest of several runs, each after a preparation that is not measured.
fn best<T, R>(runs: usize, mut prepare: impl FnMut() -> T, mut work: impl FnMut(T) -> R) -> Duration {
    let one = |_| {
        let prepared = prepare();
        let start = Instant::now();
        let result = black_box(work(prepared));
        let time = start.elapsed();
        drop(result);
        time
    };
    (0..runs).map(one).min().unwrap_or_default()
}

/// The value of a future that has nothing to wait for.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

fn per_call(time: Duration, calls: usize) -> f64 {
    time.as_nanos() as f64 / calls as f64
}

fn settling(runs: usize) -> Result<(), Box<dyn Error>> {
    const CALLS: usize = 10_000;
    let bench = Bench::new(Arc::new(Forgetful))?;
    let input = Sum { a: 1, b: 2 };
    let context = bench.call().context;
    let direct = best(
        runs,
        || (),
        |()| (0..CALLS).filter(|_| now(Adder.execute(black_box(&input), &context)).is_ok()).count(),
    );
    let calls = || (0..CALLS).map(|_| bench.call()).collect::<Vec<_>>();
    let settled = best(runs, calls, |calls| bench.settle_all(calls));
    let (direct, settled) = (per_call(direct, CALLS), per_call(settled, CALLS));
    row("calling the function directly", &format!("{direct:.1} ns"), "");
    let note = format!("{:.0} ns over the function; the aim is under 3,000", settled - direct);
    row("settling a no-op typed tool", &format!("{settled:.0} ns"), &note);

    const REMEMBERED: usize = 1000;
    let remembering = || Bench::new(Arc::new(haft::MemoryRecorder::default()));
    let prepare =
        || remembering().map(|bench| ((0..REMEMBERED).map(|_| bench.call()).collect::<Vec<_>>(), bench));
    let settled = best(runs, prepare, |prepared| prepared.map(|(calls, bench)| bench.settle_all(calls)));
    let figure = format!("{:.0} ns", per_call(settled, REMEMBERED));
    row("the same with `MemoryRecorder`", &figure, "over its first 1,000 calls");
    Ok(())
}

/// Settles or calls a number of times and does nothing else, for `counted` to measure.
fn repeat(count: &str) -> Result<(), Box<dyn Error>> {
    let count: usize = count.parse()?;
    let bench = Bench::new(Arc::new(Forgetful))?;
    let call = bench.call();
    bench.settle_all((0..count).map(|_| call.clone()).collect());
    Ok(())
}

/// Counts instructions by running this program under callgrind, once with N calls and once with twice as many.
fn counted() -> Result<(), Box<dyn Error>> {
    const CALLS: u64 = 500;
    let program = std::env::current_exe()?;
    let instructions = |calls: u64| -> Result<u64, Box<dyn Error>> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&program);
        let output = command.args(["--run", &calls.to_string()]).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let collected = said.lines().find_map(|line| line.split("Collected :").nth(1));
        let collected = collected.ok_or_else(|| format!("callgrind counted nothing: {said}"))?;
        Ok(collected.trim().parse()?)
    };
    match instructions(CALLS).and_then(|once| Ok((instructions(2 * CALLS)? - once) / CALLS)) {
        Ok(count) => {
            row("settling a no-op typed tool", &format!("{count} instructions"), "with a copy of the call")
        }
        Err(error) => row("settling a no-op typed tool", "not counted", &error.to_string()),
    }
    Ok(())
}

fn turns(runs: usize) -> Result<(), Box<dyn Error>> {
    let rules: Vec<Rule> = (0..200)
        .map(|n| {
            let effect = if n % 3 == 0 { Effect::Ask } else { Effect::Allow };
            let origin = Origin::named(Layer::Project, "bench");
            Rule::new(&format!("tool_{n}*"), &format!("src/{n}/*"), effect, origin)
        })
        .collect();
    let model = Some(Model { provider: "anthropic".to_owned(), id: "claude".to_owned() });
    let spec = TurnSpec {
        agent: AgentId::parse("build")?,
        rules: Arc::new(Ruleset::new(rules)),
        audience: Audience::Model(Viewer { model, ..Viewer::default() }),
        configuration: 0,
    };
    let mut each = Vec::new();
    for tools in [100, 1000, 10_000] {
        let registry = Registry::root();
        let named = (0..tools).map(|n| (format!("tool_{n}"), Tool::new(Adder)));
        let _registration = registry.register(named)?;
        let prepare = || Services::in_memory(Ruleset::default());
        let first = best(1, prepare, |services| now(registry.turn(&spec, services)));
        let time = best(runs, prepare, |services| now(registry.turn(&spec, services)));
        let figure = format!("{:.0} µs", time.as_secs_f64() * 1e6);
        let note = format!("the first turn, which compiles the schemas: {:.0} µs", first.as_secs_f64() * 1e6);
        row(&format!("preparing a turn of {tools} tools with 200 rules"), &figure, &note);
        each.push(per_call(time, tools));
    }
    let ratios = format!("{:.2}, {:.2}", each[1] / each[0], each[2] / each[0]);
    let note = format!("{:.0}, {:.0} and {:.0} ns; 1 is linear, caches apart", each[0], each[1], each[2]);
    row("cost of a tool among 1,000 and 10,000, to one among 100", &ratios, &note);
    Ok(())
}

fn matching(runs: usize) {
    const TIMES: usize = 100;
    let command = "a".repeat(10 * 1024);
    for (what, pattern) in [
        ("matches", "*a".repeat(20) + "*"),
        ("almost matches", "*a".repeat(20) + "b"),
        ("has `?` too and almost matches", "*a?".repeat(20) + "b"),
        ("searches to the end in vain", "*ab".repeat(20)),
    ] {
        let rule = Pattern::new(&pattern);
        let time = best(runs, || (), |()| (0..TIMES).filter(|_| rule.matches(black_box(&command))).count());
        let figure = format!("{:.2} µs", per_call(time, TIMES) / 1000.0);
        row("a rule with 20 `*` against a command of 10 KiB", &figure, what);
    }
}

fn bounding(runs: usize) -> Result<(), Box<dyn Error>> {
    const BYTES: usize = 100 << 20;
    let lines = "a line of some eighty characters, as the output of a build or of a search has them\n";
    let text = lines.repeat(BYTES / lines.len());
    let budget = Limits::default().text;
    let time = best(runs, || (), |()| preview(black_box(&text), budget, Shape::Both).omitted.lines);
    let speed = |time: Duration| format!("{:.1} GB/s", text.len() as f64 / time.as_secs_f64() / 1e9);
    row("`preview` of 100 MB of lines", &format!("{:.1} ms", time.as_secs_f64() * 1e3), &speed(time));

    let one_line = "x".repeat(BYTES);
    let time = best(runs, || (), |()| preview(black_box(&one_line), budget, Shape::Both).omitted.bytes);
    row("`preview` of one line of 100 MB", &format!("{:.1} ms", time.as_secs_f64() * 1e3), &speed(time));
    drop(one_line);

    let prepare = || Presented::text(text.as_str());
    let time = best(runs, prepare, |presented| bounded(presented, budget).is_ok());
    row("`bound` of 100 MB, retained nowhere", &format!("{:.1} ms", time.as_secs_f64() * 1e3), &speed(time));

    let presented = prepare();
    // Writing 5 forgets the peak so far. Where that is not allowed, the figure is a lower limit.
    let forgotten = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = memory_kib("VmHWM:")?;
    bounded(presented, budget)?;
    let extra = memory_kib("VmHWM:")?.saturating_sub(before);
    let note = if forgotten { "over the text itself" } else { "at least, over the text itself" };
    row("memory `bound` needs for 100 MB", &format!("{:.1} MiB", extra as f64 / 1024.0), note);
    Ok(())
}

fn bounded(presented: Presented, budget: Budget) -> Result<(), BoundError> {
    let limits = Limits { text: budget, ..Limits::default() };
    let context = context(&SessionId::mint());
    let boundary = Boundary { limits: &limits, delegates: false, outputs: &Nowhere, context: &context };
    now(bound(&boundary, presented, Value::Null, Shortening::Ours))
        .map(|completed| drop(black_box(completed)))
}

fn memory_kib(field: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).ok_or("there is no such field")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn context(session: &SessionId) -> ToolContext {
    let agent = AgentId::parse("build").expect("it is a valid id");
    ToolContext { session: session.clone(), agent, message: MessageId::mint(), call: CallId::mint() }
}

/// A turn with one tool in it.
struct Bench {
    turn: Turn,
    _registration: Registration,
}

impl Bench {
    fn new(recorder: Arc<dyn Recorder>) -> Result<Bench, Box<dyn Error>> {
        let registry = Registry::root();
        let registration = registry.register([("add", Tool::new(Adder))])?;
        let services = Services {
            gate: Gate::in_memory(Ruleset::default(), recorder.clone()),
            outputs: Arc::new(Nowhere),
            hooks: Arc::new([]),
            events: Events::new(recorder.clone()),
            recorder,
            limits: Limits::default(),
        };
        let agent = AgentId::parse("build")?;
        let spec = TurnSpec { agent, rules: Arc::default(), audience: Audience::Operator, configuration: 0 };
        let turn = now(registry.turn(&spec, services))?;
        Ok(Bench { turn, _registration: registration })
    }

    fn call(&self) -> Call {
        let input = Input::Json(serde_json::json!({ "a": 1, "b": 2 }));
        // A session for each, so that nothing counts as a repetition.
        let context = context(&SessionId::mint());
        Call { context, provider_id: None, name: "add".to_owned(), input }
    }

    /// How many of the calls were settled.
    fn settle_all(&self, calls: Vec<Call>) -> usize {
        calls.into_iter().map(|call| usize::from(now(self.turn.settle(call)).is_ok())).sum()
    }
}

/// A recorder that keeps nothing, so that only settling is measured.
struct Forgetful;

fn done<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Recorder for Forgetful {
    fn called<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Opened, StoreError>> {
        done(Opened::New { seq: Seq::default(), repeats: 0 })
    }

    fn running<'a>(
        &'a self,
        _: &'a ToolContext,
        _: Option<&'a Value>,
    ) -> BoxFuture<'a, Result<Seq, StoreError>> {
        done(Seq::default())
    }

    fn acting<'a>(&'a self, _: &'a ToolContext, _: &'a [Change]) -> BoxFuture<'a, Result<(), StoreError>> {
        done(())
    }

    fn ended<'a>(&'a self, _: &'a ToolContext, _: &'a Ended) -> BoxFuture<'a, Result<Seq, StoreError>> {
        done(Seq::default())
    }

    fn cancelled(&self, _: &ToolContext) {}

    fn event<'a>(&'a self, _: &'a Event) -> BoxFuture<'a, Result<Seq, StoreError>> {
        done(Seq::default())
    }
}

/// An output store that keeps nothing, so that only bounding is measured.
struct Nowhere;

impl OutputStore for Nowhere {
    fn spool(&self, _: &ToolContext) -> Result<Box<dyn haft::Spool>, StoreError> {
        Err(StoreError::bare("nothing is kept here"))
    }

    fn retain<'a>(&'a self, _: &'a ToolContext, whole: &'a str) -> BoxFuture<'a, Result<Output, StoreError>> {
        done(Output { id: OutputId::mint(), bytes: whole.len() as u64, lines: 0, path: None })
    }

    fn open<'a>(
        &'a self,
        _: &'a SessionId,
        _: &'a OutputId,
    ) -> BoxFuture<'a, Result<Option<OpenOutput>, StoreError>> {
        done(None)
    }
}
