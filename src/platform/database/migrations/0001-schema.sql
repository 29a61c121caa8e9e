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

-- Token bucket of each key, shared by all processes of a site. Unlogged, because most calls write
-- it: a crash of the database gives each key at most one minute's calls again.
CREATE UNLOGGED TABLE call_buckets (
  key_id text PRIMARY KEY,
  calls_left double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  -- How many of the calls of the last request for tokens were granted.
  granted integer NOT NULL
);

-- Answers of calls that carried an Idempotency-Key, so that a repeated call gets the same answer.
CREATE TABLE idempotency_keys (
  account_id text NOT NULL REFERENCES accounts (id),
  method text NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  -- Hexadecimal SHA-256 of the canonical body.
  fingerprint text NOT NULL,
  created_at timestamptz NOT NULL,
  -- When the call that is being worked on began; set again when a call that died is repeated.
  started_at timestamptz NOT NULL,
  -- Null while the first call runs.
  status integer,
  location text,
  body json,
  -- A test key and a live key of one account may send the same Idempotency-Key: the answer of the
  -- mock pipeline must not answer a live call.
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
  -- Null until the file has arrived, for a file that was announced without its size (the compatible
  -- queue).
  bytes bigint,
  status text NOT NULL CHECK (status IN ('pending', 'ready')),
  -- Hexadecimal SHA-256 of the bytes received; null until a PUT arrived whole.
  sha256 text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK (status = 'pending' OR sha256 IS NOT NULL),
  CHECK (status = 'pending' OR bytes IS NOT NULL)
);
CREATE INDEX files_expires_at ON files (expires_at);
-- Each new upload is checked against the few that are still arriving, not against all files.
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

-- Requests. The row is the truth; the job on the queue only says that somebody should look at it.
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
  -- How often a worker has claimed the request; also the fencing token of the worker that holds the
  -- lease.
  attempts integer NOT NULL DEFAULT 0,
  -- How often a pipeline process died while it worked on the request.
  crashes integer NOT NULL DEFAULT 0,
  lease_until timestamptz,
  -- When the job was last put on the queue, or is about to be; null when that failed.
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

-- What happened to a request, in order. There is no foreign key: rows of `requests` are never
-- deleted, and the check would lock the request for each event of each submit.
CREATE TABLE request_events (
  request_id text NOT NULL,
  seq integer NOT NULL,
  name text NOT NULL CHECK (name IN ('status', 'stage', 'triage', 'partial', 'error', 'done')),
  -- Null for `done`, which shows the request as it is when the event is read.
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
  -- Null for a received object that is forwarded as it came; `object` is then the id of the
  -- instance.
  request_id text REFERENCES requests (id) ON DELETE CASCADE,
  kind text NOT NULL,
  destination text NOT NULL,
  object text NOT NULL,
  state text NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'sending', 'delivered', 'dead', 'diverted')),
  -- Attempts since the schedule began; see attempts_before.
  attempt integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz,
  give_up_at timestamptz NOT NULL,
  code text,
  detail text,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- Attempts made before a person sent the delivery again; the retry schedule then starts over.
  attempts_before integer NOT NULL DEFAULT 0,
  -- When the PACS committed to keep all objects of the delivery (storage commitment).
  committed_at timestamptz,
  -- Deliveries of one study to one destination keep their order (src/core/outbox). Null where there
  -- is no study: a webhook, the result of an API client.
  study text,
  revision integer,
  rank smallint NOT NULL DEFAULT 0,
  -- Failures that the object itself may have caused. An object with too many of them no longer
  -- holds up the deliveries behind it.
  own_failures integer NOT NULL DEFAULT 0,
  -- The delivery that this one replaces at another destination.
  alternate_of text REFERENCES deliveries (id) ON DELETE CASCADE,
  UNIQUE (request_id, destination, object)
);
CREATE INDEX deliveries_alternate ON deliveries (alternate_of) WHERE alternate_of IS NOT NULL;
CREATE INDEX deliveries_by_destination ON deliveries (destination, state, id);
CREATE INDEX deliveries_dead ON deliveries (destination) WHERE state = 'dead';
CREATE INDEX deliveries_delivered ON deliveries (ended_at) WHERE state = 'delivered';
-- In the order in which deliveries are claimed: everything that waited for a destination becomes
-- due at the same moment when it works again.
CREATE INDEX deliveries_due ON deliveries (next_at, id) WHERE state IN ('pending', 'sending');
-- GET /metrics reads these at each scrape, however long the history is.
CREATE INDEX deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX deliveries_forward ON deliveries (object, destination) WHERE request_id IS NULL;
-- The outbox looks for the lease that runs out next after every send.
CREATE INDEX deliveries_leases ON deliveries (lease_until) WHERE state = 'sending';
CREATE INDEX deliveries_of_destination ON deliveries (destination, id DESC);
CREATE INDEX deliveries_order ON deliveries (destination, study)
  WHERE state IN ('pending', 'sending') AND study IS NOT NULL;

