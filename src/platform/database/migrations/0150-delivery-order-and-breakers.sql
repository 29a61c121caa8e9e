-- Deliveries of one study to one destination keep their order (src/core/outbox/deliveries.ts); null where
-- there is no study: a webhook, the result of an API client.
ALTER TABLE deliveries ADD COLUMN study text;
ALTER TABLE deliveries ADD COLUMN revision integer;
ALTER TABLE deliveries ADD COLUMN rank smallint NOT NULL DEFAULT 0;
-- Failures that may be the object's own: an object with too many holds up nobody behind it.
ALTER TABLE deliveries ADD COLUMN own_failures integer NOT NULL DEFAULT 0;
CREATE INDEX deliveries_order ON deliveries (destination, study)
  WHERE state IN ('pending', 'sending') AND study IS NOT NULL;

-- The delivery in whose place this one goes to another destination.
ALTER TABLE deliveries ADD COLUMN alternate_of text REFERENCES deliveries (id) ON DELETE CASCADE;
CREATE INDEX deliveries_alternate ON deliveries (alternate_of) WHERE alternate_of IS NOT NULL;
ALTER TABLE deliveries DROP CONSTRAINT deliveries_state_check;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_state_check
  CHECK (state IN ('pending', 'sending', 'delivered', 'dead', 'diverted'));
CREATE INDEX deliveries_by_destination ON deliveries (destination, state, id);

-- Destinations that fail as a whole; one that works has no row (src/core/outbox/breaker.ts).
CREATE TABLE destination_breakers (
  destination text PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('closed', 'open', 'half-open')),
  -- In a row, without a delivery that got through.
  failures integer NOT NULL,
  -- Of the last failure.
  code text NOT NULL,
  -- Since when it has not been closed.
  opened_at timestamptz,
  -- When it is to be asked again.
  probe_at timestamptz,
  -- How often it was asked in vain since it opened.
  probes integer NOT NULL DEFAULT 0
);
