-- A request for storage commitment that could not be sent is repeated soon, then less and less often.
ALTER TABLE delivered_objects ADD COLUMN ask_at timestamptz;
ALTER TABLE delivered_objects ADD COLUMN failed_asks integer NOT NULL DEFAULT 0;
UPDATE delivered_objects SET ask_at = asked_at + interval '1 hour' WHERE asked_at IS NOT NULL;
