//! Wiring: a location's store, gate, tools and turn. The only place that sees more than one leaf.

use std::sync::Arc;

use haft::permission::{
    Asker, Effect, Gate, GateParts, GrantBook, Layer, MemoryGrants, Nobody, Origin, Rehearsed, Rule, Ruleset,
};
use haft::{
    Audience, Call, CallId, Events, Hook, Inbox, Journal, Limits, Memory, MemoryOutputs, MemoryRecorder,
    OpenTurn, OpenTurns, OutputStore, Recorder, Registration, Registry, Services, ShortMemory, Subscription,
    ToolContext, Turn, TurnSpec, Viewer,
};
use haft_agent::{Agency, Agents, Models, Own, Policies};
use haft_store::{CallFilter, CallRow, Lookup, Queue, Redactor, Retention, Store, StoreOptions};
use haft_tools::web::Web;
use haft_tools::{
    AfterChange, Diagnosing, DiskRestorer, Formatters, Jobs, LanguageServers, Languages, LoadedInstructions,
    LspLimits, Processes, ToolServices, UndoPlan, Workspace, load_instructions, plan_undo,
};

use crate::agency;
use crate::cli::{ConsentArgs, OnAsk};
use crate::config::{self, LanguageWords};
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::instructions;
use crate::models;
use crate::searches;
use crate::setting::Setting;
use crate::skills;
use crate::terminal::{Terminal, TerminalAsker};

/// Whether calls act or are only rehearsed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They act, and are recorded.
    Live,
    /// They are decided about and nothing else; nothing is recorded.
    Rehearsal,
}

/// How long this process lives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It ends with the call, so nothing can go on in the background.
    OneCall,
    /// It stays for a conversation, or is asked what there would be in one.
    Conversation,
}

/// One workspace root with its services.
pub(crate) struct Location<'s> {
    setting: &'s Setting,
    rules: Arc<Ruleset>,
    registry: Registry,
    services: Services,
    store: Option<Store>,
    workspace: Workspace,
    journal: Arc<dyn Journal>,
    turns: OpenTurns,
    inbox: Inbox,
    jobs: Option<Arc<Jobs>>,
    policies: Policies,
    agency: Agency,
    grants: Arc<dyn GrantBook>,
    memory: Arc<dyn Memory>,
    languages: Languages,
    web: Web,
    _builtins: Registration,
}

