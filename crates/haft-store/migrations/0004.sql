-- Schema 4: paths are exact although none shows a secret, and a change may have a finish.

-- The exact path, sealed, where `path` had to leave something out. Then `path` only tells the file from others.
ALTER TABLE intent ADD COLUMN sealed BLOB;
-- The digest of what the file may hold instead, where the call had done its work before the last change.
ALTER TABLE intent ADD COLUMN midway TEXT;
