//! How a location is put together, layer by layer: what is kept, who decides, what is acted on, who speaks there, what
//! plugins bring, and on top of that the tools.

use std::sync::Arc;

use haft::permission::{Asker, Gate, GateParts, Ruleset};
use haft::{Events, Hook, Inbox, Limits, OpenTurns, Registration, Registry, Services, SubAgents};
use haft_agent::{Agency, Own, Policies};
use haft_plugin::{AskingPlugins, Plugins};
use haft_store::Store;
use haft_tools::hosting::{Ahead, Hosting};
use haft_tools::web::Web;
use haft_tools::{Jobs, Processes, ToolServices, Workspace};

use super::consent::{asker, is_somebody_there, ruleset};
use super::keepers::{self, Keepers};
use super::watching::{after_change, languages};
use super::{Life, Location, Mode};
use crate::agency::Office;
use crate::cli::ConsentArgs;
use crate::config;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::models;
use crate::plugins::{self, Answering, Client, Credentials, Sessions};
use crate::searches;
use crate::setting::Setting;
use crate::skills;

impl<'s> Location<'s> {
    pub(super) fn assembled(
        setting: &'s Setting,
        consent: &ConsentArgs,
        mode: Mode,
        life: Life,
        instead: impl FnOnce(Arc<dyn Asker>) -> Arc<dyn Asker>,
    ) -> Result<Location<'s>, Failure> {
        let rules = Arc::new(ruleset(setting, consent)?);
        // First, because a process may be made ready there while the store is opened.
        let ground = Ground::open(setting, consent, life)?;
        let keepers = Keepers::of(setting, mode)?;
        let asker = instead(asker(setting, consent, keepers.store.as_ref()));
        let deciding = Deciding::new(setting, &rules, &keepers, asker, mode);
        let company = Company::new(setting, &keepers, life);
        let root = Registry::root();
        let registry = root.child();
        let plugged = Plugged::new(setting, &keepers, &deciding, &ground, &company, &registry);
        let services = Services {
            gate: deciding.gate,
            recorder: keepers.recorder.clone(),
            outputs: keepers.outputs.clone(),
            hooks: Arc::new([Arc::new(plugged.plugins.clone()) as Arc<dyn Hook>]),
            events: deciding.events,
            limits: limits(setting),
        };
        let languages = languages(setting, &ground.workspace, &ground.processes);
        let kept = (mode == Mode::Live).then(|| setting.paths.cache.clone());
        let tools = ToolServices {
            workspace: ground.workspace.clone(),
            gate: services.gate.clone(),
            outputs: keepers.outputs,
            memory: keepers.memory.clone(),
            journal: keepers.journal.clone(),
            events: services.events.clone(),
            media_bytes_max: services.limits.media as u64,
            image_side_max: setting.config.image_side_max(),
            cache: kept,
            require_read: setting.config.require_read(),
            after: after_change(setting, &ground.workspace, &ground.processes, &languages),
            languages: languages.clone(),
            processes: ground.processes,
            jobs: company.jobs.clone(),
            hooks: services.hooks.clone(),
            asker: deciding.asker,
            subagents: company.office.clone().map(|office| office as Arc<dyn SubAgents>),
            inbox: company.inbox.clone(),
            turns: company.turns.clone(),
            web_search: searches::web(setting)?,
            code_search: searches::code(setting)?,
            skills: Arc::new(skills::of(setting)),
            web: ground.web.clone(),
        };
        Ok(Location {
            setting,
            rules,
            registry,
            _builtins: register(&root, &tools)?,
            telling: plugins::tell(&plugged.plugins, &services.events),
            services,
            store: keepers.store,
            workspace: ground.workspace,
            journal: keepers.journal,
            turns: company.turns,
            inbox: company.inbox,
            jobs: company.jobs,
            policies: deciding.policies,
            agency: company.agency,
            office: company.office,
            grants: keepers.grants,
            memory: keepers.memory,
            languages,
            web: ground.web,
            plugins: plugged.plugins,
            client: plugged.client,
            credentials: plugged.credentials,
            hosting: plugged.hosting,
        })
    }
}

fn register(root: &Registry, tools: &ToolServices) -> Result<Registration, Failure> {
    root.register(haft_tools::builtins(tools)).map_err(|error| Failure::new(Exit::Defect, error))
}

/// The limits. Without a conversation there is nobody that long reading could be left to.
fn limits(setting: &Setting) -> Limits {
    Limits { delegate: None, ..setting.config.limits() }
}

