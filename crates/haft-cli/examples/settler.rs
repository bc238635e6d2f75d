//! Settles calls and says how long each took, for `cargo xtask bench files`, `shell`, `lsp` and `plugins`.
//!
//! `settler DIRECTORY` reads calls from stdin, one JSON document `{"tool","input"}` a line, and answers each with a line
//! `{"nanoseconds","completed","text"}`. `settler DIRECTORY TOOL INPUT` settles one call and answers it the same way.
//! With `--store DATA` before that everything is recorded on disk, in the directory `DATA`; otherwise nothing is.
//! With `--unconfined` commands run without the sandbox. With `--lsp SERVER` there are language servers, and the program
//! `SERVER` is the one for files that end in `.timed`, `.at-once` and `.later`. With `--plugins` the custom tools in `.opencode` are there.

#![allow(clippy::print_stdout, reason = "answering on stdout is what it is for")]

use std::error::Error;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use haft::permission::{
    Effect, Gate, GateParts, GrantBook, Layer, MemoryGrants, Nobody, Origin, Rule, Ruleset,
};
use haft::{
    AgentId, Audience, BoxFuture, Call, CallId, Events, Inbox, Input, Journal, Limits, Memory, MemoryOutputs,
    MemoryRecorder, MessageId, OpenTurns, OutputStore, Recorder, Registration, Registry, Services, SessionId,
    Settlement, ShortMemory, ToolContext, Turn, TurnSpec,
};
use haft_plugin::{
    Behalf, Desk, HostProgram, LaunchError, Launched, Owner, Parts, Places, PluginLimits, Plugins, Said,
    Unanswered, Wish,
};
use haft_sandbox::{Level, Sandbox};
use haft_store::{JournalBounds, Redactor, Retention, Store, StoreOptions};
use haft_tools::{
    AfterChange, DIAGNOSING_TIME, Diagnosing, DiskRestorer, LanguageServers, Languages, LspLimits, Processes,
    ProfileName, ProgramEntry, ServerEntry, ToolServices, Workspace, builtins,
};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    haft_sandbox::maybe_become_helper();
    if haft_plugin::maybe_become_host().is_some() {
        return Ok(());
    }
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut how = How { store: None, profile: ProfileName::default(), server: None, plugins: false };
    loop {
        match arguments.first().map(String::as_str) {
            Some("--store") if arguments.len() > 1 => {
                how.store = arguments.drain(..2).next_back().map(PathBuf::from);
            }
            Some("--lsp") if arguments.len() > 1 => {
                how.server = arguments.drain(..2).next_back();
            }
            Some("--plugins") => {
                how.plugins = true;
                arguments.remove(0);
            }
            Some("--unconfined") => {
                how.profile = ProfileName::FullAccess;
                arguments.remove(0);
            }
            _ => break,
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match arguments.as_slice() {
            [directory] => {
                let settler = Settler::new(directory, how).await?;
                for line in std::io::stdin().lock().lines() {
                    let mut call: Value = serde_json::from_str(&line?)?;
                    let tool = call["tool"].as_str().ok_or("a call names its tool")?.to_owned();
                    println!("{}", settler.settle(&tool, call["input"].take()).await?);
                }
                Ok(())
            }
            [directory, tool, input] => {
                let input = serde_json::from_str(input)?;
                println!("{}", Settler::new(directory, how).await?.settle(tool, input).await?);
                Ok(())
            }
            _ => {
                Err("usage: settler [--store DATA] [--unconfined] [--lsp SERVER] [--plugins] DIRECTORY [TOOL INPUT]"
                    .into())
            }
        }
    })
}

/// How calls are kept and commands confined.
struct How {
    store: Option<PathBuf>,
    profile: ProfileName,
    server: Option<String>,
    plugins: bool,
}

/// A host that ends with its input.
struct BareHost(std::process::Child);

impl haft_plugin::Holds for BareHost {
    fn end(mut self: Box<Self>) -> Option<String> {
        self.0.kill().and_then(|()| self.0.wait()).err().map(|error| error.to_string())
    }
}

