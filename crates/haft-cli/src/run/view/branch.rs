//! Sessions that a session began: which call began each, how deep it is, who works there.

use std::collections::HashMap;

use haft::{CallId, SessionId};
use serde_json::Value;

use super::running::Running;

/// The tree of sessions.
pub(super) struct Branches {
    root: SessionId,
    known: HashMap<SessionId, Branch>,
}

struct Branch {
    depth: usize,
    agent: String,
    call: Option<CallId>,
}

impl Branches {
    pub(super) fn new(root: SessionId) -> Branches {
        Branches { root, known: HashMap::new() }
    }

    /// How far a session is from the root.
    pub(super) fn depth(&self, session: &SessionId) -> usize {
        match self.known.get(session) {
            Some(branch) => branch.depth,
            None => usize::from(*session != self.root),
        }
    }

    /// The call that began a session.
    pub(super) fn call_of(&self, session: &SessionId) -> Option<&CallId> {
        self.known.get(session)?.call.as_ref()
    }

    /// The agent that works in a session that another began.
    pub(super) fn agent(&self, session: &SessionId) -> Option<&str> {
        Some(self.known.get(session)?.agent.as_str())
    }

    /// A session was begun by one of these calls: the one that says what its title says, or else the newest that has
    /// begun none.
    pub(super) fn add(&mut self, session: &SessionId, body: &Value, running: &[Running]) {
        let parent = body["parentID"].as_str().and_then(|id| SessionId::parse(id).ok());
        let Some(parent) = parent else { return };
        if self.known.contains_key(session) {
            return;
        }
        let title = body["title"].as_str().unwrap_or_default();
        let has_none = |call: &&Running| {
            call.context.session == parent
                && !self.known.values().any(|branch| branch.call.as_ref() == Some(&call.context.call))
        };
        let titled = |call: &&Running| !call.about.is_empty() && title.starts_with(&call.about);
        let mut free = running.iter().filter(has_none);
        let call = free.clone().find(titled).or_else(|| free.next_back());
        let branch = Branch {
            depth: self.depth(&parent) + 1,
            agent: body["agent"].as_str().unwrap_or_default().to_owned(),
            call: call.map(|call| call.context.call.clone()),
        };
        self.known.insert(session.clone(), branch);
    }
}
