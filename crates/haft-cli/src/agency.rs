//! Wiring of conversations: the configured agents with their rules and prompts, and the models they speak with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use haft::permission::Rule;
use haft::{
    AgentId, BoxError, BoxFuture, Model, SubAgent, SubAgents, Task, TaskReport, ToolContext, ToolError,
};
use haft_agent::provider::Options;
use haft_agent::providers::Providers;
use haft_agent::{Agency, AgentSpec, Agents, Mode, Models, Served, Settings, Start};

use crate::config::{Agent, AgentMode};
use crate::exit::{Exit, Failure};
use crate::location::Location;
use crate::models;
use crate::setting::Setting;

/// Actions that an agent which works for another has only if its own rules speak of them.
const NOT_FOR_SUBAGENTS: [&str; 2] = ["todowrite", "task"];

/// The agents that tasks can be given to, which are known before there is anybody to talk to.
pub(crate) struct Office {
    known: Mutex<Vec<SubAgent>>,
    agency: Agency,
}

impl Office {
    pub(crate) fn new(setting: &Setting, agency: &Agency) -> Office {
        Office { known: Mutex::new(subagents(setting)), agency: agency.clone() }
    }

    /// Takes note of what has been said about agents since.
    fn take_note(&self, setting: &Setting) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = subagents(setting);
    }
}

fn subagents(setting: &Setting) -> Vec<SubAgent> {
    let takes_tasks = |agent: &Agent| agent.mode != AgentMode::Primary && !agent.hidden;
    let known = setting.config.agents().into_iter().filter(takes_tasks).filter_map(|agent| {
        let name = AgentId::parse(&agent.name).ok()?;
        Some(SubAgent { name, description: agent.description })
    });
    known.collect()
}

impl SubAgents for Office {
    fn available(&self, _caller: &AgentId) -> Vec<SubAgent> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn run<'a>(
        &'a self,
        context: &'a ToolContext,
        task: Task,
    ) -> BoxFuture<'a, Result<TaskReport, ToolError>> {
        Box::pin(self.agency.run_task(context, task))
    }
}

/// Furnishes the location's agency, so that a conversation can begin.
pub(crate) async fn furnish(
    setting: &Setting,
    location: &Location<'_>,
    session: &[Rule],
    start: &Start,
) -> Result<Agency, Failure> {
    let agent = setting
        .config
        .agent(start.agent.as_str())
        .map_err(|error| setting.as_written(Failure::new(Exit::Usage, error)))?;
    if agent.mode == AgentMode::Subagent {
        let message =
            format!("the agent {} works for other agents, not for people", haft::visible(&agent.name));
        return Err(Failure::usage(message).hint("name another with --agent; haft agents lists them"));
    }
    let named = start.model.clone().or(agent.model);
    let wanted = wanted(setting, named.as_deref());
    let providers = models::providers_with(setting, location, wanted.as_ref()).await?;
    let otherwise = match named {
        Some(model) => model,
        None => providers.default_model().await.map_err(|error| models::failure(setting, error))?,
    };
    // Whoever names a model that cannot be asked is told so before anything else.
    providers.resolve(&otherwise).map_err(|error| models::failure(setting, error))?;
    let agents = Crew::new(setting, location, session).await?;
    if let Some(office) = location.office() {
        office.take_note(setting);
    }
    location.client().facts().take_note(setting);
    let config = &setting.config;
    let settings = Settings {
        subagent_depth: u32::try_from(config.subagent_depth()).unwrap_or(u32::MAX),
        prunes: config.compaction().prune,
        compacts: config.compaction().auto,
        continues_on_decline: config.continues_on_deny(),
        not_for_subagents: NOT_FOR_SUBAGENTS
            .map(str::to_owned)
            .into_iter()
            .chain(config.primary_tools())
            .collect(),
        ..Settings::default()
    };
    location.furnish(Arc::new(agents), Arc::new(Market { providers, otherwise }), settings)
}

