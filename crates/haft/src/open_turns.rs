//! The turns under way, so that a tool can have further calls settled as those of its own message.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::id::{MessageId, SessionId};
use crate::sync::{Mutex, lock};
use crate::tool::ToolContext;
use crate::turn::Turn;

type Key = (SessionId, MessageId);

/// The turns whose calls are being settled in this process. Cloning it is cheap.
#[derive(Clone, Default)]
pub struct OpenTurns(Arc<Mutex<HashMap<Key, Weak<Turn>>>>);

/// A turn's place. Dropping it takes the turn out again.
#[must_use = "dropping it closes the turn to further calls"]
pub struct OpenTurn {
    turns: OpenTurns,
    key: Key,
}

impl OpenTurns {
    /// Says that the calls of a message belong to a turn.
    pub fn enter(&self, session: &SessionId, message: &MessageId, turn: &Arc<Turn>) -> OpenTurn {
        let key = (session.clone(), message.clone());
        lock(&self.0).insert(key.clone(), Arc::downgrade(turn));
        OpenTurn { turns: self.clone(), key }
    }

    /// The turn that a call belongs to.
    pub fn of(&self, context: &ToolContext) -> Option<Arc<Turn>> {
        lock(&self.0).get(&(context.session.clone(), context.message.clone()))?.upgrade()
    }
}

impl Drop for OpenTurn {
    fn drop(&mut self) {
        lock(&self.turns.0).remove(&self.key);
    }
}