-- Destinations that asked for a pause (Retry-After); nothing is sent to them until then.
CREATE TABLE destination_holds (
  destination text PRIMARY KEY,
  until timestamptz NOT NULL
);

-- Circuit breakers of destinations that fail as a whole; a destination that works has no row
-- (src/core/outbox/breaker.ts).
CREATE TABLE destination_breakers (
  destination text PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('closed', 'open', 'half-open')),
  -- Failures in a row, without a successful delivery in between.
  failures integer NOT NULL,
  -- Error code of the last failure.
  code text NOT NULL,
  -- Since when the breaker has not been closed.
  opened_at timestamptz,
  -- When the destination is probed next.
  probe_at timestamptz,
  -- Failed probes since the breaker opened.
  probes integer NOT NULL DEFAULT 0
);

-- The objects that a PACS accepted from a delivery, and whether it has committed to keep them.
CREATE TABLE delivered_objects (
  delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  destination text NOT NULL,
  sop_class_uid text NOT NULL,
  sop_instance_uid text NOT NULL,
  -- Transaction UID of the last commitment request; null: none was sent yet.
  transaction_uid text,
  asked_at timestamptz,
  committed_at timestamptz,
  -- Failure Reason (0008,1197) that the PACS reported.
  failure_reason integer,
  -- When the next commitment request is due. A request that could not be sent is repeated soon,
  -- then less and less often.
  ask_at timestamptz,
  -- Commitment requests in a row that could not be sent.
  failed_asks integer NOT NULL DEFAULT 0,
  -- When the PACS answered the commitment request; ends that step in traces.
  answered_at timestamptz,
  -- Commitment requests that the PACS accepted since the object was delivered.
  asks integer NOT NULL DEFAULT 0,
  PRIMARY KEY (delivery_id, sop_instance_uid)
);
CREATE INDEX delivered_objects_answered ON delivered_objects (answered_at)
  WHERE answered_at IS NOT NULL;
CREATE INDEX delivered_objects_open ON delivered_objects (destination)
  WHERE committed_at IS NULL AND failure_reason IS NULL;
CREATE INDEX delivered_objects_transaction ON delivered_objects (transaction_uid);

-- Every transaction under which a PACS was asked to commit to an object. It may report on any of
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
  -- Set when the secret was rotated: until then it signs beside the new one.
  ends_at timestamptz
);
CREATE INDEX webhook_secrets_account ON webhook_secrets (account_id);
CREATE UNIQUE INDEX webhook_secrets_current ON webhook_secrets (account_id) WHERE ends_at IS NULL;

-- The webhook URLs of an account; `id` is the destination of a delivery.
CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  url text NOT NULL,
  -- First failure since the last success.
  failing_since timestamptz,
  disabled_at timestamptz,
  UNIQUE (account_id, url)
);

-- Every attempt to send a webhook.
CREATE TABLE webhook_attempts (
  delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  attempt integer NOT NULL,
  at timestamptz NOT NULL,
  -- HTTP status; null when there was no answer: `error` then says why.
  status integer,
  duration_ms integer NOT NULL,
  -- Bytes read of the answer. `answer` is its first KiB, for the operator; it is never shown to the
  -- client who named the URL.
  answer_bytes integer NOT NULL,
  answer text,
  error text,
  PRIMARY KEY (delivery_id, attempt)
);

-- Held reports

-- The patients and orders that a person can choose from when a report could not be matched, as
-- references into the EHR.
CREATE TABLE hold_candidates (
  delivery_id text PRIMARY KEY REFERENCES deliveries (id) ON DELETE CASCADE,
  candidates jsonb NOT NULL
);

-- Who looked at, released or rejected a held report, and what they chose. Rows are only added; they
-- outlive the delivery.
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