/// Starts hosts as processes of this program, with nothing that confines them. What they ask for they do not get.
struct BareDesk;

impl Desk for BareDesk {
    fn launch(&self, _program: &HostProgram) -> Result<Launched, LaunchError> {
        let lost = |error: std::io::Error| LaunchError::Start(error.to_string());
        let own = std::env::current_exe().map_err(lost)?;
        let mut command = Command::new(own);
        command.arg(haft_plugin::HOST_COMMAND);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(lost)?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(input), Some(output), Some(words)) => Ok(Launched {
                input: input.into(),
                output: output.into(),
                words: Box::new(words),
                holds: Box::new(BareHost(child)),
            }),
            _ => Err(LaunchError::Start("it has no pipes".to_owned())),
        }
    }

    fn answer<'a>(&'a self, _: Wish, _: Behalf) -> BoxFuture<'a, Result<Value, Unanswered>> {
        Box::pin(std::future::ready(Err(Unanswered::failed("the benchmark gives nothing"))))
    }

    fn heard(&self, _said: Said, _context: Option<ToolContext>) {}
}

/// The custom tools of a directory.
async fn plugins(directory: &str, registry: &Registry, gate: &Gate) -> Plugins {
    let configuration = Path::new(directory).join(".opencode");
    let plugins = Plugins::new(Parts {
        desk: Arc::new(BareDesk),
        registrar: registry.registrar(),
        gate: gate.clone(),
        action_of: haft_tools::action_of,
        places: Places { directories: vec![(configuration, Owner::Person)], ..Places::default() },
        reserved: Vec::new(),
        engines: Vec::new(),
        limits: PluginLimits::default(),
        directory: directory.into(),
        worktree: directory.into(),
        input: json!({ "directory": directory, "worktree": directory }),
        cache: None,
    });
    plugins.refresh().await;
    plugins
}

/// Language servers, with one more for files that end in `.timed`, which names no versions for those that end in `.at-once`
/// and `.later`; and the step that asks them after a change.
fn languages(
    server: Option<String>,
    workspace: &Workspace,
    processes: &Arc<Processes>,
) -> (Languages, Arc<[Arc<dyn AfterChange>]>) {
    let Some(server) = server else { return (Languages::Off, Arc::new([])) };
    let timed = |name: &str, modes: &[&str]| ServerEntry {
        program: ProgramEntry {
            name: name.to_owned(),
            command: Some(
                [server.as_str()].iter().chain(modes).map(|argument| (*argument).to_owned()).collect(),
            ),
            extensions: Some(vec![format!(".{name}")]),
            ..ProgramEntry::default()
        },
        initialization: None,
    };
    let timed = [timed("timed", &[]), timed("at-once", &["at-once"]), timed("later", &["later"])];
    let limits = LspLimits::default();
    let servers = Arc::new(LanguageServers::new(workspace.clone(), processes.clone(), &timed, limits));
    let diagnosing: Arc<dyn AfterChange> = Arc::new(Diagnosing::new(servers.clone(), DIAGNOSING_TIME));
    (Languages::On(servers), Arc::new([diagnosing]))
}

/// The sandbox as haft has it, with the small helper: examples are built into a directory below that of programs.
fn with_small_helper() -> Option<Sandbox> {
    let own = std::env::current_exe().ok()?;
    let helper = own.ancestors().nth(2)?.join("haft-helper");
    // One of another build confines nothing.
    helper.exists().then(|| Sandbox::with_helper(&helper)).filter(|sandbox| sandbox.level() != Level::None)
}

/// Whatever keeps something beyond a call.
struct Keepers {
    recorder: Arc<dyn Recorder>,
    outputs: Arc<dyn OutputStore>,
    grants: Arc<dyn GrantBook>,
    memory: Arc<dyn Memory>,
    journal: Arc<dyn Journal>,
}

