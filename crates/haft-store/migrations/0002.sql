-- Schema 2: the journal, by which changes of files are undone.

ALTER TABLE intent ADD COLUMN before_attributes TEXT;
ALTER TABLE intent ADD COLUMN after_attributes TEXT;
-- How many of the directories right above the file were made for it.
ALTER TABLE intent ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
CREATE INDEX intent_by_before ON intent (before) WHERE before IS NOT NULL;
CREATE INDEX intent_by_after ON intent (after) WHERE after IS NOT NULL;

-- Which call took back which call's change of a file.
CREATE TABLE undo (
    call   TEXT NOT NULL,
    path   ANY NOT NULL,
    undone TEXT NOT NULL,
    PRIMARY KEY (undone, path, call)
) STRICT, WITHOUT ROWID;
CREATE INDEX undo_by_call ON undo (call);

-- What files held. The content of a large image is in a file of its own.
CREATE TABLE image (
    digest  TEXT PRIMARY KEY,
    bytes   INTEGER NOT NULL,
    content BLOB,
    used_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX image_by_use ON image (used_ms);

-- The size of all images, so that bounding them does not count them.
CREATE TABLE journal (
    bytes INTEGER NOT NULL
) STRICT;
INSERT INTO journal (bytes) VALUES (0);
CREATE TRIGGER image_kept AFTER INSERT ON image BEGIN
    UPDATE journal SET bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER image_gone AFTER DELETE ON image BEGIN
    UPDATE journal SET bytes = bytes - OLD.bytes;
END;