impl<'s> Location<'s> {
    pub(crate) fn open(
        setting: &'s Setting,
        consent: &ConsentArgs,
        mode: Mode,
        life: Life,
    ) -> Result<Location<'s>, Failure> {
        Location::open_asking(setting, consent, mode, life, |asker| asker)
    }

    /// The same, with somebody else to ask than the one whom the command line names.
    pub(crate) fn open_asking(
        setting: &'s Setting,
        consent: &ConsentArgs,
        mode: Mode,
        life: Life,
        instead: impl FnOnce(Arc<dyn Asker>) -> Arc<dyn Asker>,
    ) -> Result<Location<'s>, Failure> {
        let rules = Arc::new(ruleset(setting, consent)?);
        let keepers = match mode {
            Mode::Live => Keepers::durable(open_store(setting)?),
            Mode::Rehearsal => Keepers::rehearsing(setting)?,
        };
        let events = Events::new(keepers.recorder.clone());
        let asker = instead(asker(setting, consent, keepers.store.as_ref()));
        let own =
            Own { session: setting.session.clone(), agent: setting.agent.clone(), rules: rules.clone() };
        let (policies, agency) = (Policies::new(own), Agency::default());
        let turns = OpenTurns::default();
        let inbox = match &keepers.store {
            Some(store) => Inbox::kept_on(Arc::new(store.clone())),
            None => Inbox::default(),
        };
        let (grants, memory) = (keepers.grants.clone(), keepers.memory.clone());
        let stays = life == Life::Conversation;
        let jobs: Option<Arc<Jobs>> = stays.then(Arc::default);
        let parts = GateParts {
            policy: Box::new(policies.clone()),
            grants: keepers.grants,
            asker: asker.clone(),
            recorder: keepers.recorder.clone(),
            events: events.clone(),
        };
        let gate = match mode {
            Mode::Live => Gate::new(parts),
            Mode::Rehearsal => Gate::rehearsal(parts),
        };
        let workspace = Workspace::open(&setting.directory, setting.worktree.as_deref())
            .map_err(|error| Failure::new(Exit::Usage, error))?;
        let mut processes = environment::processes(setting)?;
        processes.asks_again = is_somebody_there(consent);
        processes.keeps_helper = stays;
        let processes = Arc::new(processes);
        let hooks: Arc<[Arc<dyn Hook>]> = Arc::new([]);
        let (files, journal) = (workspace.clone(), keepers.journal.clone());
        let languages = languages(setting, &files, &processes);
        let web = Web::new(environment::proxies(setting));
        let tools = ToolServices {
            workspace,
            gate: gate.clone(),
            outputs: keepers.outputs.clone(),
            memory: keepers.memory,
            journal: keepers.journal,
            events: events.clone(),
            media_bytes_max: limits(setting).media as u64,
            image_side_max: setting.config.image_side_max(),
            cache: (mode == Mode::Live).then(|| setting.paths.cache.clone()),
            require_read: setting.config.require_read(),
            after: after_change(setting, &files, &processes, &languages),
            languages: languages.clone(),
            processes,
            jobs: jobs.clone(),
            hooks: hooks.clone(),
            asker,
            subagents: stays.then(|| agency::subagents(setting, &agency)),
            inbox: inbox.clone(),
            turns: turns.clone(),
            web_search: searches::web(setting)?,
            code_search: searches::code(setting)?,
            skills: Arc::new(skills::of(setting)),
            web: web.clone(),
        };
        let registry = Registry::root();
        let builtins = registry.register(haft_tools::builtins(&tools));
        let builtins = builtins.map_err(|error| Failure::new(Exit::Defect, error))?;
        let services = Services {
            gate,
            recorder: keepers.recorder,
            outputs: keepers.outputs,
            hooks,
            events,
            limits: limits(setting),
        };
        let registry = registry.child();
        Ok(Location {
            setting,
            rules,
            registry,
            services,
            store: keepers.store,
            workspace: files,
            journal,
            turns,
            inbox,
            jobs,
            policies,
            agency,
            grants,
            memory,
            languages,
            web,
            _builtins: builtins,
        })
    }

    /// Gives the agency what it needs to hold conversations here.
    pub(crate) fn furnish(
        &self,
        agents: Arc<dyn Agents>,
        models: Arc<dyn Models>,
        settings: haft_agent::Settings,
    ) -> Result<Agency, Failure> {
        let store = self.store().ok_or_else(|| Failure::usage("a conversation needs a store"))?;
        self.agency.furnish(haft_agent::Parts {
            registry: self.registry.clone(),
            services: self.services.clone(),
            transcript: Arc::new(store.clone()),
            memory: self.memory.clone(),
            inbox: self.inbox.clone(),
            open_turns: self.turns.clone(),
            agents,
            models,
            policies: self.policies.clone(),
            viewer: self.viewer(),
            settings,
            ended: Box::new({
                let jobs = self.jobs.clone();
                move |session| jobs.iter().for_each(|jobs| jobs.end_of(session))
            }),
        });
        Ok(self.agency.clone())
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(crate) fn grants(&self) -> Arc<dyn GrantBook> {
        self.grants.clone()
    }

    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What a model is taken to be, for what it would be shown.
    pub(crate) fn viewer(&self) -> Viewer {
        Viewer { model: None, client: self.setting.config.client("cli"), flags: self.setting.config.flags() }
    }

    /// A turn for the person at the terminal, who reaches every tool.
    pub(crate) async fn turn(&self) -> Result<Turn, Failure> {
        self.turn_for(Audience::Operator).await
    }

    pub(crate) async fn turn_for(&self, audience: Audience) -> Result<Turn, Failure> {
        let spec = TurnSpec {
            agent: self.setting.agent.clone(),
            rules: self.rules.clone(),
            audience,
            configuration: 0,
        };
        let turn = self.registry.turn(&spec, self.services.clone()).await;
        turn.map_err(|error| Failure::new(Exit::Usage, error))
    }

    /// Lets the calls of a message's own calls belong to its turn, as long as the guard is kept.
    pub(crate) fn enter(&self, call: &Call, turn: &Arc<Turn>) -> OpenTurn {
        self.turns.enter(&call.context.session, &call.context.message, turn)
    }

    /// The instructions that a session's agent is told before it begins.
    pub(crate) async fn instructions(&self, context: &ToolContext) -> Result<LoadedInstructions, Failure> {
        let places = instructions::places(self.setting);
        let loaded =
            load_instructions(&self.workspace, &self.services.gate, &self.web, context, &places).await;
        loaded.map_err(|error| Failure::new(Exit::Defect, error))
    }

    /// Calls back on everything that happens here.
    pub(crate) fn subscribe(
        &self,
        listener: impl Fn(haft::Seq, &haft::Event) + Send + Sync + 'static,
    ) -> Subscription {
        self.services.events.subscribe(listener)
    }

    /// Plans to undo calls, and changes nothing.
    pub(crate) async fn plan_undo(&self, calls: &[CallId]) -> Result<UndoPlan, haft::ToolError> {
        plan_undo(&self.workspace, &*self.journal, calls).await
    }

    /// What a rehearsal took down.
    pub(crate) fn rehearsed(&self) -> Vec<Rehearsed> {
        self.services.gate.rehearsed()
    }

    /// How a call ended, if it did.
    pub(crate) fn ended(&self, call: &Call) -> Result<Option<haft::Ended>, Failure> {
        let Some(store) = &self.store else { return Ok(None) };
        match store.call(call.context.call.as_str())? {
            Lookup::One(found) => Ok(found.ended),
            Lookup::Nothing | Lookup::Several(_) => Ok(None),
        }
    }

    /// The call under the id it has on record: one that repeats an earlier call is that call.
    pub(crate) fn recorded_as(&self, mut call: Call) -> Result<Call, Failure> {
        if let (Some(store), Some(key)) = (&self.store, &call.provider_id) {
            let filter = CallFilter { session: Some(call.context.session.clone()), ..CallFilter::default() };
            let same =
                |row: &CallRow| row.provider_id.as_ref() == Some(key) && row.message == call.context.message;
            if let Some(row) = store.calls(&filter)?.into_iter().find(same) {
                call.context.call = row.id;
            }
        }
        Ok(call)
    }

    /// The language servers here.
    pub(crate) fn languages(&self) -> &Languages {
        &self.languages
    }

    /// Waits until everything is on record, and language servers are gone.
    pub(crate) async fn close(&self) {
        if let Languages::On(servers) = &self.languages {
            servers.close().await;
        }
        if let Some(store) = &self.store {
            store.close().await;
        }
    }
}

