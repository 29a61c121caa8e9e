-- Which spans have been exported, so that one process of a site does it. Not logged: after a crash of
-- the database a span of the last hour may be exported twice.
CREATE UNLOGGED TABLE trace_exports (
  span_id text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now()
);
