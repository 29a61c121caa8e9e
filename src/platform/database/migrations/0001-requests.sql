-- Requests of the core. The row is the truth; the job of the queue is only a call to look at it.
CREATE TABLE requests (
  id text PRIMARY KEY,
  account_id text,
  key_id text,
  model text NOT NULL,
  endpoint text NOT NULL,
  version text NOT NULL,
  status text NOT NULL CHECK (status IN
    ('queued', 'preparing', 'running', 'succeeded', 'failed', 'canceled', 'rejected', 'expired')),
  stage jsonb NOT NULL,
  priority text NOT NULL CHECK (priority IN ('low', 'normal', 'high')),
  test boolean NOT NULL,
  input jsonb,
  -- [{name, path, bytes, sha256}], see RequestFile
  files jsonb NOT NULL,
  prior_files jsonb NOT NULL,
  metadata jsonb NOT NULL,
  webhook jsonb,
  source jsonb NOT NULL,
  cost jsonb NOT NULL,
  fault jsonb,
  deliver_to jsonb NOT NULL,
  unique_key text UNIQUE,
  -- Times a worker has taken the request up; also the fencing token of whoever holds the lease.
  attempts integer NOT NULL DEFAULT 0,
  -- Times a pipeline process was seen to die of it.
  crashes integer NOT NULL DEFAULT 0,
  lease_until timestamptz,
  -- When the job was last put on the queue, or is just about to be; null when that failed.
  enqueued_at timestamptz,
  last_seq integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  expires_at timestamptz
);

CREATE INDEX requests_history ON requests (account_id, id DESC);
CREATE INDEX requests_unfinished ON requests (enqueued_at)
  WHERE status IN ('queued', 'preparing', 'running');
CREATE INDEX requests_ended ON requests (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE request_events (
  request_id text NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
  seq integer NOT NULL,
  name text NOT NULL CHECK (name IN ('status', 'stage', 'triage', 'partial', 'error', 'done')),
  -- Null for `done`, which shows the request as it is when the event is read.
  data jsonb,
  at timestamptz NOT NULL,
  PRIMARY KEY (request_id, seq)
);

CREATE TABLE request_artifacts (
  request_id text NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
  position integer NOT NULL,
  name text NOT NULL,
  media_type text NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  section text,
  PRIMARY KEY (request_id, name)
);
