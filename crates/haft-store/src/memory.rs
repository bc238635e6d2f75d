//! What a session remembers from one call to the next, across processes.

use haft::{BoxFuture, Memory, SessionId, StoreError, Topic};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use crate::clock::now_ms;
use crate::fault::Fault;
use crate::store::Store;
use crate::wire;
use crate::writer::Durability;

impl Memory for Store {
    fn recall<'a>(
        &'a self,
        session: &'a SessionId,
        topic: &'a Topic,
    ) -> BoxFuture<'a, Result<Option<Value>, StoreError>> {
        let key = self.0.redactor.redact(&topic.key);
        let value = self.read("recall", |connection| recall(connection, session.as_str(), topic.kind, &key));
        Box::pin(std::future::ready(value))
    }

    fn remember<'a>(
        &'a self,
        session: &'a SessionId,
        topic: &'a Topic,
        value: &'a Value,
    ) -> BoxFuture<'a, Result<Option<Value>, StoreError>> {
        let (session, kind, key) = (session.clone(), topic.kind, self.0.redactor.owned(&topic.key));
        let value = self.0.redactor.redact_json(value).to_string();
        Box::pin(self.write("remember", Durability::Brief, move |connection| {
            let before = recall(connection, session.as_str(), kind, &key)?;
            connection
                .prepare_cached(
                    "INSERT INTO memory (session, kind, key, value, updated_ms) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (session, kind, key)
                     DO UPDATE SET value = excluded.value, updated_ms = excluded.updated_ms",
                )?
                .execute(params![session.as_str(), kind, key, value, now_ms()])?;
            Ok(before)
        }))
    }
}

fn recall(connection: &Connection, session: &str, kind: &str, key: &str) -> Result<Option<Value>, Fault> {
    let value: Option<String> = connection
        .prepare_cached("SELECT value FROM memory WHERE session = ?1 AND kind = ?2 AND key = ?3")?
        .query_row([session, kind, key], |row| row.get(0))
        .optional()?;
    value.map(|value| wire::read("a memory", &value)).transpose()
}