-- Studies received by DICOM. The identity stays here and is joined back when results leave.
CREATE TABLE studies (
  id uuid PRIMARY KEY,
  study_instance_uid text NOT NULL UNIQUE,
  source text NOT NULL,
  calling_ae_title text NOT NULL,
  called_ae_title text NOT NULL,
  state text NOT NULL
    CHECK (state IN ('receiving', 'complete', 'submitted', 'routed', 'held', 'ignored', 'unrouted',
      'refused')),
  -- Incremented when objects arrive after the study was complete; each revision is interpreted
  -- anew.
  revision integer NOT NULL DEFAULT 1,
  instance_count integer NOT NULL DEFAULT 0,
  -- Attributes of the first object by DICOM keyword (DicomIdentity).
  identity jsonb NOT NULL,
  first_received_at timestamptz NOT NULL,
  last_received_at timestamptz NOT NULL,
  -- When the study counts as complete unless more objects arrive.
  complete_after timestamptz NOT NULL,
  -- Why the study is in this state, for a person; null where nothing needs to be said.
  reason text,
  -- The signal that set `complete_after` (src/core/studies).
  complete_because text NOT NULL DEFAULT 'quiet-time',
  -- Set by routing rules.
  tags text[] NOT NULL DEFAULT '{}',
  -- The revision that a person released: rules that hold do not apply to it.
  released_revision integer,
  -- The rule that this person chose; null: the rules decide.
  chosen_rule text,
  -- Why a person wants the study to wait once it is complete; null when nobody does.
  hold_reason text,
  -- The rules that acted on the revision that was judged last, in their order, including those that
  -- made no request.
  acting_rules text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX studies_due ON studies (complete_after) WHERE state IN ('receiving', 'complete');
CREATE INDEX studies_for_a_person ON studies (state) WHERE state IN ('held', 'unrouted', 'refused');

-- Received objects. The file is the journal: the row follows it and is made again from it at start
-- when it is missing.
CREATE TABLE instances (
  id uuid PRIMARY KEY,
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  sop_instance_uid text NOT NULL,
  -- Position in the study by arrival, from 1; names the file in the request.
  ordinal integer NOT NULL,
  -- The first revision of the study that has the object.
  revision integer NOT NULL,
  -- Relative to the data folder.
  path text NOT NULL UNIQUE,
  bytes bigint NOT NULL,
  -- Digests of the whole file and of the data set alone; the second one tells a duplicate from a
  -- conflict.
  file_sha256 text NOT NULL,
  data_set_sha256 text NOT NULL,
  -- Same SOP Instance UID as an earlier object, but different content.
  conflict boolean NOT NULL,
  transfer_syntax text NOT NULL,
  header jsonb NOT NULL,
  received_at timestamptz NOT NULL,
  UNIQUE (study_id, ordinal),
  UNIQUE (study_id, sop_instance_uid, data_set_sha256)
);
-- In a bucket, a received object is stored under the digest of its file, which several objects may
-- share.
CREATE INDEX instances_file_sha256 ON instances (file_sha256);
-- A delivery names the object that it forwards by its id as text.
CREATE INDEX instances_id_text ON instances ((id::text));
-- Storage commitment looks objects up by their UID alone.
CREATE INDEX instances_sop_instance_uid ON instances (sop_instance_uid);

-- The requests that each complete revision led to, one for each rule that ran an endpoint.
CREATE TABLE study_requests (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  rule text NOT NULL,
  request_id text NOT NULL,
  submitted_at timestamptz NOT NULL,
  PRIMARY KEY (study_id, revision, rule)
);
CREATE INDEX study_requests_request ON study_requests (request_id);

-- What the classifiers saw on the images of a revision, for rules that ask for it: `known` by fact,
-- or `unknown` with the reason (ContentFacts in src/core/studies).
CREATE TABLE study_content (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  facts jsonb NOT NULL,
  PRIMARY KEY (study_id, revision)
);

-- Every state that a study was in, with the reason.
CREATE TABLE study_history (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  state text NOT NULL,
  revision integer NOT NULL,
  complete_because text NOT NULL,
  reason text
);
-- Studies that rules only forwarded have no request that ends; traces read their end here.
CREATE INDEX study_history_routed ON study_history (at) WHERE state = 'routed';
CREATE INDEX study_history_study ON study_history (study_id, id);

-- Associations that are in the middle of an object. It may belong to a study whose quiet time is
-- over.
CREATE TABLE receptions_under_way (
  association text PRIMARY KEY,
  source text NOT NULL,
  calling_ae_title text NOT NULL,
  began_at timestamptz NOT NULL,
  -- When no bytes have arrived by then, the association hangs or its process has died.
  silent_after timestamptz NOT NULL
);

-- Objects that a peer said a study has; the study is complete when all of them are here.
CREATE TABLE study_expectations (
  study_instance_uid text NOT NULL,
  -- SOP Instance UID of the performed procedure step or of the notification.
  stated_by text NOT NULL,
  signal text NOT NULL,
  sop_instance_uids text[] NOT NULL,
  stated_at timestamptz NOT NULL,
  PRIMARY KEY (study_instance_uid, stated_by)
);

-- Modality Performed Procedure Steps as modalities report them (PS3.4 F.7).
CREATE TABLE performed_procedure_steps (
  sop_instance_uid text PRIMARY KEY,
  study_instance_uids text[] NOT NULL,
  status text NOT NULL CHECK (status IN ('IN PROGRESS', 'COMPLETED', 'DISCONTINUED')),
  calling_ae_title text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The objects that the step has named so far: its last N-SET need not repeat them.
  sop_instance_uids text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX performed_procedure_steps_open ON performed_procedure_steps
  USING gin (study_instance_uids) WHERE status = 'IN PROGRESS';

-- Storage commitment reports that we owe to peers (PS3.4 J), until the peer has accepted them.
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
  -- A report that could not be delivered for days is given up.
  requested_at timestamptz NOT NULL DEFAULT now(),
  given_up_at timestamptz,
  PRIMARY KEY (transaction_uid, calling_ae_title)
);
CREATE INDEX commitment_reports_due ON commitment_reports (next_at) WHERE told_at IS NULL;

-- Archives

-- Studies that are being retrieved from an archive, or will be (dimse/archive).
CREATE TABLE retrievals (
  id uuid PRIMARY KEY,
  archive text NOT NULL,
  study_instance_uid text NOT NULL,
  -- A person asked for the study, objects of a received study are missing, or it is a prior of
  -- another study.
  purpose text NOT NULL CHECK (purpose IN ('study', 'missing', 'prior')),
  state text NOT NULL CHECK (state IN ('waiting', 'running', 'succeeded', 'failed')),
  asked_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- Lease of the process that works on it. Objects of the study that arrive until then count as
  -- retrieved.
  taken_until timestamptz,
  -- How many of the wanted objects the archive has, and how many of those are here.
  wanted integer,
  here integer,
  code text,
  -- For a person; contains no identity.
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
  -- asking: no answer yet; behind: the archive does not have everything yet; missing: the archive
  -- has more; complete: everything is here; unknown: the archive did not answer in time, or does
  -- not know the study.
  state text NOT NULL CHECK (state IN ('asking', 'behind', 'missing', 'complete', 'unknown')),
  expected integer,
  missing integer,
  ask_at timestamptz NOT NULL,
  -- The study waits no longer than this; set when its quiet time is over and objects are missing.
  hold_until timestamptz,
  detail text,
  PRIMARY KEY (study_id, revision)
);
CREATE INDEX archive_counts_due ON archive_counts (ask_at) WHERE state <> 'complete';

-- Searches for earlier examinations that a study waits for before it is submitted (dimse/archive).
CREATE TABLE prior_searches (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  rule text NOT NULL,
  state text NOT NULL CHECK (state IN ('searching', 'found', 'none', 'unavailable')),
  -- As the rule had them.
  settings jsonb NOT NULL,
  -- When the study is submitted without priors.
  deadline timestamptz NOT NULL,
  taken_until timestamptz,
  -- Ids of `instances` that are handed to the pipeline as priors.
  instances uuid[] NOT NULL DEFAULT '{}',
  -- For a person and for the request; contains no identity and no date.
  detail text,
  PRIMARY KEY (study_id, revision, rule)
);
CREATE INDEX prior_searches_open ON prior_searches (deadline) WHERE state = 'searching';

-- Audit

-- Who read or changed what, and when. Rows are only added. Rows of API calls have an account, key,
-- call id and status; others have an actor and an outcome.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  account_id text,
  key_id text,
  -- `request.read`, …; the list is in src/core/audit/audit.ts.
  action text NOT NULL,
  -- Null for a list, and for a call that named none of our requests.
  request_id text,
  -- HTTP status of the answer.
  status integer,
  -- X-Request-Id of the call.
  call_id text,
  -- Who acted, when it was not an API key: `person:…`, `ae:…`, `gateway`.
  actor text,
  address text,
  -- No foreign key: the entry outlives the study.
  study_id uuid,
  -- success, refused or failed, for rows that are not API calls.
  outcome text,
  -- Counts and our own names; contains no identity.
  detail jsonb,
  CONSTRAINT audit_call CHECK ((call_id IS NULL) = (status IS NULL))
);
CREATE INDEX audit_account ON audit (account_id, id);
CREATE INDEX audit_request ON audit (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_study ON audit (study_id, id) WHERE study_id IS NOT NULL;

-- Each seal covers the rows since the previous one and holds a hash of each, chained through all
-- rows (src/core/audit/seal.ts). Rows are only added.
CREATE TABLE audit_seals (
  id bigint PRIMARY KEY,
  sealed_at timestamptz NOT NULL,
  -- The highest id of `audit` that the seal covers.
  last_row bigint NOT NULL,
  row_ids bigint[] NOT NULL,
  -- 32 bytes for each id.
  row_hashes bytea NOT NULL,
  previous bytea NOT NULL,
  head bytea NOT NULL,
  -- The signing key: hexadecimal SHA-256 of its public key.
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

-- Spans that were exported, so that only one process of a site exports them. Unlogged: after a
-- crash of the database a span of the last hour may be exported twice.
CREATE UNLOGGED TABLE trace_exports (
  span_id text PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now()
);

-- Console

-- Who is signed in to the console.
CREATE TABLE console_sessions (
  -- Hexadecimal SHA-256 of the cookie; the cookie itself is never stored.
  sha256 text PRIMARY KEY,
  -- `key:<id>` or `oidc:<issuer> <subject>`: all sessions of one person can be ended together.
  principal text NOT NULL,
  person text NOT NULL,
  -- For a session by key, the current role of the key counts instead.
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

-- Who has seen the critical flags of a request.
CREATE TABLE triage_acknowledgements (
  request_id text PRIMARY KEY REFERENCES requests (id),
  at timestamptz NOT NULL,
  person text NOT NULL
);

-- What the worklist shows of a result: values and counts, no identity. Made when it is first shown,
-- removed with the result.
CREATE TABLE result_glances (
  request_id text PRIMARY KEY REFERENCES requests (id),
  glance jsonb NOT NULL
);

-- The worklist as the console reads it: a narrow, indexed row for each study, and for each request
-- of the site's own account that came without a study. Triggers keep it up to date, so that no
-- writer needs to know about it.
CREATE TABLE worklist (
  -- Id of the study, or of the request when there is no study.
  key text PRIMARY KEY,
  study_id uuid UNIQUE REFERENCES studies (id) ON DELETE CASCADE,
  -- The newest request of the study.
  request_id text,
  -- State of the study until it is submitted, then status of the newest request.
  state text NOT NULL,
  source text NOT NULL,
  endpoint text,
  tags text[] NOT NULL DEFAULT '{}',
  -- The newest request has critical flags that nobody has acknowledged.
  critical boolean NOT NULL DEFAULT false,
  -- The same for all studies of a patient; null where the images name none.
  patient text,
  -- Words of Patient's Name, Patient ID and Accession Number.
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

-- What changed, for every open console in any process; kept for a quarter of an hour. Unlogged: a
-- page that cannot resume reloads.
CREATE UNLOGGED TABLE console_changes (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Readers go by the transaction id: a lower `seq` may be committed later.
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  key text NOT NULL,
  what text NOT NULL CHECK (what IN ('study', 'request', 'delivery')),
  delivery_id text,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX console_changes_xid ON console_changes (xid, seq);

INSERT INTO accounts (id, name) VALUES ('default', 'Default account');

-- Functions and triggers that keep the worklist and tell open consoles what changed

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

-- Updates the worklist row of a study. The row is locked before the study and its requests are read,
-- so that the later of two concurrent changes sees both.
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

-- One statement for all requests that are stored together; sends no notification.
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

-- An object that arrives later may correct the patient that the first object of the study named.
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
