-- Searches for the orders of studies. A study is submitted when its search has ended
-- (src/core/studies/order.ts).
CREATE TABLE order_searches (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  state text NOT NULL CHECK (state IN ('searching', 'found', 'none', 'refused', 'unavailable')),
  -- Time at which the study is submitted without its order.
  deadline timestamptz NOT NULL,
  taken_until timestamptz,
  -- The order as returned by the worklist; null unless one was found.
  joined jsonb,
  -- The outcome as text for a person and for the request; contains no identity and no date.
  detail text,
  PRIMARY KEY (study_id, revision)
);
CREATE INDEX order_searches_open ON order_searches (deadline) WHERE state = 'searching';
