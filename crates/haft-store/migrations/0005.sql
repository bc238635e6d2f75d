-- Schema 5: a message has a place in its conversation, whatever the clock said. What waits to be said has none yet.

ALTER TABLE message ADD COLUMN place INTEGER;
UPDATE message SET place = numbered.place
FROM (
    SELECT session, id, row_number() OVER (PARTITION BY session ORDER BY created_ms, id) AS place FROM message
) AS numbered
WHERE numbered.session = message.session AND numbered.id = message.id;
CREATE INDEX message_by_place ON message (session, place);
