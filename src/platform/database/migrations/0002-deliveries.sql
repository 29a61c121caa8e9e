-- The outbox: one row per object of a request and destination.
CREATE TABLE deliveries (
  id text PRIMARY KEY,
  request_id text NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
  kind text NOT NULL,
  destination text NOT NULL,
  object text NOT NULL,
  state text NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'sending', 'delivered', 'dead')),
  attempt integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz,
  give_up_at timestamptz NOT NULL,
  code text,
  detail text,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  UNIQUE (request_id, destination, object)
);

CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state IN ('pending', 'sending');

-- A destination that asked to be left alone (Retry-After) is held as a whole.
CREATE TABLE destination_holds (
  destination text PRIMARY KEY,
  until timestamptz NOT NULL
);
