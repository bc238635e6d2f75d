//! A process that stays, without a store: every built-in tool in a workspace with language servers.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft::permission::{Effect, Layer, Origin, Rule, Ruleset};
use haft::{
    AgentId, Audience, Call, CallId, Completed, Input, Limits, MemoryRecorder, MessageId, Registration,
    Registry, Services, SessionId, Settlement, ShortMemory, ToolContext, TurnSpec,
};
use haft_sandbox::Sandbox;
use haft_tools::{
    AfterChange, Diagnosing, LanguageServers, Languages, LspLimits, Processes, ProfileName, ProgramEntry,
    ServerEntry, ToolServices, Workspace, builtins,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(crate) struct Bench {
    runtime: Runtime,
    registry: Registry,
    services: Services,
    pub(crate) servers: Arc<LanguageServers>,
    session: SessionId,
    registration: Registration,
    top: TempDir,
}

/// What a bench may have otherwise.
pub(crate) struct With {
    pub(crate) entries: Vec<ServerEntry>,
    pub(crate) limits: LspLimits,
    pub(crate) diagnosing: Duration,
    pub(crate) profile: ProfileName,
    pub(crate) rules: Vec<(&'static str, &'static str, Effect)>,
}

impl Default for With {
    fn default() -> With {
        With {
            entries: Vec::new(),
            // Nothing here waits so long but on a machine that has much else to do.
            limits: LspLimits {
                start: Duration::from_secs(120),
                request: Duration::from_secs(120),
                ..LspLimits::default()
            },
            diagnosing: Duration::from_secs(120),
            profile: ProfileName::WorkspaceWrite,
            rules: Vec::new(),
        }
    }
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench::with(With::default())
    }

    /// Files that end in `.fake` belong to a server that does what it is told to, without the sandbox so that it can write
    /// down what it is sent.
    pub(crate) fn faking(modes: &[&str]) -> Bench {
        Bench::with(With {
            entries: vec![fake("fake", modes)],
            profile: ProfileName::FullAccess,
            ..With::default()
        })
    }

    pub(crate) fn with(with: With) -> Bench {
        let top = TempDir::new().unwrap();
        fs::write(top.path().join("fake.js"), include_str!("fake.js")).unwrap();
        let rule = |(action, pattern, effect): (&str, &str, Effect)| {
            Rule::new(action, pattern, effect, Origin::named(Layer::Session, "the test"))
        };
        let rules = [("*", "*", Effect::Allow)].into_iter().chain(with.rules).map(rule);
        let services = Services::in_memory(Ruleset::new(rules));
        let path = std::env::join_paths(
            std::iter::once(scripts()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        let mut environment: Vec<(OsString, OsString)> = vec![("PATH".into(), path.unwrap())];
        // By which rustup finds what it looks after.
        let rustup = ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];
        environment.extend(rustup.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))));
        let sandbox = Sandbox::with_helper(Path::new(env!("CARGO_BIN_EXE_haft")));
        let mut processes = Processes::new(environment, Limits::default().text).confined_by(sandbox);
        // Where nothing can be confined, servers run without.
        let can_confine = processes.sandbox().check(&haft_sandbox::Profile::read_only()).is_ok();
        processes.confinement.profile = if can_confine { with.profile } else { ProfileName::FullAccess };
        let processes = Arc::new(processes);
        let workspace = Workspace::open(top.path(), None).unwrap();
        let servers =
            Arc::new(LanguageServers::new(workspace.clone(), processes.clone(), &with.entries, with.limits));
        let diagnosing: Arc<dyn AfterChange> = Arc::new(Diagnosing::new(servers.clone(), with.diagnosing));
        let tools = ToolServices {
            workspace,
            gate: services.gate.clone(),
            outputs: services.outputs.clone(),
            memory: Arc::new(ShortMemory::default()),
            events: services.events.clone(),
            journal: Arc::new(MemoryRecorder::default()),
            media_bytes_max: 20 << 20,
            image_side_max: 2000,
            cache: None,
            require_read: false,
            processes,
            after: Arc::new([diagnosing]),
            languages: Languages::On(servers.clone()),
            web: haft_tools::web::Web::default(),
            web_search: haft_tools::WebSearching::default(),
            code_search: haft_tools::CodeSearching::default(),
            jobs: None,
            hooks: Arc::new([]),
            asker: Arc::new(haft::permission::Nobody(String::new())),
            subagents: None,
            inbox: haft::Inbox::default(),
            turns: haft::OpenTurns::default(),
            skills: Arc::default(),
        };
        let registry = Registry::root();
        let registration = registry.register(builtins(&tools)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let session = SessionId::mint();
        Bench { runtime, registry, services, servers, session, registration, top }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
    }

    /// What the fake server was sent, a method a line.
    pub(crate) fn heard(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("heard.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    async fn settle(&self, tool: &str, input: Value) -> Settlement {
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
        let turn = self.registry.turn(&spec, self.services.clone()).await.unwrap();
        let call = Call { context, provider_id: None, name: tool.to_owned(), input: Input::Json(input) };
        turn.settle(call).await.unwrap()
    }

    pub(crate) fn completed(&self, tool: &str, input: Value) -> Completed {
        match self.runtime.block_on(self.settle(tool, input)) {
            Settlement::Completed(completed) => completed,
            Settlement::Rejected(rejection) => panic!("rejected: {rejection}"),
        }
    }

    pub(crate) fn rejected(&self, tool: &str, input: Value) -> String {
        match self.runtime.block_on(self.settle(tool, input)) {
            Settlement::Completed(completed) => panic!("completed: {}", completed.text()),
            Settlement::Rejected(rejection) => rejection.to_string(),
        }
    }

    /// Begins a call and drops it once something is so.
    pub(crate) fn abandon(&self, tool: &str, input: Value, is_so: impl Fn() -> bool) {
        self.runtime.block_on(async {
            let becomes_so = async {
                while !is_so() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            };
            tokio::select! {
                _ = self.settle(tool, input) => panic!("it ended"),
                () = becomes_so => {}
            }
        });
    }

    /// Asks about the first place of a text in a file, and returns the results.
    pub(crate) fn ask(&self, operation: &str, file: &str, at: &str) -> Vec<Value> {
        let input = self.question(operation, file, at);
        let result = self.completed("lsp", input).metadata["result"].clone();
        serde_json::from_value(result).unwrap()
    }

    pub(crate) fn question(&self, operation: &str, file: &str, at: &str) -> Value {
        let text = fs::read_to_string(self.path(file)).unwrap();
        let before = &text[..text.find(at).unwrap()];
        let line = before.matches('\n').count() + 1;
        let character = before.rsplit('\n').next().unwrap().chars().count() + 1;
        json!({ "operation": operation, "filePath": file, "line": line, "character": character })
    }

    /// Replaces a text in a file, and returns what the model is told.
    pub(crate) fn edit(&self, file: &str, old: &str, new: &str) -> String {
        self.completed("edit", json!({ "filePath": file, "oldString": old, "newString": new })).text()
    }

    /// The process lets go of its servers, as when it ends in an orderly way.
    pub(crate) fn let_go(self) -> TempDir {
        let Bench { registration, registry, servers, top, .. } = self;
        drop((registration, registry, servers));
        top
    }
}

