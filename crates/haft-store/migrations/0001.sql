-- Schema 1. Times are Unix milliseconds. A migration that was released is never edited; write the next one.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    id         TEXT PRIMARY KEY,
    parent     TEXT,
    project    TEXT NOT NULL,
    directory  TEXT NOT NULL,
    agent      TEXT NOT NULL,
    title      TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    closed_ms  INTEGER,
    -- The process that used it last. It holds the session open while it lives.
    process    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_parent ON session (parent) WHERE parent IS NOT NULL;

CREATE TABLE message (
    id         TEXT NOT NULL,
    session    TEXT NOT NULL,
    role       TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    body       TEXT,
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE call (
    seq           INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    session       TEXT NOT NULL,
    message       TEXT NOT NULL,
    provider_id   TEXT,
    agent         TEXT NOT NULL,
    tool          TEXT NOT NULL,
    -- JSON, or the text as it was sent where `malformed` says what is wrong with it.
    input         TEXT NOT NULL,
    malformed     TEXT,
    input_digest  TEXT NOT NULL,
    changed_input TEXT,
    state         TEXT NOT NULL CHECK (state IN ('pending', 'running', 'completed', 'error')),
    reason        TEXT,
    -- Whether it changed, or was about to change, something; and whether some of that left no intents to tell by.
    acted         INTEGER NOT NULL DEFAULT 0,
    blind         INTEGER NOT NULL DEFAULT 0,
    process       TEXT NOT NULL,
    called_ms     INTEGER NOT NULL,
    started_ms    INTEGER,
    ended_ms      INTEGER,
    title         TEXT NOT NULL DEFAULT '',
    settlement    TEXT
) STRICT;
CREATE UNIQUE INDEX call_by_key ON call (session, message, provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX call_by_session ON call (session);
CREATE INDEX call_unsettled ON call (process) WHERE state IN ('pending', 'running');

-- Every statement that ends a call says so itself; this holds for whoever else opens the file.
CREATE TRIGGER call_never_changes_again BEFORE UPDATE ON call
WHEN OLD.state IN ('completed', 'error')
BEGIN
    SELECT RAISE(ABORT, 'a call that ended never changes again');
END;

CREATE TABLE intent (
    call   TEXT NOT NULL,
    -- Text, or bytes where it is not Unicode.
    path   ANY NOT NULL,
    before TEXT,
    after  TEXT,
    PRIMARY KEY (call, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE media (
    digest TEXT PRIMARY KEY,
    mime   TEXT NOT NULL,
    bytes  BLOB NOT NULL
) STRICT;
CREATE TABLE media_use (
    digest TEXT NOT NULL,
    call   TEXT NOT NULL,
    PRIMARY KEY (digest, call)
) STRICT, WITHOUT ROWID;

-- A place in the order is never given twice, so whoever resumes after one misses nothing.
CREATE TABLE event (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms   INTEGER NOT NULL,
    name    TEXT NOT NULL,
    session TEXT NOT NULL,
    call    TEXT,
    body    TEXT NOT NULL
) STRICT;

CREATE TABLE request (
    id         TEXT PRIMARY KEY,
    session    TEXT NOT NULL,
    call       TEXT NOT NULL,
    project    TEXT NOT NULL,
    body       TEXT NOT NULL,
    asked_ms   INTEGER NOT NULL,
    reply      TEXT,
    words      TEXT,
    scope      TEXT,
    replied_ms INTEGER,
    process    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE grant_ (
    id         TEXT PRIMARY KEY,
    scope      TEXT NOT NULL CHECK (scope IN ('session', 'project', 'user')),
    project    TEXT NOT NULL,
    session    TEXT NOT NULL,
    action     TEXT NOT NULL,
    resource   TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memory (
    session    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY (session, kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE output (
    id         TEXT PRIMARY KEY,
    session    TEXT NOT NULL,
    call       TEXT NOT NULL,
    bytes      INTEGER NOT NULL,
    lines      INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    -- How many places were replaced on the way in.
    redactions INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX output_by_call ON output (call);
