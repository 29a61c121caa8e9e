-- The schema of Sonogate 1.0. README.md explains the numbers of these files.

-- Accounts, keys and secrets

-- An account owns keys, files and requests. A site starts with the account `default`; keys that are
-- made without naming an account belong to it.
CREATE TABLE accounts (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- API keys.
CREATE TABLE api_keys (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  -- Hexadecimal SHA-256 of the key. The key itself is shown once and never stored.
  sha256 text NOT NULL UNIQUE,
  test boolean NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- What the key may do in the console; null: it cannot sign in.
  console_role text CHECK (console_role IN ('viewer', 'clinician', 'operator', 'administrator'))
);

-- Token bucket that limits the calls of each key, shared by all processes of a site. The table is
-- unlogged, because most calls write to it. If the database crashes, each key can at most make one
-- minute's calls again.
CREATE UNLOGGED TABLE call_buckets (
  key_id text PRIMARY KEY,
  calls_left double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  -- Number of calls granted by the last statement, which may have asked for more.
  granted integer NOT NULL
);

-- Responses to calls that carried an Idempotency-Key, so that a repeated call gets the same
-- response.
CREATE TABLE idempotency_keys (
  account_id text NOT NULL REFERENCES accounts (id),
  method text NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  -- Hexadecimal SHA-256 of the canonical body.
  fingerprint text NOT NULL,
  created_at timestamptz NOT NULL,
  -- When processing of the call began. It is set again when the call is repeated after its process
  -- died.
  started_at timestamptz NOT NULL,
  -- HTTP status of the response; null while the first call runs.
  status integer,
  location text,
  body json,
  -- A test key and a live key of one account may send the same Idempotency-Key. A live call must
  -- not get the response of the mock pipeline.
  test boolean NOT NULL DEFAULT false,
  PRIMARY KEY (account_id, test, method, path, key)
);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- Secrets that all processes of a site share, such as the one that signs URLs.
CREATE TABLE secrets (
  name text PRIMARY KEY,
  value text NOT NULL
);

-- Uploaded files

-- Files that clients uploaded.
CREATE TABLE files (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  filename text NOT NULL,
  media_type text NOT NULL,
  -- Size in bytes. For a file announced without its size (the compatible queue), null until the
  -- file has arrived.
  bytes bigint,
  status text NOT NULL CHECK (status IN ('pending', 'ready')),
  -- Hexadecimal SHA-256 of the bytes received; null until a PUT has arrived completely.
  sha256 text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK (status = 'pending' OR sha256 IS NOT NULL),
  CHECK (status = 'pending' OR bytes IS NOT NULL)
);
CREATE INDEX files_expires_at ON files (expires_at);
-- The free space for a new upload is computed from the files that are still arriving. This index
-- contains only those.
CREATE INDEX files_pending ON files (expires_at) WHERE status = 'pending' AND sha256 IS NULL;
CREATE INDEX files_sha256 ON files (sha256);

-- Parts of a file that is too large for one PUT, each stored under its own digest until the file is
-- assembled.
CREATE TABLE file_parts (
  file_id text NOT NULL,
  part_number integer NOT NULL,
  sha256 text NOT NULL,
  bytes bigint NOT NULL,
  stored_at timestamptz NOT NULL,
  PRIMARY KEY (file_id, part_number)
);
CREATE INDEX file_parts_sha256 ON file_parts (sha256);

-- Uploads in parts that clients PUT to S3-compatible storage, with the upload id of the storage.
CREATE TABLE multipart_uploads (
  file_id text PRIMARY KEY,
  upload_id text NOT NULL
);

-- SHA-256 of objects of removed studies that may still be in the bucket. They are removed once
-- nothing refers to them, even after an outage of the bucket or a crash of the process.
CREATE TABLE unneeded_blobs (
  sha256 text PRIMARY KEY,
  since timestamptz NOT NULL
);

-- Requests

-- Requests. The row is the source of truth; a job in the queue only means that a worker should look
-- at the request.
CREATE TABLE requests (
  id text PRIMARY KEY,
  account_id text,
  key_id text,
  model text NOT NULL,
  endpoint text NOT NULL,
  version text NOT NULL,
  status text NOT NULL
    CHECK (status IN ('queued', 'preparing', 'running', 'succeeded', 'failed', 'canceled', 'rejected',
      'expired')),
  stage jsonb NOT NULL,
  priority text NOT NULL CHECK (priority IN ('low', 'normal', 'high')),
  test boolean NOT NULL,
  input jsonb,
  -- [{name, path, bytes, sha256}], see RequestFile in src/core.
  files jsonb NOT NULL,
  prior_files jsonb NOT NULL,
  metadata jsonb NOT NULL,
  webhook jsonb,
  source jsonb NOT NULL,
  cost jsonb NOT NULL,
  fault jsonb,
  deliver_to jsonb NOT NULL,
  unique_key text UNIQUE,
  -- Number of claims by workers, without those that ended because the gateway stopped. Also the
  -- fencing token of the worker that holds the lease.
  attempts integer NOT NULL DEFAULT 0,
  -- Number of times that a pipeline process died while running the request.
  crashes integer NOT NULL DEFAULT 0,
  lease_until timestamptz,
  -- When the reconciler last added the job to the queue; null for a new or released request.
  enqueued_at timestamptz,
  -- `seq` of the newest event.
  last_seq integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  expires_at timestamptz
);
CREATE INDEX requests_ended ON requests (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX requests_history ON requests (account_id, id DESC);
CREATE INDEX requests_unfinished ON requests (enqueued_at)
  WHERE status IN ('queued', 'preparing', 'running');

-- The history of each request, in order. There is no foreign key: rows of `requests` are never
-- deleted, and its check would lock the request for each event.
CREATE TABLE request_events (
  request_id text NOT NULL,
  seq integer NOT NULL,
  name text NOT NULL CHECK (name IN ('status', 'stage', 'triage', 'partial', 'error', 'done')),
  -- Null for `done`: this event contains the request object, which is read together with the event.
  data jsonb,
  at timestamptz NOT NULL,
  PRIMARY KEY (request_id, seq)
);

-- The artifacts of a result, in the order in which the pipeline listed them.
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

-- Deliveries

-- The outbox: one row for each object of a request (or received object) and destination. See
-- docs/deliveries.md for the states.
CREATE TABLE deliveries (
  id text PRIMARY KEY,
  -- Null for a received object that is forwarded unchanged; `object` is then its id in `instances`.
  request_id text REFERENCES requests (id) ON DELETE CASCADE,
  kind text NOT NULL,
  destination text NOT NULL,
  object text NOT NULL,
  state text NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'sending', 'delivered', 'dead', 'diverted')),
  -- Number of all attempts, including those in `attempts_before`. It also identifies the current
  -- attempt.
  attempt integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz,
  give_up_at timestamptz NOT NULL,
  code text,
  detail text,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- Number of attempts made before a person sent the delivery again; the retry schedule then starts
  -- over.
  attempts_before integer NOT NULL DEFAULT 0,
  -- When the PACS committed to keeping all objects of the delivery (storage commitment).
  committed_at timestamptz,
  -- Deliveries of one study to one destination are sent in the order of revision and rank
  -- (src/core/outbox/deliveries.ts). Null without a study, as for a webhook or the result of an API
  -- client.
  study text,
  revision integer,
  rank smallint NOT NULL DEFAULT 0,
  -- Number of failures that the object itself may have caused. After too many, later deliveries of
  -- the study no longer wait for this one.
  own_failures integer NOT NULL DEFAULT 0,
  -- The delivery that this one replaces at another destination.
  alternate_of text REFERENCES deliveries (id) ON DELETE CASCADE,
  UNIQUE (request_id, destination, object)
);
CREATE INDEX deliveries_alternate ON deliveries (alternate_of) WHERE alternate_of IS NOT NULL;
CREATE INDEX deliveries_by_destination ON deliveries (destination, state, id);
CREATE INDEX deliveries_dead ON deliveries (destination) WHERE state = 'dead';
CREATE INDEX deliveries_delivered ON deliveries (ended_at) WHERE state = 'delivered';
-- Sorted in the order in which deliveries are claimed. When a destination works again, all
-- deliveries that waited for it become due at the same moment.
CREATE INDEX deliveries_due ON deliveries (next_at, id) WHERE state IN ('pending', 'sending');
-- GET /metrics reads the deliveries that ended recently at each scrape. The index makes the time
-- for this independent of the length of the history.
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX deliveries_forward ON deliveries (object, destination) WHERE request_id IS NULL;
-- After every send, the outbox looks for the lease that expires next.
CREATE INDEX deliveries_leases ON deliveries (lease_until) WHERE state = 'sending';
CREATE INDEX deliveries_of_destination ON deliveries (destination, id DESC);
CREATE INDEX deliveries_order ON deliveries (destination, study)
  WHERE state IN ('pending', 'sending') AND study IS NOT NULL;

