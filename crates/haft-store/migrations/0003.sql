-- Schema 3: conversations. A session is run by one runner at a time; what a runner of an earlier fence writes is refused.

ALTER TABLE session ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN runner TEXT;