/// Whatever keeps something beyond a call.
struct Keepers {
    recorder: Arc<dyn Recorder>,
    outputs: Arc<dyn OutputStore>,
    grants: Arc<dyn GrantBook>,
    memory: Arc<dyn Memory>,
    journal: Arc<dyn Journal>,
    store: Option<Store>,
}

impl Keepers {
    fn durable(store: Store) -> Keepers {
        let shared = Arc::new(store.clone());
        Keepers {
            recorder: shared.clone(),
            outputs: shared.clone(),
            grants: shared.clone(),
            memory: shared.clone(),
            journal: shared,
            store: Some(store),
        }
    }

    /// A rehearsal writes nothing, but reads the grants that would count and what could be undone, if there is a store.
    fn rehearsing(setting: &Setting) -> Result<Keepers, Failure> {
        let recorder = Arc::new(MemoryRecorder::default());
        let (grants, journal): (Arc<dyn GrantBook>, Arc<dyn Journal>) =
            match setting.paths.data.join(haft_store::FILE).exists() {
                true => {
                    let store = Arc::new(open_store(setting)?);
                    (store.clone(), store)
                }
                false => (Arc::new(MemoryGrants::default()), recorder.clone()),
            };
        Ok(Keepers {
            recorder,
            outputs: Arc::new(MemoryOutputs::default()),
            grants,
            memory: Arc::new(ShortMemory::default()),
            journal,
            store: None,
        })
    }
}

/// What is done after files were changed, in this order. Formatters read configuration of the project that can make them
/// run anything, so there are none until the person trusts it, wherever they are configured.
fn after_change(
    setting: &Setting,
    workspace: &Workspace,
    processes: &Arc<Processes>,
    languages: &Languages,
) -> Arc<[Arc<dyn AfterChange>]> {
    let entries = setting.config.formatters().filter(|_| setting.trusted);
    let formatters = entries.map(|entries| {
        let (workspace, processes) = (workspace.clone(), processes.clone());
        let formatters = Formatters::new(workspace, processes, &entries, setting.config.formatting_time());
        Arc::new(formatters) as Arc<dyn AfterChange>
    });
    let diagnosing = match (languages, setting.config.languages()) {
        (Languages::On(servers), LanguageWords::On(_)) => {
            let diagnosing = Diagnosing::new(servers.clone(), setting.config.diagnosing_time());
            Some(Arc::new(diagnosing) as Arc<dyn AfterChange>)
        }
        (Languages::On(_) | Languages::Off | Languages::Untrusted, _) => None,
    };
    formatters.into_iter().chain(diagnosing).collect()
}

/// The language servers. They too do what the project's configuration says, so there are none where nobody trusts it.
fn languages(setting: &Setting, workspace: &Workspace, processes: &Arc<Processes>) -> Languages {
    let entries = match setting.config.languages() {
        LanguageWords::Off => return Languages::Off,
        LanguageWords::On(_) | LanguageWords::Silence if !setting.trusted => return Languages::Untrusted,
        LanguageWords::On(entries) => entries,
        LanguageWords::Silence => Vec::new(),
    };
    let (workspace, processes) = (workspace.clone(), processes.clone());
    Languages::On(Arc::new(LanguageServers::new(workspace, processes, &entries, LspLimits::default())))
}

