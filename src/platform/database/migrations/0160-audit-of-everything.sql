-- The audit is of everything, not of calls with a key alone (src/core/audit/audit.ts).
ALTER TABLE audit ALTER COLUMN account_id DROP NOT NULL;
ALTER TABLE audit ALTER COLUMN key_id DROP NOT NULL;
ALTER TABLE audit ALTER COLUMN status DROP NOT NULL;
ALTER TABLE audit ALTER COLUMN call_id DROP NOT NULL;
-- Who, where it is no key: `person:…`, `ae:…`, `gateway`.
ALTER TABLE audit ADD COLUMN actor text;
ALTER TABLE audit ADD COLUMN address text;
-- No foreign key: the entry outlives the study.
ALTER TABLE audit ADD COLUMN study_id uuid;
-- Of what is no call: success, refused, failed.
ALTER TABLE audit ADD COLUMN outcome text;
-- Counts and names of ours; no identity.
ALTER TABLE audit ADD COLUMN detail jsonb;

-- A call says how it was answered.
ALTER TABLE audit ADD CONSTRAINT audit_call CHECK ((call_id IS NULL) = (status IS NULL));

CREATE INDEX audit_study ON audit (study_id, id) WHERE study_id IS NOT NULL;

-- Each seal covers the rows after the one before it and holds a hash for each, chained through all
-- rows (src/audit/seal.ts). Rows are only ever added.
CREATE TABLE audit_seals (
  id bigint PRIMARY KEY,
  sealed_at timestamptz NOT NULL,
  -- The highest id of the audit that is covered.
  last_row bigint NOT NULL,
  row_ids bigint[] NOT NULL,
  -- 32 bytes for each id.
  row_hashes bytea NOT NULL,
  previous bytea NOT NULL,
  head bytea NOT NULL,
  -- Which key signed: SHA-256 of the public key, hex.
  key_id text NOT NULL,
  signature bytea NOT NULL
);

-- How far an audit repository has been told.
CREATE TABLE audit_feeds (
  name text PRIMARY KEY,
  last_row bigint NOT NULL DEFAULT 0,
  lease_until timestamptz
);
