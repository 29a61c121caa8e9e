-- A person closes a dead delivery that the receiver will never get (src/core/outbox/close.ts): who, when
-- and why. Null unless the state is `closed`.
ALTER TABLE deliveries ADD COLUMN closed jsonb;

-- Not validated, because a table of any size need not be read: the former constraint allowed fewer states.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_state_check;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_state_check
  CHECK (state IN ('pending', 'sending', 'delivered', 'dead', 'diverted', 'closed')) NOT VALID;

-- A report that a person has rejected is closed. Until this migration it stayed dead.
UPDATE deliveries d SET state = 'closed', closed = jsonb_build_object(
    'at', to_char(h.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'by', h.person, 'reason', h.reason)
  FROM hold_actions h
  WHERE d.state = 'dead' AND d.kind = 'fhir' AND h.delivery_id = d.id AND h.action = 'reject'
    AND NOT EXISTS (SELECT 1 FROM hold_actions later
      WHERE later.delivery_id = d.id AND later.action <> 'show' AND later.id > h.id);