/// The providers that a conversation may speak with; any if nobody names one.
fn wanted(setting: &Setting, named: Option<&str>) -> Option<BTreeSet<String>> {
    let named = named.map(str::to_owned).or_else(|| setting.config.model())?;
    let agents = setting.config.agents().into_iter().filter_map(|agent| agent.model);
    let commands = setting.config.commands().into_iter().filter_map(|command| command.model);
    let provider = |model: String| model.split_once('/').map(|(provider, _)| provider.to_owned());
    Some(agents.chain(commands).chain([named]).filter_map(provider).collect())
}

/// The configured agents.
struct Crew {
    agents: BTreeMap<String, (Arc<AgentSpec>, Option<String>)>,
    /// What every agent is told: where it is, and the instructions that hold there.
    surroundings: Vec<String>,
}

impl Crew {
    async fn new(setting: &Setting, location: &Location<'_>, session: &[Rule]) -> Result<Crew, Failure> {
        let mut agents = BTreeMap::new();
        for agent in setting.config.agents() {
            let rules = setting.config.ruleset(&agent.name, session.to_vec());
            let rules = rules.map_err(|error| Failure::new(Exit::Usage, error))?;
            let spec = AgentSpec {
                name: AgentId::parse(&agent.name).map_err(Failure::usage)?,
                description: agent.description.clone(),
                mode: match agent.mode {
                    AgentMode::Primary => Mode::Primary,
                    AgentMode::Subagent => Mode::Subagent,
                    AgentMode::All => Mode::All,
                },
                model: agent.model.clone(),
                options: options(&agent),
                variant: agent.variant.clone(),
                steps: agent.steps.map(|steps| u32::try_from(steps).unwrap_or(u32::MAX)),
                rules: Arc::new(rules),
            };
            agents.insert(agent.name, (Arc::new(spec), agent.prompt));
        }
        let loaded = location.instructions(setting).await?;
        for warning in &loaded.warnings {
            setting.terminal.note(&format!("{} {warning}", setting.terminal.err().yellow("warning:")));
        }
        let instructions = loaded.instructions.iter().map(|one| one.shown());
        let surroundings = std::iter::once(place(setting)).chain(instructions).collect();
        Ok(Crew { agents, surroundings })
    }
}

fn options(agent: &Agent) -> Options {
    Options {
        temperature: agent.temperature,
        top_p: agent.top_p,
        output_max: None,
        extra: agent.options.clone(),
    }
}

/// Where an agent is, for those who cannot look.
fn place(setting: &Setting) -> String {
    let today = jiff::Zoned::now().date();
    let repository = match &setting.worktree {
        Some(worktree) => format!("It is in the git repository at {}.", worktree.display()),
        None => "It is in no git repository.".to_owned(),
    };
    format!(
        "You work in the directory {}. {repository} The system is {}. Today is {today}.",
        setting.directory.display(),
        std::env::consts::OS
    )
}

impl Agents for Crew {
    fn agent(&self, name: &AgentId) -> Result<Arc<AgentSpec>, BoxError> {
        let known = || self.agents.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        match self.agents.get(name.as_str()) {
            Some((agent, _)) => Ok(agent.clone()),
            None => Err(format!("unknown agent {name}; known are {}", known()).into()),
        }
    }

    fn system(&self, agent: &AgentSpec, _model: &Model) -> Vec<String> {
        let prompt = self.agents.get(agent.name.as_str()).and_then(|(_, prompt)| prompt.clone());
        prompt.into_iter().chain(self.surroundings.iter().cloned()).collect()
    }
}

/// The models that can be asked, and the one that is asked unless another is named.
struct Market {
    providers: Providers,
    otherwise: String,
}

impl Models for Market {
    fn serve(&self, name: Option<&str>) -> Result<Served, BoxError> {
        let resolved = self.providers.resolve(name.unwrap_or(&self.otherwise))?;
        Ok(Served { provider: resolved.provider, model: resolved.model, info: resolved.info })
    }
}
