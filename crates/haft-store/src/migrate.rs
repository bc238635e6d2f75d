//! Schemas, one file each, applied in order and only ever forwards. The database knows the number of its last one.

use rusqlite::{Connection, TransactionBehavior};

/// The migrations. The position of one, counted from 1, is the schema it leads to.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
    include_str!("../migrations/0004.sql"),
    include_str!("../migrations/0005.sql"),
    include_str!("../migrations/0006.sql"),
];

/// Marks the file as haft's: `haft` in ASCII.
const APPLICATION: i32 = 0x6861_6674;

/// What a database says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// It is empty.
    Nothing,
    /// It is haft's, of this version.
    Version(u32),
    /// It belongs to another program.
    Foreign,
}

/// Reads what a database says of itself.
pub(crate) fn schema(connection: &Connection) -> rusqlite::Result<Schema> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION, version) => Ok(Schema::Version(version.try_into().unwrap_or(u32::MAX))),
        (0, 0) => {
            let objects: i64 =
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            Ok(if objects == 0 { Schema::Nothing } else { Schema::Foreign })
        }
        (_, _) => Ok(Schema::Foreign),
    }
}

/// Applies the migrations that are missing, all or none.
pub(crate) fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again inside the transaction: another process may have been quicker.
    let version = match schema(&transaction)? {
        Schema::Version(version) => version as usize,
        Schema::Nothing | Schema::Foreign => 0,
    };
    for migration in migrations.iter().skip(version) {
        transaction.execute_batch(migration)?;
    }
    if version < migrations.len() {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", migrations.len() as u32)?;
        transaction.execute(
            "INSERT INTO meta (key, value) VALUES ('haft', ?1)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [env!("CARGO_PKG_VERSION")],
        )?;
    }
    transaction.commit()
}

/// The version of haft that wrote the schema, if it left its name where this version looks.
pub(crate) fn written_by(connection: &Connection) -> Option<String> {
    connection.query_row("SELECT value FROM meta WHERE key = 'haft'", [], |row| row.get(0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);";
    const OLD: &str = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE thing (name TEXT); INSERT INTO thing VALUES ('kept');";
    const NEW: &str = "ALTER TABLE thing ADD COLUMN size INTEGER NOT NULL DEFAULT 7;";

    #[test]
    fn every_released_schema_reaches_the_newest() {
        for released in 0..=MIGRATIONS.len() {
            let mut connection = Connection::open_in_memory().unwrap();
            if released > 0 {
                migrate(&mut connection, &MIGRATIONS[..released]).unwrap();
            }
            migrate(&mut connection, MIGRATIONS).unwrap();
            assert_eq!(schema(&connection).unwrap(), Schema::Version(MIGRATIONS.len() as u32));
        }
    }

    #[test]
    fn an_older_database_keeps_what_it_holds() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &[OLD]).unwrap();
        assert_eq!(schema(&connection).unwrap(), Schema::Version(1));
        migrate(&mut connection, &[OLD, NEW]).unwrap();
        assert_eq!(schema(&connection).unwrap(), Schema::Version(2));
        let row =
            connection.query_row("SELECT name, size FROM thing", [], |row| Ok((row.get(0)?, row.get(1)?)));
        assert_eq!(row.unwrap(), ("kept".to_owned(), 7));
    }

    #[test]
    fn a_migration_that_fails_leaves_the_database_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &[OLD]).unwrap();
        assert!(migrate(&mut connection, &[OLD, NEW, "CREATE NONSENSE"]).is_err());
        assert_eq!(schema(&connection).unwrap(), Schema::Version(1));
        assert!(connection.prepare("SELECT size FROM thing").is_err());
    }

    #[test]
    fn migrating_twice_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &[META]).unwrap();
        migrate(&mut connection, &[META]).unwrap();
        assert_eq!(written_by(&connection).as_deref(), Some(env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn a_database_of_another_program_is_recognised() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(schema(&connection).unwrap(), Schema::Nothing);
        connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert_eq!(schema(&connection).unwrap(), Schema::Foreign);
    }
}
