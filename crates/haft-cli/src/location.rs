//! Wiring: a location's store, gate, tools and turn. The only place that sees more than one leaf.

mod assembly;
mod consent;
mod keepers;
mod watching;

use std::sync::Arc;
use std::time::Duration;

use haft::permission::{Asker, GrantBook, Rehearsed, Ruleset};
use haft::{
    Audience, Call, CallId, Inbox, Journal, Memory, OpenTurn, OpenTurns, Registration, Registry, Services,
    Subscription, Turn, TurnSpec, Viewer,
};
use haft_agent::{Agency, Agents, Models, Policies};
use haft_plugin::Plugins;
use haft_store::{CallFilter, CallRow, Lookup, Store};
use haft_tools::hosting::Hosting;
use haft_tools::web::Web;
use haft_tools::{Jobs, Languages, LoadedInstructions, UndoPlan, Workspace, load_instructions, plan_undo};

use crate::agency;
use crate::cli::ConsentArgs;
use crate::exit::{Exit, Failure};
use crate::instructions;
use crate::plugins::{self, Credentials};
use crate::setting::Setting;
pub(crate) use consent::{ruleset, session_rules};
pub(crate) use keepers::open_store;

/// How long plugins are waited for at the end.
const PLUGINS_CLOSING_MAX: Duration = Duration::from_secs(3);
/// How long language servers are waited for at the end.
const SERVERS_CLOSING_MAX: Duration = Duration::from_millis(500);

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
    /// The same, and the call is most likely one of a plugin's tool, whose process is made ready meanwhile.
    OneForeignCall,
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
    office: Option<Arc<agency::Office>>,
    grants: Arc<dyn GrantBook>,
    memory: Arc<dyn Memory>,
    languages: Languages,
    web: Web,
    plugins: Plugins,
    client: Arc<plugins::Client>,
    credentials: Arc<Credentials>,
    hosting: Hosting,
    telling: plugins::Telling,
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
        let opened = Location::assembled(setting, consent, mode, life, instead);
        opened.map_err(|failure| setting.as_written(failure))
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
            influence: Arc::new(plugins::ChatPlugins(self.plugins.clone())),
            policies: self.policies.clone(),
            viewer: self.viewer(),
            settings,
            shelves: Some(store.data_dir().to_owned()),
            ended: Box::new({
                let jobs = self.jobs.clone();
                move |session| jobs.iter().for_each(|jobs| jobs.end_of(session))
            }),
        });
        Ok(self.agency.clone())
    }

    /// What plugins are told when they ask.
    pub(crate) fn client(&self) -> &plugins::Client {
        &self.client
    }

    /// Who gives tasks to agents here.
    pub(crate) fn office(&self) -> Option<&agency::Office> {
        self.office.as_deref()
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

    /// A turn for the person at the terminal, who reaches every tool and is told what is missing.
    pub(crate) async fn turn(&self) -> Result<Turn, Failure> {
        let turn = self.turn_for(Audience::Operator).await;
        plugins::warn_of_faulty(self.setting, &self.plugins);
        turn
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
    pub(crate) async fn instructions(&self, setting: &Setting) -> Result<LoadedInstructions, Failure> {
        let places = instructions::places(setting);
        // Whoever is spoken to, it is the process that reads them.
        let context = self.setting.context();
        let loaded =
            load_instructions(&self.workspace, &self.services.gate, &self.web, &context, &places).await;
        let mut loaded = loaded.map_err(|error| Failure::new(Exit::Defect, error))?;
        for warning in &mut loaded.warnings {
            *warning = setting.config.as_written(warning);
        }
        Ok(loaded)
    }

    /// Calls back on everything that happens here.
    pub(crate) fn subscribe(
        &self,
        listener: impl Fn(haft::Seq, &haft::Event) + Send + Sync + 'static,
    ) -> Subscription {
        self.services.events.subscribe(listener)
    }

    /// Announces what happens here.
    pub(crate) fn events(&self) -> &haft::Events {
        &self.services.events
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

    /// Whether something is kept that a call printed.
    pub(crate) fn has_output(&self, call: &Call) -> Result<bool, Failure> {
        let Some(store) = &self.store else { return Ok(false) };
        Ok(store.output_of(&call.context.call)?.is_some())
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

    /// The custom tools and plugins here.
    pub(crate) fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// What plugins brought in.
    pub(crate) fn credentials(&self) -> &Arc<Credentials> {
        &self.credentials
    }

    /// What plugins get of this machine.
    pub(crate) fn hosting(&self) -> &Hosting {
        &self.hosting
    }

    /// The language servers here.
    pub(crate) fn languages(&self) -> &Languages {
        &self.languages
    }

    /// Waits until everything is on record.
    pub(crate) async fn close_record(&self) {
        if let Some(store) = &self.store {
            store.close().await;
        }
    }

    /// Lets the code of plugins hear that what it did was dropped, and end that.
    pub(crate) async fn let_stop(&self) {
        let _late = tokio::time::timeout(PLUGINS_CLOSING_MAX, self.plugins.stopped()).await;
    }

    /// The same, and waits for a moment until plugins have done what they do about the last that happened and language
    /// servers have ended in order. None of them waits for another.
    pub(crate) async fn close(&self) {
        let told = async {
            self.telling.finish().await;
            self.plugins.close().await;
        };
        let servers = async {
            if let Languages::On(servers) = &self.languages {
                // Those that take longer are killed when this process ends.
                let _late = tokio::time::timeout(SERVERS_CLOSING_MAX, servers.close()).await;
            }
        };
        let told = tokio::time::timeout(PLUGINS_CLOSING_MAX, told);
        let ((), _late, ()) = tokio::join!(self.close_record(), told, servers);
    }
}