impl Keepers {
    fn in_memory() -> Keepers {
        Keepers {
            recorder: Arc::new(MemoryRecorder::default()),
            outputs: Arc::new(MemoryOutputs::default()),
            grants: Arc::new(MemoryGrants::default()),
            memory: Arc::new(ShortMemory::default()),
            journal: Arc::new(MemoryRecorder::default()),
        }
    }

    fn on_disk(data: &Path, directory: &str) -> Result<Keepers, Box<dyn Error>> {
        let (store, _notices) = Store::open(StoreOptions {
            data_dir: data.to_owned(),
            project: directory.to_owned(),
            directory: directory.to_owned(),
            redactor: Redactor::from_env(std::env::vars()),
            retention: Retention::default(),
            journal: JournalBounds::default(),
            restorer: Arc::new(DiskRestorer),
        })?;
        let store = Arc::new(store);
        Ok(Keepers {
            recorder: store.clone(),
            outputs: store.clone(),
            grants: store.clone(),
            memory: store.clone(),
            journal: store,
        })
    }
}

/// All built-in tools in one directory. Everything is allowed, as a model meets it that never leaves the workspace.
struct Settler {
    turn: Turn,
    session: SessionId,
    _registration: Registration,
    _plugins: Option<Plugins>,
}

impl Settler {
    async fn new(directory: &str, how: How) -> Result<Settler, Box<dyn Error>> {
        let keepers = match &how.store {
            Some(data) => Keepers::on_disk(data, directory)?,
            None => Keepers::in_memory(),
        };
        let origin = || Origin::named(Layer::Defaults, "the benchmark");
        let rules = [("*", "*", Effect::Allow), ("read", "*.env", Effect::Ask)];
        let rules = rules.map(|(action, pattern, effect)| Rule::new(action, pattern, effect, origin()));
        let events = Events::new(keepers.recorder.clone());
        let gate = Gate::new(GateParts {
            policy: Box::new(Arc::new(Ruleset::new(rules))),
            grants: keepers.grants,
            asker: Arc::new(Nobody("the benchmark asks nobody".to_owned())),
            recorder: keepers.recorder.clone(),
            events: events.clone(),
        });
        let services = Services {
            gate: gate.clone(),
            recorder: keepers.recorder,
            outputs: keepers.outputs.clone(),
            hooks: Arc::new([]),
            events: events.clone(),
            limits: Limits::default(),
        };
        let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
        let mut processes = Processes::new(path.into_iter().collect(), Limits::default().text);
        if let Some(sandbox) = with_small_helper() {
            processes = processes.confined_by(sandbox);
        }
        processes.confinement.profile = how.profile;
        processes.keeps_helper = true;
        let processes = Arc::new(processes);
        let workspace = Workspace::open(Path::new(directory), Some(Path::new(directory)))?;
        let (languages, after) = languages(how.server, &workspace, &processes);
        let tools = ToolServices {
            workspace,
            gate,
            outputs: keepers.outputs,
            memory: keepers.memory,
            events,
            journal: keepers.journal,
            media_bytes_max: 20 << 20,
            image_side_max: 2000,
            cache: None,
            require_read: false,
            after,
            languages,
            jobs: None,
            hooks: Arc::new([]),
            processes,
            asker: Arc::new(Nobody("nobody is there".to_owned())),
            subagents: None,
            inbox: Inbox::default(),
            turns: OpenTurns::default(),
            skills: Arc::default(),
            web: haft_tools::web::Web::default(),
            web_search: haft_tools::WebSearching::default(),
            code_search: haft_tools::CodeSearching::default(),
        };
        let registry = Registry::root();
        let registration = registry.register(builtins(&tools))?;
        let registry = registry.child();
        let plugins = match how.plugins {
            true => Some(plugins(directory, &registry, &tools.gate).await),
            false => None,
        };
        let spec = TurnSpec {
            agent: AgentId::parse("build")?,
            rules: Arc::new(Ruleset::default()),
            audience: Audience::Operator,
            configuration: 0,
        };
        let turn = registry.turn(&spec, services).await?;
        Ok(Settler { turn, session: SessionId::mint(), _registration: registration, _plugins: plugins })
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