-- Destinations that asked for a pause (Retry-After). Nothing is sent to them before `until`.
CREATE TABLE destination_holds (
  destination text PRIMARY KEY,
  until timestamptz NOT NULL
);

-- Circuit breakers of destinations that fail as a whole; a destination that works has no row
-- (src/core/outbox/breaker.ts).
CREATE TABLE destination_breakers (
  destination text PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('closed', 'open', 'half-open')),
  -- Number of failures since the last successful delivery.
  failures integer NOT NULL,
  -- Error code of the last failure.
  code text NOT NULL,
  -- Since when the breaker has been open or half-open.
  opened_at timestamptz,
  -- When the destination is probed next.
  probe_at timestamptz,
  -- Number of failed probes since the breaker opened.
  probes integer NOT NULL DEFAULT 0
);

-- The objects that a PACS accepted from a delivery, and whether it has committed to keeping them.
CREATE TABLE delivered_objects (
  delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  destination text NOT NULL,
  sop_class_uid text NOT NULL,
  sop_instance_uid text NOT NULL,
  -- Transaction UID of the last commitment request; null if none has been sent yet.
  transaction_uid text,
  asked_at timestamptz,
  committed_at timestamptz,
  -- Failure Reason (0008,1197) that the PACS reported.
  failure_reason integer,
  -- When the next commitment request is due. A request that could not be sent is repeated after a
  -- minute, and then at longer and longer intervals.
  ask_at timestamptz,
  -- Number of consecutive commitment requests that could not be sent.
  failed_asks integer NOT NULL DEFAULT 0,
  -- When the PACS reported on the commitment request. This ends its span in a trace.
  answered_at timestamptz,
  -- Number of commitment requests that the PACS accepted since the object was delivered.
  asks integer NOT NULL DEFAULT 0,
  PRIMARY KEY (delivery_id, sop_instance_uid)
);
CREATE INDEX delivered_objects_answered ON delivered_objects (answered_at)
  WHERE answered_at IS NOT NULL;
