//! Another agent or another model for a while: for a message that somebody else is to answer than the rest.

use std::sync::Arc;

use haft::AgentId;

use crate::agency::OpenError;
use crate::agent::{AgentSpec, Served};
use crate::conversation::Conversation;

/// Who was spoken to before, and who instead.
#[must_use = "a conversation that is not turned back stays with whom it was turned to"]
pub struct Bearing {
    agent: Arc<AgentSpec>,
    served: Served,
    turned_to: (AgentId, String),
}

impl Conversation {
    /// Has this agent and this model answer from now on. Nothing leaves what there is; an agent with a model of its own
    /// brings it along, and a model that is named counts more. Where there is no such agent or model, nothing changes.
    pub fn turn_to(&mut self, agent: Option<&AgentId>, model: Option<&str>) -> Result<Bearing, OpenError> {
        let parts = self.agency.parts();
        let next = match agent {
            Some(name) => parts.agents.agent(name).map_err(OpenError::Agent)?,
            None => self.agent.clone(),
        };
        let own = agent.and(next.model.as_deref());
        let served = match model.or(own) {
            Some(name) => parts.models.serve(Some(name)).map_err(OpenError::Model)?,
            None => self.served.clone(),
        };
        let turned_to = (next.name.clone(), served.name());
        let bearing = Bearing { agent: self.agent.clone(), served: self.served.clone(), turned_to };
        self.speak_to(next);
        self.answer_by(served);
        Ok(bearing)
    }

    /// Goes back to who was spoken to before, unless the conversation was handed to somebody else meanwhile.
    pub fn turn_back(&mut self, bearing: Bearing) {
        let Bearing { agent, served, turned_to: (name, model) } = bearing;
        if self.agent.name == name {
            self.speak_to(agent);
        }
        if self.served.name() == model {
            self.answer_by(served);
        }
    }

    pub(crate) fn speak_to(&mut self, agent: Arc<AgentSpec>) {
        if agent.name != self.agent.name {
            self.agency.switch(self.session(), &agent);
            self.agent = agent;
        }
    }

    fn answer_by(&mut self, served: Served) {
        if served.model != self.served.model {
            self.agency.answer_by(self.session(), served.name());
            self.served = served;
            // What one model thought is not told to another.
            self.context.forget();
        }
    }
}
