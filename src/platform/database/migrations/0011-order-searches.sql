-- Searches for the order of a study that it waits for before it is submitted (src/core/studies/order.ts).
CREATE TABLE order_searches (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  state text NOT NULL CHECK (state IN ('searching', 'found', 'none', 'refused', 'unavailable')),
  -- When the study is submitted without its order.
  deadline timestamptz NOT NULL,
  taken_until timestamptz,
  -- The order as the worklist states it; null unless it was found.
  joined jsonb,
  -- For a person and for the request; contains no identity and no date.
  detail text,
  PRIMARY KEY (study_id, revision)
);
CREATE INDEX order_searches_open ON order_searches (deadline) WHERE state = 'searching';