CREATE INDEX delivered_objects_open ON delivered_objects (destination)
  WHERE committed_at IS NULL AND failure_reason IS NULL;
CREATE INDEX delivered_objects_transaction ON delivered_objects (transaction_uid);

-- Every transaction in which a PACS was asked to commit to an object. The PACS may report on any of
-- them at any later time (PS3.4 J.3.3); `delivered_objects.transaction_uid` is the last one.
CREATE TABLE commitment_transactions (
  transaction_uid text NOT NULL,
  delivery_id text NOT NULL,
  sop_instance_uid text NOT NULL,
  PRIMARY KEY (transaction_uid, delivery_id, sop_instance_uid),
  FOREIGN KEY (delivery_id, sop_instance_uid)
    REFERENCES delivered_objects (delivery_id, sop_instance_uid) ON DELETE CASCADE
);
CREATE INDEX commitment_transactions_object
  ON commitment_transactions (delivery_id, sop_instance_uid);

-- Webhooks

-- Secrets that sign the webhooks of an account, in clear text because HMAC needs them.
CREATE TABLE webhook_secrets (
  account_id text NOT NULL,
  secret text NOT NULL,
  created_at timestamptz NOT NULL,
  -- When a rotated secret stops signing; until then it signs in addition to the new one. Null for
  -- the current secret.
  ends_at timestamptz
);
CREATE INDEX webhook_secrets_account ON webhook_secrets (account_id);
CREATE UNIQUE INDEX webhook_secrets_current ON webhook_secrets (account_id) WHERE ends_at IS NULL;

-- The webhook URLs of an account; the `destination` of a delivery is the `id` of its URL.
CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  url text NOT NULL,
  -- Time of the first failure since the last success.
  failing_since timestamptz,
  disabled_at timestamptz,
  UNIQUE (account_id, url)
);

-- Every attempt to send a webhook.
CREATE TABLE webhook_attempts (
  delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  attempt integer NOT NULL,
  at timestamptz NOT NULL,
  -- HTTP status; null if there was no response, for which `error` states the reason.
  status integer,
  duration_ms integer NOT NULL,
  -- Number of bytes read from the response. `answer` is its first KiB, for the operator. It is
  -- never shown to the client, who chose the URL.
  answer_bytes integer NOT NULL,
  answer text,
  error text,
  PRIMARY KEY (delivery_id, attempt)
);

-- Held reports

-- The patients and orders from which a person can choose if a report could not be matched, as
-- references into the EHR.
CREATE TABLE hold_candidates (
  delivery_id text PRIMARY KEY REFERENCES deliveries (id) ON DELETE CASCADE,
  candidates jsonb NOT NULL
);

-- Who viewed, released or rejected a held report, and what they chose. Rows are only added, and
-- remain when the delivery is removed.
CREATE TABLE hold_actions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  delivery_id text NOT NULL,
  request_id text NOT NULL,
  destination text NOT NULL,
  action text NOT NULL CHECK (action IN ('show', 'release', 'reject')),
  person text NOT NULL,
  -- Why the report was held: a code of the error catalogue.
  code text,
  patient text,
  order_reference text,
  without_order boolean NOT NULL DEFAULT false,
  reason text
);
CREATE INDEX hold_actions_delivery ON hold_actions (delivery_id, id);

-- Studies

