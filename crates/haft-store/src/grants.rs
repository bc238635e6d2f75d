//! Saved consents: kept with their project, listed, and revoked.

use haft::permission::{Grant, GrantBook, Pattern, Scope};
use haft::{Action, BoxFuture, GrantId, SessionId, StoreError};
use rusqlite::{Row, params};

use crate::clock::now_ms;
use crate::fault::Fault;
use crate::store::Store;
use crate::writer::Durability;

/// A grant, and where it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedGrant {
    /// The grant.
    pub grant: Grant,
    /// The project it was given in.
    pub project: String,
    /// When, in Unix milliseconds.
    pub created_ms: i64,
}

const COLUMNS: &str = "SELECT id, scope, session, action, resource, project, created_ms FROM grant_";

impl GrantBook for Store {
    fn grants<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Vec<Grant>, StoreError>> {
        let condition = "scope = 'user' OR (scope = 'project' AND project = ?1) OR (scope = 'session' AND project = ?1 AND session = ?2)";
        let found = self.select(condition, &[&self.0.project, session.as_str()]);
        Box::pin(std::future::ready(found.map(|saved| saved.into_iter().map(|saved| saved.grant).collect())))
    }

    fn keep<'a>(&'a self, grants: &'a [Grant]) -> BoxFuture<'a, Result<(), StoreError>> {
        let (project, at) = (self.0.project.clone(), now_ms());
        let clean = |grant: &Grant| {
            let resource = self.0.redactor.owned_command(grant.resource.as_str());
            (grant.clone(), self.0.redactor.owned(grant.action.as_str()), resource)
        };
        let grants: Vec<_> = grants.iter().map(clean).collect();
        Box::pin(self.write("keep a grant", Durability::Disk, move |connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO grant_ (id, scope, project, session, action, resource, created_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for (grant, action, resource) in &grants {
                let (id, scope, session) = (grant.id.as_str(), grant.scope.as_str(), grant.session.as_str());
                insert.execute(params![id, scope, project, session, action, resource, at])?;
            }
            Ok(())
        }))
    }
}

impl Store {
    /// Every saved grant of every project, oldest first.
    pub fn saved_grants(&self) -> Result<Vec<SavedGrant>, StoreError> {
        self.select("true", &[])
    }

    /// The grants that reach into this project: the user's, the project's, and those of its sessions.
    pub fn grants_of_project(&self) -> Result<Vec<SavedGrant>, StoreError> {
        self.select("scope = 'user' OR project = ?1", &[&self.0.project])
    }

    /// Revokes a grant. Says whether there was one.
    pub async fn forget(&self, id: &GrantId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write("forget a grant", Durability::Disk, move |connection| {
            Ok(connection.execute("DELETE FROM grant_ WHERE id = ?1", [id.as_str()])? > 0)
        })
        .await
    }

    fn select(&self, condition: &str, parameters: &[&str]) -> Result<Vec<SavedGrant>, StoreError> {
        self.read("read the grants", |connection| {
            let mut statement =
                connection.prepare_cached(&format!("{COLUMNS} WHERE {condition} ORDER BY id"))?;
            let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
            let mut grants = Vec::new();
            while let Some(row) = rows.next()? {
                grants.push(saved(row)?);
            }
            Ok(grants)
        })
    }
}

fn saved(row: &Row<'_>) -> Result<SavedGrant, Fault> {
    let text = |at: usize| row.get::<_, String>(at);
    let nonsense = |why: String| Fault::Nonsense("a grant", why);
    let scope = text(1)?;
    Ok(SavedGrant {
        grant: Grant {
            id: GrantId::parse(&text(0)?).map_err(|error| nonsense(error.to_string()))?,
            scope: Scope::parse(&scope).ok_or_else(|| nonsense(format!("scope {scope:?}")))?,
            session: SessionId::parse(&text(2)?).map_err(|error| nonsense(error.to_string()))?,
            action: Action::new(text(3)?),
            resource: Pattern::new(&text(4)?),
        },
        project: text(5)?,
        created_ms: row.get(6)?,
    })
}
