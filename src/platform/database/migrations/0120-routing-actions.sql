-- What a routing rule can do with a study beside running an endpoint, and why a study is complete.
ALTER TABLE studies DROP CONSTRAINT studies_state_check;
ALTER TABLE studies ADD CONSTRAINT studies_state_check CHECK (state IN
  ('receiving', 'complete', 'submitted', 'routed', 'held', 'ignored', 'unrouted', 'refused'));

-- Which signal set the deadline; see src/core/studies/completion.ts.
ALTER TABLE studies ADD COLUMN complete_because text NOT NULL DEFAULT 'quiet-time';
-- Set by rules.
ALTER TABLE studies ADD COLUMN tags text[] NOT NULL DEFAULT '{}';
-- Revision that a person released: rules that hold are passed over for it.
ALTER TABLE studies ADD COLUMN released_revision integer;
-- The rule that this person chose; null: as the rules say.
ALTER TABLE studies ADD COLUMN chosen_rule text;

-- Several rules may run on one revision.
ALTER TABLE study_requests DROP CONSTRAINT study_requests_pkey;
ALTER TABLE study_requests ADD PRIMARY KEY (study_id, revision, rule);

-- A received object that is forwarded as it came is a delivery of no request; `object` is its id.
ALTER TABLE deliveries ALTER COLUMN request_id DROP NOT NULL;
CREATE UNIQUE INDEX deliveries_forward ON deliveries (object, destination) WHERE request_id IS NULL;