-- Studies received by DICOM. The identity stays in this table, and is joined to the results when
-- they are sent.
CREATE TABLE studies (
  id uuid PRIMARY KEY,
  study_instance_uid text NOT NULL UNIQUE,
  source text NOT NULL,
  calling_ae_title text NOT NULL,
  called_ae_title text NOT NULL,
  state text NOT NULL
    CHECK (state IN ('receiving', 'complete', 'submitted', 'routed', 'held', 'ignored', 'unrouted',
      'refused')),
  -- Number of the revision. A late object begins the next one, which is interpreted again.
  revision integer NOT NULL DEFAULT 1,
  instance_count integer NOT NULL DEFAULT 0,
  -- Attributes of the patient and the study by DICOM keyword (DicomIdentity).
  identity jsonb NOT NULL,
  first_received_at timestamptz NOT NULL,
  last_received_at timestamptz NOT NULL,
  -- When the study counts as complete if no more objects arrive.
  complete_after timestamptz NOT NULL,
  -- Why the study is in this state, as text for a person; null if the state needs no reason.
  reason text,
  -- The signal that set `complete_after` (src/core/studies).
  complete_because text NOT NULL DEFAULT 'quiet-time',
  -- Tags added by routing rules.
  tags text[] NOT NULL DEFAULT '{}',
  -- The revision that a person released; rules that hold studies do not apply to it.
  released_revision integer,
  -- The rule that this person chose; null if the rules decide.
  chosen_rule text,
  -- Why a person wants the study to wait once it is complete; null if no one does.
  hold_reason text,
  -- Names of the rules that acted on the last revision that was routed, in their order, including
  -- those that made no request.
  acting_rules text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX studies_due ON studies (complete_after) WHERE state IN ('receiving', 'complete');
CREATE INDEX studies_for_a_person ON studies (state) WHERE state IN ('held', 'unrouted', 'refused');

-- Received objects. The file is written first and serves as the journal: if its row is missing, the
-- row is created from the file at startup.
CREATE TABLE instances (
  id uuid PRIMARY KEY,
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  sop_instance_uid text NOT NULL,
  -- Position in the study by arrival, from 1; names the file in the request.
  ordinal integer NOT NULL,
  -- The revision of the study in which the object arrived.
  revision integer NOT NULL,
  -- Path relative to the data folder.
  path text NOT NULL UNIQUE,
  bytes bigint NOT NULL,
  -- Digests of the whole file and of the data set alone. An object with a known SOP Instance UID is
  -- a duplicate if its data set has the same digest, and otherwise a conflict.
  file_sha256 text NOT NULL,
  data_set_sha256 text NOT NULL,
  -- True if an earlier object has the same SOP Instance UID but different content.
  conflict boolean NOT NULL,
  transfer_syntax text NOT NULL,
  header jsonb NOT NULL,
  received_at timestamptz NOT NULL,
  UNIQUE (study_id, ordinal),
  UNIQUE (study_id, sop_instance_uid, data_set_sha256)
);
-- In a bucket, a received object is stored under the digest of its file. Several objects may have
-- the same digest.
CREATE INDEX instances_file_sha256 ON instances (file_sha256);
-- A delivery that forwards an object contains the id of the object as text.
CREATE INDEX instances_id_text ON instances ((id::text));
-- Storage commitment finds objects by their SOP Instance UID alone.
CREATE INDEX instances_sop_instance_uid ON instances (sop_instance_uid);

-- The requests made for each complete revision, one for each rule that ran an endpoint.
CREATE TABLE study_requests (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  rule text NOT NULL,
  request_id text NOT NULL,
  submitted_at timestamptz NOT NULL,
  PRIMARY KEY (study_id, revision, rule)
);
CREATE INDEX study_requests_request ON study_requests (request_id);

-- What the classifiers recognised in the images of a revision, for rules that depend on it: `known`
-- with the values of each fact, or `unknown` with the reason (ContentFacts in src/core/studies).
CREATE TABLE study_content (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  facts jsonb NOT NULL,
  PRIMARY KEY (study_id, revision)
);

-- Every state of a study, with the reason.
CREATE TABLE study_history (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  state text NOT NULL,
  revision integer NOT NULL,
  complete_because text NOT NULL,
  reason text
);
-- A study that rules only forwarded has no request. Traces read the end of its routing here.
CREATE INDEX study_history_routed ON study_history (at) WHERE state = 'routed';
CREATE INDEX study_history_study ON study_history (study_id, id);

-- Associations that are receiving an object at this moment. The object may belong to a study whose
-- quiet time is over.
CREATE TABLE receptions_under_way (
  association text PRIMARY KEY,
  source text NOT NULL,
  calling_ae_title text NOT NULL,
  began_at timestamptz NOT NULL,
  -- If no further bytes arrive before this time, the association hangs or its process has died.
  silent_after timestamptz NOT NULL
);

-- The objects of a study as listed by a peer. The study is complete when all of them have arrived.
CREATE TABLE study_expectations (
  study_instance_uid text NOT NULL,
  -- SOP Instance UID of the performed procedure step or of the notification.
  stated_by text NOT NULL,
  signal text NOT NULL,
  sop_instance_uids text[] NOT NULL,
  stated_at timestamptz NOT NULL,
  PRIMARY KEY (study_instance_uid, stated_by)
);

-- Modality Performed Procedure Steps, as reported by modalities (PS3.4 F.7).
CREATE TABLE performed_procedure_steps (
  sop_instance_uid text PRIMARY KEY,
  study_instance_uids text[] NOT NULL,
  status text NOT NULL CHECK (status IN ('IN PROGRESS', 'COMPLETED', 'DISCONTINUED')),
  calling_ae_title text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The objects that the step has listed so far, because its last N-SET need not repeat them.
  sop_instance_uids text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX performed_procedure_steps_open ON performed_procedure_steps
  USING gin (study_instance_uids) WHERE status = 'IN PROGRESS';

-- Storage commitment reports that this gateway owes to peers (PS3.4 J), until the peer has accepted
-- them.
CREATE TABLE commitment_reports (
  transaction_uid text NOT NULL,
  calling_ae_title text NOT NULL,
  source text NOT NULL,
  committed jsonb NOT NULL,
  failed jsonb NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  -- When the peer accepted the report.
  told_at timestamptz,
  code text,
  -- The report is given up if it cannot be delivered within days of this request.
  requested_at timestamptz NOT NULL DEFAULT now(),
  given_up_at timestamptz,
  PRIMARY KEY (transaction_uid, calling_ae_title)
);
CREATE INDEX commitment_reports_due ON commitment_reports (next_at) WHERE told_at IS NULL;

-- Archives

-- Studies to be retrieved from an archive, and past retrievals (dimse/archive).
CREATE TABLE retrievals (
  id uuid PRIMARY KEY,
  archive text NOT NULL,
  study_instance_uid text NOT NULL,
  -- Why the study is retrieved: a person requested it, objects of a received study are missing, or
  -- it is a prior of another study.
  purpose text NOT NULL CHECK (purpose IN ('study', 'missing', 'prior')),
  state text NOT NULL CHECK (state IN ('waiting', 'running', 'succeeded', 'failed')),
  asked_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- End of the lease of the process that retrieves the study. Objects of the study that arrive
  -- before this time count as retrieved.
  taken_until timestamptz,
  -- How many of the wanted objects the archive has, and how many of those have arrived.
  wanted integer,
  here integer,
  code text,
  -- The outcome as text for a person; contains no identity.
  detail text
);
CREATE INDEX retrievals_study ON retrievals (study_instance_uid, purpose);
CREATE INDEX retrievals_waiting ON retrievals (asked_at) WHERE state IN ('waiting', 'running');

-- The number of objects that an archive has of a received study, compared with what has arrived
-- (dimse/archive).
CREATE TABLE archive_counts (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  archive text NOT NULL,
  -- asking: no answer yet. behind: the archive does not have all objects yet. missing: the archive
  -- has objects that have not arrived. complete: all objects have arrived. unknown: the archive did
  -- not answer in time, or does not know the study.
  state text NOT NULL CHECK (state IN ('asking', 'behind', 'missing', 'complete', 'unknown')),
  expected integer,
  missing integer,
  ask_at timestamptz NOT NULL,
  -- Latest time until which the study waits for missing objects; set when its quiet time is over.
  hold_until timestamptz,
  detail text,
  PRIMARY KEY (study_id, revision)
);
CREATE INDEX archive_counts_due ON archive_counts (ask_at) WHERE state <> 'complete';

-- Searches for earlier examinations. A study is submitted when its searches have ended
-- (dimse/archive).
CREATE TABLE prior_searches (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  rule text NOT NULL,
  state text NOT NULL CHECK (state IN ('searching', 'found', 'none', 'unavailable')),
  -- The settings of the rule when the search began.
  settings jsonb NOT NULL,
  -- Time at which the study is submitted without priors.
  deadline timestamptz NOT NULL,
  taken_until timestamptz,
  -- Ids in `instances` of the objects that the pipeline gets as priors.
  instances uuid[] NOT NULL DEFAULT '{}',
  -- The outcome as text for a person and for the request; contains no identity and no date.
  detail text,
  PRIMARY KEY (study_id, revision, rule)
);
CREATE INDEX prior_searches_open ON prior_searches (deadline) WHERE state = 'searching';

-- Audit

-- Who read or changed what, and when. Rows are only added. Rows of API calls have an account, key,
-- call id and status; all other rows have an actor and an outcome.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  account_id text,
  key_id text,
  -- A key of AUDIT_ACTIONS in src/core/audit/audit.ts, such as `request.read`.
  action text NOT NULL,
  -- Null for a list, and if the call specified no known request.
  request_id text,
  -- HTTP status of the response.
  status integer,
  -- X-Request-Id of the HTTP request.
  call_id text,
  -- Who acted, if not an API key: `person:…`, `ae:…`, `gateway`.
  actor text,
  address text,
  -- There is no foreign key, because the entry remains when the study is removed.
  study_id uuid,
  -- Outcome of an action that is not an API call: success, refused or failed.
  outcome text,
  -- Counts and our own names; contains no identity.
  detail jsonb,
  CONSTRAINT audit_call CHECK ((call_id IS NULL) = (status IS NULL))
);
CREATE INDEX audit_account ON audit (account_id, id);
CREATE INDEX audit_request ON audit (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_study ON audit (study_id, id) WHERE study_id IS NOT NULL;

-- Each seal covers the rows since the previous seal and contains a hash of each of them. Every hash
-- includes the one before it, across all seals (src/core/audit/seal.ts). Rows are only added.
CREATE TABLE audit_seals (
  id bigint PRIMARY KEY,
  sealed_at timestamptz NOT NULL,
  -- The highest id of `audit` that the seal covers.
  last_row bigint NOT NULL,
  row_ids bigint[] NOT NULL,
  -- The hashes of the rows, 32 bytes for each id in `row_ids`.
  row_hashes bytea NOT NULL,
  previous bytea NOT NULL,
  head bytea NOT NULL,
  -- Id of the signing key: the hexadecimal SHA-256 of its public key.
  key_id text NOT NULL,
  signature bytea NOT NULL
);

-- The last row of `audit` that each audit repository has received.
CREATE TABLE audit_feeds (
  name text PRIMARY KEY,
  last_row bigint NOT NULL DEFAULT 0,
  lease_until timestamptz
);

-- Tracing

-- Exported spans, so that only one process of a site exports each span. The table is unlogged:
-- after a crash of the database, a span of the last hour may be exported twice.
CREATE UNLOGGED TABLE trace_exports (
  span_id text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now()
);

-- Console

-- Sessions of people who are signed in to the console.
CREATE TABLE console_sessions (
  -- Hexadecimal SHA-256 of the cookie; the cookie itself is never stored.
  sha256 text PRIMARY KEY,
  -- `key:<id>` or `oidc:<issuer> <subject>`. All sessions of one person can be ended together.
  principal text NOT NULL,
  person text NOT NULL,
  -- Role at sign-in. For a session by key, the present role of the key applies instead.
  role text NOT NULL CHECK (role IN ('viewer', 'clinician', 'operator', 'administrator')),
  key_id text REFERENCES api_keys (id),
  csrf text NOT NULL,
  created_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL
);
CREATE INDEX console_sessions_ends_at ON console_sessions (ends_at);
CREATE INDEX console_sessions_principal ON console_sessions (principal);

-- Sign-ins that are waiting for the identity provider (OpenID Connect Core 3.1.2.1, RFC 7636).
CREATE TABLE console_sign_ins (
  -- Hexadecimal SHA-256 of the cookie that binds the sign-in to one browser.
  sha256 text PRIMARY KEY,
  state text NOT NULL,
  nonce text NOT NULL,
  code_verifier text NOT NULL,
  next_page text NOT NULL,
  ends_at timestamptz NOT NULL
);

-- Who acknowledged the critical flags of a request.
CREATE TABLE triage_acknowledgements (
  request_id text PRIMARY KEY REFERENCES requests (id),
  at timestamptz NOT NULL,
  person text NOT NULL
);

-- What the worklist shows of a result: values and counts, no identity. A row is created when it is
-- first needed, and removed with the result.
CREATE TABLE result_glances (
  request_id text PRIMARY KEY REFERENCES requests (id),
  glance jsonb NOT NULL
);

-- The worklist as the console reads it: a narrow, indexed row for each study, and for each request
-- of the site's own account that was made without a study. Triggers keep the rows up to date, so
-- that no writer needs to know about the worklist.
CREATE TABLE worklist (
  -- Id of the study; for a request without a study, id of the request.
  key text PRIMARY KEY,
  study_id uuid UNIQUE REFERENCES studies (id) ON DELETE CASCADE,
  -- The newest request of the study.
  request_id text,
  -- State of the study until it is submitted, then the status of its newest request.
  state text NOT NULL,
  source text NOT NULL,
  endpoint text,
  tags text[] NOT NULL DEFAULT '{}',
  -- True if the study has critical flags that nobody has acknowledged (see 0020).
  critical boolean NOT NULL DEFAULT false,
  -- A digest of the patient ID, equal for all studies of a patient; null if the images have no
  -- patient ID.
  patient text,
  -- The words of Patient's Name, Patient ID and Accession Number, for the search.
  words tsvector,
  arrived_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL
);
CREATE INDEX worklist_arrived ON worklist (arrived_at DESC, key DESC);
CREATE INDEX worklist_critical ON worklist (arrived_at DESC, key DESC) WHERE critical;
CREATE INDEX worklist_patient ON worklist (patient, arrived_at DESC) WHERE patient IS NOT NULL;
CREATE INDEX worklist_request ON worklist (request_id);
CREATE INDEX worklist_state ON worklist (state, arrived_at DESC, key DESC);
CREATE INDEX worklist_tags ON worklist USING gin (tags);
CREATE INDEX worklist_words ON worklist USING gin (words);

-- Changes that open consoles must show, written by any process and kept for 15 minutes. The table
-- is unlogged: a page that cannot continue after a crash reloads.
CREATE UNLOGGED TABLE console_changes (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Readers continue from a transaction id rather than from `seq`, because a row with a lower `seq`
  -- may be committed later.
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  key text NOT NULL,
  what text NOT NULL CHECK (what IN ('study', 'request', 'delivery')),
  delivery_id text,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX console_changes_xid ON console_changes (xid, seq);

INSERT INTO accounts (id, name) VALUES ('default', 'Default account');

-- Functions and triggers that maintain the worklist and notify open consoles of changes

CREATE FUNCTION console_note(of_key text, of_what text, of_delivery text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  INSERT INTO console_changes (key, what, delivery_id) VALUES (of_key, of_what, of_delivery)
    RETURNING seq INTO written;
  IF written % 256 = 0 THEN
    DELETE FROM console_changes WHERE at < clock_timestamp() - interval '15 minutes';
  END IF;
  PERFORM pg_notify('sonogate_console', '');
END $$;

CREATE FUNCTION worklist_words(identity jsonb) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
  SELECT array_to_tsvector(array_remove(string_to_array(regexp_replace(
    lower(concat_ws(' ', identity ->> 'PatientName', identity ->> 'PatientID',
      identity ->> 'AccessionNumber')),
    '[\x01-\x20!-/:-@[-`{-~]+', ' ', 'g'), ' '), ''))
$$;

CREATE FUNCTION worklist_patient(identity jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN coalesce(identity ->> 'PatientID', '') <> ''
    THEN md5(coalesce(identity ->> 'IssuerOfPatientID', '') || chr(31) || (identity ->> 'PatientID'))
  END
$$;

CREATE FUNCTION is_critical(of_request text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM request_events WHERE request_id = of_request AND name = 'triage')
    AND NOT EXISTS (SELECT 1 FROM triage_acknowledgements WHERE request_id = of_request)
$$;

-- Updates the worklist row of a study. The row is locked before the study and its requests are
-- read. Of two concurrent changes, the later one therefore sees both.
CREATE FUNCTION worklist_study(of_study uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO worklist (key, study_id, state, source, patient, words, arrived_at, changed_at)
    SELECT id::text, id, state, source, worklist_patient(identity), worklist_words(identity),
      first_received_at, clock_timestamp()
    FROM studies WHERE id = of_study
    ON CONFLICT (key) DO NOTHING;
  PERFORM 1 FROM worklist WHERE key = of_study::text FOR UPDATE;
  UPDATE worklist w SET
    state = CASE WHEN s.state = 'submitted' THEN coalesce(r.status, s.state) ELSE s.state END,
    request_id = r.id, endpoint = r.endpoint, tags = s.tags,
    critical = coalesce(is_critical(r.id), false), changed_at = clock_timestamp()
  FROM studies s LEFT JOIN LATERAL (
    SELECT request.id, request.status, request.endpoint
    FROM study_requests made JOIN requests request ON request.id = made.request_id
    WHERE made.study_id = s.id ORDER BY request.id DESC LIMIT 1) r ON true
  WHERE s.id = of_study AND w.key = of_study::text;
END $$;

CREATE FUNCTION worklist_request(of_request text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  of_study uuid;
BEGIN
  SELECT (source ->> 'study')::uuid INTO of_study FROM requests WHERE id = of_request;
  IF of_study IS NOT NULL THEN
    PERFORM worklist_study(of_study);
    RETURN;
  END IF;
  PERFORM 1 FROM worklist WHERE key = of_request FOR UPDATE;
  UPDATE worklist w SET state = r.status, critical = is_critical(r.id),
    changed_at = clock_timestamp()
  FROM requests r WHERE r.id = of_request AND w.key = of_request;
END $$;

CREATE FUNCTION on_study_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO study_history (study_id, state, revision, complete_because, reason)
    VALUES (NEW.id, NEW.state, NEW.revision, NEW.complete_because, NEW.reason);
  PERFORM worklist_study(NEW.id);
  PERFORM console_note(NEW.id::text, 'study');
  RETURN NULL;
END $$;
CREATE TRIGGER study_made AFTER INSERT ON studies
  FOR EACH ROW EXECUTE FUNCTION on_study_change();
CREATE TRIGGER study_changed AFTER UPDATE ON studies FOR EACH ROW
  WHEN ((OLD.state, OLD.revision, OLD.reason) IS DISTINCT FROM (NEW.state, NEW.revision, NEW.reason))
  EXECUTE FUNCTION on_study_change();

CREATE FUNCTION on_study_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM worklist_study(NEW.study_id);
  PERFORM console_note(NEW.study_id::text, 'study');
  RETURN NULL;
END $$;
CREATE TRIGGER study_submitted AFTER INSERT ON study_requests
  FOR EACH ROW EXECUTE FUNCTION on_study_request();

-- Adds all requests stored by one statement to the worklist. Unlike `console_note`, this sends no
-- notification.
CREATE FUNCTION on_requests_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH listed AS (
    INSERT INTO worklist (key, request_id, state, source, endpoint, arrived_at, changed_at)
      SELECT id, id, status, source ->> 'kind', endpoint, created_at, created_at
      FROM made WHERE source ->> 'kind' <> 'dicom' AND account_id = 'default'
      RETURNING key)
  INSERT INTO console_changes (key, what) SELECT key, 'request' FROM listed;
  RETURN NULL;
END $$;
CREATE TRIGGER requests_made AFTER INSERT ON requests REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION on_requests_made();

CREATE FUNCTION on_request_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status <> NEW.status THEN PERFORM worklist_request(NEW.id); END IF;
  IF NEW.status = 'expired' THEN DELETE FROM result_glances WHERE request_id = NEW.id; END IF;
  PERFORM console_note(coalesce(NEW.source ->> 'study', NEW.id), 'request');
  RETURN NULL;
END $$;
CREATE TRIGGER request_changed AFTER UPDATE ON requests FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.stage <> NEW.stage)
  EXECUTE FUNCTION on_request_change();

CREATE FUNCTION on_triage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM worklist_request(NEW.request_id);
  RETURN NULL;
END $$;
CREATE TRIGGER request_flagged AFTER INSERT ON request_events FOR EACH ROW
  WHEN (NEW.name = 'triage') EXECUTE FUNCTION on_triage();

CREATE FUNCTION on_acknowledgement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM worklist_request(NEW.request_id);
  PERFORM console_note(coalesce(source ->> 'study', id), 'request')
    FROM requests WHERE id = NEW.request_id;
  RETURN NULL;
END $$;
CREATE TRIGGER triage_acknowledged AFTER INSERT ON triage_acknowledgements
  FOR EACH ROW EXECUTE FUNCTION on_acknowledgement();

CREATE FUNCTION on_delivery_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM console_note(coalesce(
      (SELECT coalesce(source ->> 'study', id) FROM requests WHERE id = NEW.request_id),
      -- A forward names the object that it sends on.
      (SELECT study_id::text FROM instances
        WHERE NEW.request_id IS NULL AND id::text = NEW.object),
      ''), 'delivery', NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER delivery_made AFTER INSERT ON deliveries FOR EACH ROW
  WHEN (NEW.kind <> 'webhook') EXECUTE FUNCTION on_delivery_change();
CREATE TRIGGER delivery_changed AFTER UPDATE ON deliveries FOR EACH ROW
  WHEN (NEW.kind <> 'webhook' AND (OLD.state, OLD.code, OLD.committed_at)
    IS DISTINCT FROM (NEW.state, NEW.code, NEW.committed_at))
  EXECUTE FUNCTION on_delivery_change();

-- Rebuilds the whole worklist in one pass.
CREATE FUNCTION worklist_fill() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM worklist;
  INSERT INTO worklist (key, study_id, request_id, state, source, endpoint, tags, critical, patient,
      words, arrived_at, changed_at)
    SELECT s.id::text, s.id, r.id,
      CASE WHEN s.state = 'submitted' THEN coalesce(r.status, s.state) ELSE s.state END,
      s.source, r.endpoint, s.tags, coalesce(is_critical(r.id), false),
      worklist_patient(s.identity), worklist_words(s.identity), s.first_received_at,
      coalesce(r.ended_at, s.last_received_at)
    FROM studies s LEFT JOIN (
      SELECT DISTINCT ON (made.study_id) made.study_id, request.id, request.status,
        request.endpoint, request.ended_at
      FROM study_requests made JOIN requests request ON request.id = made.request_id
      ORDER BY made.study_id, request.id DESC) r ON r.study_id = s.id;
  INSERT INTO worklist (key, request_id, state, source, endpoint, critical, arrived_at, changed_at)
    SELECT id, id, status, source ->> 'kind', endpoint, is_critical(id), created_at,
      coalesce(ended_at, created_at)
    FROM requests WHERE source ->> 'kind' <> 'dicom' AND account_id = 'default';
END $$;

-- Updates the worklist after the identity of a study changed, for example because a later object
-- states another patient.
CREATE FUNCTION on_study_identity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE worklist SET patient = worklist_patient(NEW.identity), words = worklist_words(NEW.identity),
    changed_at = clock_timestamp()
  WHERE study_id = NEW.id;
  PERFORM console_note(NEW.id::text, 'study');
  RETURN NULL;
END $$;
CREATE TRIGGER study_identified AFTER UPDATE OF identity ON studies FOR EACH ROW
  WHEN (OLD.identity IS DISTINCT FROM NEW.identity)
  EXECUTE FUNCTION on_study_identity();
