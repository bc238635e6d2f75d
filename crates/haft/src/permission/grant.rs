//! Saved consent: what somebody answered "always" to.

use std::fmt;
use std::sync::Arc;

use super::resource::Resource;
use super::wildcard::Pattern;
use crate::BoxFuture;
use crate::id::{GrantId, SessionId};
use crate::name::Action;
use crate::recorder::StoreError;
use crate::sync::{Mutex, lock};

/// How far a grant reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// This session.
    Session,
    /// Every session in this project.
    Project,
    /// Everything this person does.
    User,
}

impl Scope {
    /// Reads `session`, `project` or `user`.
    pub fn parse(raw: &str) -> Option<Scope> {
        [Scope::Session, Scope::Project, Scope::User].into_iter().find(|scope| scope.as_str() == raw)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Session => "session",
            Scope::Project => "project",
            Scope::User => "user",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One saved consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its identity, to revoke it by.
    pub id: GrantId,
    /// How far it reaches.
    pub scope: Scope,
    /// The session it was given in.
    pub session: SessionId,
    /// The action it allows.
    pub action: Action,
    /// The resources it allows it on.
    pub resource: Pattern,
}

impl Grant {
    /// Whether the grant speaks of this action on this resource.
    pub fn covers(&self, action: &Action, resource: &Resource) -> bool {
        self.action == *action && resource.may_be_allowed_by(&self.resource)
    }
}

/// Keeps grants. A book belongs to one project.
pub trait GrantBook: Send + Sync {
    /// The grants that reach into a session: its own, the project's and the user's.
    fn grants<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Vec<Grant>, StoreError>>;

    /// Keeps further grants, durably.
    fn keep<'a>(&'a self, grants: &'a [Grant]) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// A grant book that forgets when the process ends.
#[derive(Clone, Default)]
pub struct MemoryGrants(Arc<Mutex<Vec<Grant>>>);

impl GrantBook for MemoryGrants {
    fn grants<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Vec<Grant>, StoreError>> {
        let reaches = |grant: &&Grant| grant.scope != Scope::Session || grant.session == *session;
        let grants = lock(&self.0).iter().filter(reaches).cloned().collect();
        Box::pin(std::future::ready(Ok(grants)))
    }

    fn keep<'a>(&'a self, grants: &'a [Grant]) -> BoxFuture<'a, Result<(), StoreError>> {
        lock(&self.0).extend_from_slice(grants);
        Box::pin(std::future::ready(Ok(())))
    }
}