/// Who decides about calls, and who is asked.
struct Deciding {
    gate: Gate,
    policies: Policies,
    asker: Arc<dyn Asker>,
    /// The same asker, to be told of the plugins that answer first.
    asking_plugins: Arc<AskingPlugins>,
    events: Events,
}

impl Deciding {
    fn new(
        setting: &Setting,
        rules: &Arc<Ruleset>,
        keepers: &Keepers,
        asker: Arc<dyn Asker>,
        mode: Mode,
    ) -> Deciding {
        let events = Events::new(keepers.recorder.clone());
        let asking_plugins = Arc::new(AskingPlugins::new(asker, &config::PERSONS));
        let asker: Arc<dyn Asker> = asking_plugins.clone();
        let (session, agent) = (setting.session.clone(), setting.agent.clone());
        let policies = Policies::new(Own { session, agent, rules: rules.clone() });
        let parts = GateParts {
            policy: Box::new(policies.clone()),
            grants: keepers.grants.clone(),
            asker: asker.clone(),
            recorder: keepers.recorder.clone(),
            events: events.clone(),
        };
        let gate = match mode {
            Mode::Live => Gate::new(parts),
            Mode::Rehearsal => Gate::rehearsal(parts),
        };
        Deciding { gate, policies, asker, asking_plugins, events }
    }
}

/// What calls act on: files, processes and the network.
struct Ground {
    workspace: Workspace,
    processes: Arc<Processes>,
    web: Web,
    /// What is ready for the first process of a plugin.
    ahead: Ahead,
}

impl Ground {
    fn open(setting: &Setting, consent: &ConsentArgs, life: Life) -> Result<Ground, Failure> {
        let workspace = Workspace::open(&setting.directory, setting.worktree.as_deref())
            .map_err(|error| Failure::new(Exit::Usage, error))?
            .withholding(&setting.paths.own(), &[skills::installed(setting)])
            .guarding(setting.guarding());
        let mut processes = environment::processes(setting)?;
        processes.asks_again = is_somebody_there(consent);
        processes.keeps_helper = life == Life::Conversation;
        let processes = Arc::new(processes);
        let ahead = match life {
            Life::OneForeignCall => Ahead::begin(&processes, &workspace),
            Life::OneCall | Life::Conversation => Ahead::default(),
        };
        Ok(Ground { workspace, processes, web: Web::new(environment::proxies(setting)), ahead })
    }
}

/// Who speaks here, and what goes on beside a call: nothing where the process ends with it.
struct Company {
    agency: Agency,
    office: Option<Arc<Office>>,
    jobs: Option<Arc<Jobs>>,
    inbox: Inbox,
    turns: OpenTurns,
}

impl Company {
    fn new(setting: &Setting, keepers: &Keepers, life: Life) -> Company {
        let stays = life == Life::Conversation;
        let agency = Agency::default();
        let inbox = match &keepers.store {
            Some(store) => Inbox::kept_on(Arc::new(store.clone())),
            None => Inbox::default(),
        };
        Company {
            office: stays.then(|| Arc::new(Office::new(setting, &agency))),
            agency,
            jobs: stays.then(Arc::default),
            inbox,
            turns: OpenTurns::default(),
        }
    }
}

/// What plugins bring, and what they are given.
struct Plugged {
    plugins: Plugins,
    client: Arc<Client>,
    credentials: Arc<Credentials>,
    hosting: Hosting,
}

impl Plugged {
    fn new(
        setting: &Setting,
        keepers: &Keepers,
        deciding: &Deciding,
        ground: &Ground,
        company: &Company,
        registry: &Registry,
    ) -> Plugged {
        let hosting = Hosting {
            workspace: ground.workspace.clone(),
            processes: ground.processes.clone(),
            gate: deciding.gate.clone(),
            web: ground.web.clone(),
            ahead: ground.ahead.clone(),
        };
        let sessions =
            Sessions::new(setting, &keepers.store, &keepers.memory, &company.inbox, &company.agency);
        let client = Client::new(setting, sessions, registry.clone());
        let redactor = keepers.store.as_ref().map_or_else(|| keepers::redactor(setting), Store::redactor);
        let credentials = Arc::new(Credentials::new(models::keys_path(&setting.paths), redactor));
        let answering = Answering { client: client.clone(), credentials: credentials.clone() };
        let plugins =
            plugins::of(setting, hosting.clone(), registry.registrar(), &deciding.events, answering);
        deciding.asking_plugins.ask_first(&plugins);
        Plugged { plugins, client, credentials, hosting }
    }
}
