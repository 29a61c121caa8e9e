-- What is left of the calls of each key, for all processes of a site. Not logged: it is written in
-- most calls, and losing it in a crash of the database gives a key at most a minute's calls anew.
CREATE UNLOGGED TABLE call_buckets (
  key_id text PRIMARY KEY,
  calls_left double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  -- How many of the calls that were last asked for were allowed.
  granted integer NOT NULL
);