/// Opens the store, and says what it had to put right.
pub(crate) fn open_store(setting: &Setting) -> Result<Store, Failure> {
    let opened = Store::open(StoreOptions {
        data_dir: setting.paths.data.clone(),
        project: setting.project().to_string_lossy().into_owned(),
        directory: setting.directory.to_string_lossy().into_owned(),
        redactor: redactor(setting),
        retention: retention(setting),
        journal: setting.config.journal(),
        restorer: Arc::new(DiskRestorer),
    });
    let (store, notices) = opened.map_err(|error| {
        Failure::new(Exit::Defect, error)
            .hint("haft keeps its record in HAFT_HOME, or in the XDG data directory")
    })?;
    for notice in notices {
        setting.terminal.say(&format!("{} {notice}", setting.terminal.err().yellow("notice:")));
    }
    Ok(store)
}

/// Takes out what is secret in the environment, and the keys of providers and search services.
fn redactor(setting: &Setting) -> Redactor {
    let keys = models::secrets(setting).into_iter().chain(searches::secrets(setting));
    let keys = keys.map(|(name, key)| (name.into(), key.into()));
    Redactor::from_env(setting.env.iter().chain(keys))
}

fn retention(setting: &Setting) -> Retention {
    let configured = setting.config.retention();
    Retention { days: configured.days, total_bytes: configured.bytes }
}

/// The rules that hold: every layer, and last what was said on the command line.
pub(crate) fn ruleset(setting: &Setting, consent: &ConsentArgs) -> Result<Ruleset, Failure> {
    let rules = setting.config.ruleset(setting.agent.as_str(), session_rules(setting, consent)?);
    rules.map_err(|error| Failure::new(Exit::Usage, error))
}

/// What was said on the command line.
pub(crate) fn session_rules(setting: &Setting, consent: &ConsentArgs) -> Result<Vec<Rule>, Failure> {
    let mut session = Vec::new();
    if let Some(path) = &consent.permission {
        session.extend(
            config::permission_file(&setting.directory.join(path), &setting.env).map_err(Failure::usage)?,
        );
    }
    session.extend(flags(&consent.allow, Effect::Allow, "--allow")?);
    session.extend(flags(&consent.deny, Effect::Deny, "--deny")?);
    Ok(session)
}

fn flags(given: &[String], effect: Effect, flag: &str) -> Result<Vec<Rule>, Failure> {
    let rule = |raw: &String| match raw.split_once('=').unwrap_or((raw, "*")) {
        ("", _) => Err(Failure::usage(format_args!("{flag} {raw:?} names no action"))),
        (action, pattern) => Ok(Rule::new(action, pattern, effect, Origin::named(Layer::Session, flag))),
    };
    given.iter().map(rule).collect()
}

/// The limits. Without a conversation there is nobody that long reading could be left to.
fn limits(setting: &Setting) -> Limits {
    Limits { delegate: None, ..setting.config.limits() }
}

fn asker(setting: &Setting, consent: &ConsentArgs, store: Option<&Store>) -> Arc<dyn Asker> {
    if consent.yes {
        return Arc::new(Yes);
    }
    match (consent.on_ask, store) {
        (OnAsk::Wait(seconds), Some(store)) => {
            Arc::new(Queue::new(store, std::time::Duration::from_secs(seconds)))
        }
        (OnAsk::Ask, _) if Terminal::is_interactive() => Arc::new(TerminalAsker::new(setting.terminal.err())),
        (OnAsk::Ask | OnAsk::Refuse | OnAsk::Wait(_), _) => nobody(),
    }
}

/// Whether questions reach somebody who can judge them.
fn is_somebody_there(consent: &ConsentArgs) -> bool {
    match consent.on_ask {
        OnAsk::Wait(_) => !consent.yes,
        OnAsk::Ask => !consent.yes && Terminal::is_interactive(),
        OnAsk::Refuse => false,
    }
}

/// Nobody, and what would help.
pub(crate) fn nobody() -> Arc<dyn Asker> {
    let hint = "run it on a terminal, allow it with --allow ACTION[=PATTERN] or --yes, or let it wait with --on-ask wait";
    Arc::new(Nobody(hint.to_owned()))
}

/// Somebody who said yes to everything beforehand. Rules that deny never reach them.
pub(crate) struct Yes;

impl Asker for Yes {
    fn ask<'a>(&'a self, _: &'a haft::permission::Request) -> haft::BoxFuture<'a, haft::permission::Answer> {
        Box::pin(std::future::ready(haft::permission::Answer::Reply(haft::permission::Reply::Once)))
    }
}
