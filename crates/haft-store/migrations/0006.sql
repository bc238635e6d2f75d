-- Schema 6: an image says which key it is sealed with, so that one whose key is gone is told from one that is damaged.

-- The name of the key. Images of earlier schemas have none; `images_key` in `meta` is the name of theirs, where it was
-- there when the schema changed.
ALTER TABLE image ADD COLUMN sealed_by TEXT;