/// A server of our own for files that end in a dot and its name.
pub(crate) fn fake(name: &str, modes: &[&str]) -> ServerEntry {
    let command = ["node", "fake.js"].into_iter().chain(modes.iter().copied());
    ServerEntry {
        program: ProgramEntry {
            name: name.to_owned(),
            command: Some(command.map(str::to_owned).collect()),
            extensions: Some(vec![format!(".{name}")]),
            ..ProgramEntry::default()
        },
        initialization: None,
    }
}

/// Where the servers are that come from a registry of packages.
fn scripts() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_haft")).ancestors().nth(2).unwrap();
    target.join("lsp-servers/node_modules/.bin")
}

/// Whether a program was said to be missing, so that a test cannot be run.
pub(crate) fn is_missing(program: &str) -> bool {
    let missing = std::env::var("HAFT_TEST_MISSING").unwrap_or_default();
    let is_missing = missing.split(' ').any(|missing| missing == program);
    let is_script = scripts().join(program).exists();
    let path = std::env::var_os("PATH").unwrap();
    let is_there =
        is_script || std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    assert!(is_missing || is_there, "{program} is not there; `cargo xtask test` installs it");
    is_missing
}

/// The processes that work in a directory or below.
pub(crate) fn working_in(directory: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_there = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory))
    };
    processes.filter(is_there).filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Waits until something is so; panics when it has not become so in a long time.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never: {what}");
}

/// The places that results name: the file, and the line counted from one.
pub(crate) fn places(results: &[Value]) -> Vec<(String, u64)> {
    let place = |result: &Value| {
        let (uri, range) = match result.get("targetUri") {
            Some(uri) => (uri, &result["targetSelectionRange"]),
            None => (&result["uri"], &result["range"]),
        };
        let name = uri.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (name, range["start"]["line"].as_u64().unwrap() + 1)
    };
    let mut places: Vec<_> = results.iter().map(place).collect();
    places.sort();
    places
}
