//! The seam to what a session remembers from one call to the next: its todos, which instructions it has been given.

use std::collections::HashMap;

use serde_json::Value;

use crate::BoxFuture;
use crate::id::SessionId;
use crate::recorder::StoreError;
use crate::sync::{Mutex, lock};

/// What something remembered is about: a kind that a tool owns, and a key within it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Topic {
    /// The kind, such as `todos`.
    pub kind: &'static str,
    /// The key within the kind.
    pub key: String,
}

impl Topic {
    /// Names a topic.
    pub fn new(kind: &'static str, key: impl Into<String>) -> Topic {
        Topic { kind, key: key.into() }
    }
}

/// Remembers for a session, across processes.
pub trait Memory: Send + Sync {
    /// What was remembered last.
    fn recall<'a>(
        &'a self,
        session: &'a SessionId,
        topic: &'a Topic,
    ) -> BoxFuture<'a, Result<Option<Value>, StoreError>>;

    /// Remembers, in place of what was there. Returns what was there before, so that of two that come at once
    /// only one finds nothing.
    fn remember<'a>(
        &'a self,
        session: &'a SessionId,
        topic: &'a Topic,
        value: &'a Value,
    ) -> BoxFuture<'a, Result<Option<Value>, StoreError>>;
}

/// A memory that is gone when the process ends.
#[derive(Default)]
pub struct ShortMemory(Mutex<HashMap<(SessionId, Topic), Value>>);

impl Memory for ShortMemory {
    fn recall<'a>(
        &'a self,
        session: &'a SessionId,
        topic: &'a Topic,
    ) -> BoxFuture<'a, Result<Option<Value>, StoreError>> {
        let known = lock(&self.0).get(&(session.clone(), topic.clone())).cloned();
        Box::pin(std::future::ready(Ok(known)))
    }

    fn remember<'a>(
        &'a self,
        session: &'a SessionId,
        topic: &'a Topic,
        value: &'a Value,
    ) -> BoxFuture<'a, Result<Option<Value>, StoreError>> {
        let before = lock(&self.0).insert((session.clone(), topic.clone()), value.clone());
        Box::pin(std::future::ready(Ok(before)))
    }
}
