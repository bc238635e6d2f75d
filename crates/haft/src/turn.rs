//! A turn: what a model was told in one provider turn. It holds identities, not tools.

use std::collections::HashMap;
use std::sync::Arc;

use crate::audience::{Audience, Model, TurnSpec};
use crate::boundary::{Boundary, Limits};
use crate::catch::caught;
use crate::error::BoxError;
use crate::events::Events;
use crate::hooks::{Described, Hook};
use crate::name::{Action, ToolName, nearest};
use crate::output::{MemoryOutputs, OutputStore};
use crate::permission::{Gate, Ruleset};
use crate::recorder::{MemoryRecorder, Recorder};
use crate::registry::{Entry, Identity, Registry};
use crate::schema::Schema;
use crate::settle;
use crate::settlement::{Call, Rejection, SettleError, Settlement, told_name};
use crate::tool::{Tool, ToolContext};

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: ToolName,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input: Arc<Schema>,
    /// The JSON Schema of its output.
    pub output: Arc<Schema>,
    /// The action its permission rules are filed under.
    pub action: Action,
}

/// Why a turn cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// A tool could not be made for the agent.
    #[error("the tool {tool} could not be initialised")]
    Init {
        /// The tool.
        tool: ToolName,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// A hook could not say what the model is to be told of a tool.
    #[error("a hook failed over what models are told of the tool {tool}")]
    Hook {
        /// The tool.
        tool: ToolName,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The model's provider cannot take a tool as it is.
    #[error("the tool {tool} cannot be offered to a model of {provider}: {problem}")]
    Incompatible {
        /// The tool.
        tool: ToolName,
        /// The provider.
        provider: String,
        /// What is in the way, and what the limit is.
        problem: String,
    },
}

/// What a turn needs to settle calls.
#[derive(Clone)]
pub struct Services {
    /// Decides and asks.
    pub gate: Gate,
    /// Makes calls durable.
    pub recorder: Arc<dyn Recorder>,
    /// Keeps whole outputs.
    pub outputs: Arc<dyn OutputStore>,
    /// Take part before and after calls, in this order.
    pub hooks: Arc<[Arc<dyn Hook>]>,
    /// Announces what happens.
    pub events: Events,
    /// What a model is given at most.
    pub limits: Limits,
}

impl Services {
    /// Services without a store, with these rules and nobody to ask: for embedding and for tests.
    pub fn in_memory(rules: Ruleset) -> Services {
        let recorder: Arc<dyn Recorder> = Arc::new(MemoryRecorder::default());
        Services {
            gate: Gate::in_memory(rules, recorder.clone()),
            outputs: Arc::new(MemoryOutputs::default()),
            hooks: Arc::new([]),
            events: Events::new(recorder.clone()),
            recorder,
            limits: Limits::default(),
        }
    }
}

/// What a model was told in one provider turn, and the way to settle the calls it makes.
pub struct Turn {
    registry: Registry,
    services: Services,
    definitions: Vec<Definition>,
    advertised: HashMap<ToolName, Identity>,
}

/// What a model is told, and which registration each name stands for.
type Shown = (Vec<Definition>, HashMap<ToolName, Identity>);

impl TurnSpec {
    pub(crate) fn model(&self) -> Option<&Model> {
        match &self.audience {
            Audience::Operator => None,
            Audience::Model(viewer) => viewer.model.as_ref(),
        }
    }

    /// Whether an entry is shown. This is visibility, not authority: every effect still needs its own permit.
    fn sees(&self, entry: &Entry) -> bool {
        match &self.audience {
            Audience::Operator => true,
            Audience::Model(viewer) => entry.when().holds(viewer) && !self.rules.disables(entry.action()),
        }
    }
}

impl Registry {
    /// What a model, an agent and a client are shown, without the means to call it.
    pub async fn tools(&self, spec: &TurnSpec) -> Result<Vec<Definition>, TurnError> {
        Ok(self.shown(spec, &[]).await?.0)
    }

    /// Prepares a turn: chooses the tools that are shown, makes those that have to be made, and fixes what the model
    /// is told.
    pub async fn turn(&self, spec: &TurnSpec, services: Services) -> Result<Turn, TurnError> {
        for hook in services.hooks.iter() {
            // One that panics has brought nothing, and the turn has what is there.
            let _panicked = caught(|| hook.prepare()).await;
        }
        // The person sees every tool as it is; what models are told is for them.
        let hooks: &[Arc<dyn Hook>] = match spec.audience {
            Audience::Operator => &[],
            Audience::Model(_) => &services.hooks,
        };
        let (definitions, advertised) = self.shown(spec, hooks).await?;
        Ok(Turn { registry: self.clone(), services, definitions, advertised })
    }

    async fn shown(&self, spec: &TurnSpec, hooks: &[Arc<dyn Hook>]) -> Result<Shown, TurnError> {
        let mut definitions = Vec::new();
        let mut advertised = HashMap::new();
        for entry in self.effective().into_iter().filter(|entry| spec.sees(entry)) {
            let made = entry.tool_for(spec).await;
            let (identity, tool) =
                made.map_err(|source| TurnError::Init { tool: entry.name().clone(), source })?;
            if let Some(model) = spec.model() {
                check_compatible(entry.name(), &tool, model)?;
            }
            advertised.insert(entry.name().clone(), identity);
            let definition = Definition {
                name: entry.name().clone(),
                description: tool.description().to_owned(),
                input: tool.input_schema().clone(),
                output: tool.output_schema().clone(),
                action: entry.action().clone(),
            };
            definitions.push(told_after(hooks, definition).await?);
        }
        Ok((definitions, advertised))
    }
}

/// What a model is told of a tool after hooks had their say.
async fn told_after(hooks: &[Arc<dyn Hook>], mut definition: Definition) -> Result<Definition, TurnError> {
    // Then nobody looks at the schema, which is derived for whoever does.
    if hooks.is_empty() {
        return Ok(definition);
    }
    let name = &definition.name;
    let as_it_is = definition.input.json().clone();
    let mut told = Described { description: definition.description, input: as_it_is.clone() };
    for hook in hooks {
        let changed = caught(|| hook.definition(name, told)).await.and_then(|changed| changed);
        told = changed.map_err(|source| TurnError::Hook { tool: name.clone(), source })?;
    }
    if !Arc::ptr_eq(&told.input, &as_it_is) {
        definition.input = Arc::new(Schema::given(Arc::unwrap_or_clone(told.input)));
    }
    Ok(Definition { description: told.description, ..definition })
}

impl Turn {
    /// What the model is told, in a fixed order.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Takes a call to its settlement.
    pub async fn settle(&self, call: Call) -> Result<Settlement, SettleError> {
        settle::settle(self, call).await
    }

    pub(crate) fn services(&self) -> &Services {
        &self.services
    }

    /// Where and how the outputs of a call are bounded.
    pub(crate) fn boundary<'a>(&'a self, context: &'a ToolContext) -> Boundary<'a> {
        let limits = &self.services.limits;
        let delegates = limits.delegate.as_ref().is_some_and(|name| self.advertised.contains_key(name));
        Boundary { limits, delegates, outputs: &*self.services.outputs, context }
    }

    /// The tool that was advertised under a name, taken hold of now. What happens to the registration afterwards does
    /// not touch the call.
    pub(crate) fn resolve(&self, written: &str) -> Result<(ToolName, Tool), Rejection> {
        let Some((name, identity)) = self.advertised.get_key_value(written) else {
            let available: Vec<String> = self.definitions.iter().map(|tool| tool.name.to_string()).collect();
            let nearest = nearest(written, available.iter().map(String::as_str)).map(str::to_owned);
            return Err(Rejection::Unknown { name: told_name(written), nearest, available });
        };
        let current = self.registry.find(written).and_then(|entry| entry.tool_if(identity));
        current.map(|tool| (name.clone(), tool)).ok_or_else(|| Rejection::Stale { name: name.to_string() })
    }
}

/// How long a tool name may be with a provider.
fn name_limit(provider: &str) -> usize {
    match provider {
        "google" | "google-vertex" | "amazon-bedrock" => 63,
        _ => crate::name::NAME_BYTES_MAX,
    }
}

fn check_compatible(name: &ToolName, tool: &Tool, model: &Model) -> Result<(), TurnError> {
    let incompatible = |problem: String| {
        Err(TurnError::Incompatible { tool: name.clone(), provider: model.provider.clone(), problem })
    };
    let limit = name_limit(&model.provider);
    if name.as_str().len() > limit {
        return incompatible(format!(
            "its name has {} characters, and {limit} are allowed",
            name.as_str().len()
        ));
    }
    if tool.input_schema().json().get("type").is_none_or(|kind| kind != "object") {
        return incompatible("its input schema is not of type object".to_owned());
    }
    match tool.unusable() {
        Some(why) => incompatible(format!("its schema is unusable: {why}")),
        None => Ok(()),
    }
}
