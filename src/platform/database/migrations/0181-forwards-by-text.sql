-- A delivery names the object that it forwards as text: looked up so for each change of a forward, which
-- read every object that was ever received.
CREATE INDEX IF NOT EXISTS instances_id_text ON instances ((id::text));
