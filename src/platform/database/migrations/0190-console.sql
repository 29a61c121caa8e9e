-- The console: who is signed in, what its worklist shows, and what has changed of it.

-- What a key may do in the console; null: it cannot sign in.
ALTER TABLE api_keys ADD COLUMN console_role text
  CHECK (console_role IN ('viewer', 'clinician', 'operator', 'administrator'));

CREATE TABLE console_sessions (
  -- Hexadecimal SHA-256 of the cookie; the cookie itself is stored nowhere.
  sha256 text PRIMARY KEY,
  -- `key:<id>`, or `oidc:<issuer> <subject>`: sessions of one end together.
  principal text NOT NULL,
  person text NOT NULL,
  -- Of a session by key that of the key counts, as it is when the session is used.
  role text NOT NULL CHECK (role IN ('viewer', 'clinician', 'operator', 'administrator')),
  key_id text REFERENCES api_keys (id),
  csrf text NOT NULL,
  created_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL
);
CREATE INDEX console_sessions_principal ON console_sessions (principal);
CREATE INDEX console_sessions_ends_at ON console_sessions (ends_at);

-- Sign-ins that are at the identity provider (OpenID Connect Core 3.1.2.1, RFC 7636).
CREATE TABLE console_sign_ins (
  -- Hexadecimal SHA-256 of the cookie that binds it to a browser.
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

-- What stands in the worklist of a result: values and counts, no identity. Made when it is first
-- shown and gone with the result.
CREATE TABLE result_glances (
  request_id text PRIMARY KEY REFERENCES requests (id),
  glance jsonb NOT NULL
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
CREATE INDEX study_history_study ON study_history (study_id, id);

-- The worklist as it is read: a narrow row with its own indexes for each study, and for each request
-- of the site's own account that came without one. Triggers keep it, so that no writer needs to know of it.
CREATE TABLE worklist (
  -- Id of the study, else of the request.
  key text PRIMARY KEY,
  study_id uuid UNIQUE REFERENCES studies (id) ON DELETE CASCADE,
  -- The newest request of the study.
  request_id text,
  -- That of the study until it was submitted, then that of the newest request.
  state text NOT NULL,
  source text NOT NULL,
  endpoint text,
  tags text[] NOT NULL DEFAULT '{}',
  -- The newest request has critical flags that nobody has acknowledged.
  critical boolean NOT NULL DEFAULT false,
  -- The same for all studies of a patient; null where the images name none.
  patient text,
  -- Words of name, patient ID and accession number, as they are.
  words tsvector,
  arrived_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL
);
CREATE INDEX worklist_arrived ON worklist (arrived_at DESC, key DESC);
CREATE INDEX worklist_state ON worklist (state, arrived_at DESC, key DESC);
CREATE INDEX worklist_critical ON worklist (arrived_at DESC, key DESC) WHERE critical;
CREATE INDEX worklist_patient ON worklist (patient, arrived_at DESC) WHERE patient IS NOT NULL;
CREATE INDEX worklist_request ON worklist (request_id);
CREATE INDEX worklist_words ON worklist USING gin (words);
CREATE INDEX worklist_tags ON worklist USING gin (tags);

CREATE INDEX deliveries_of_destination ON deliveries (destination, id DESC);
CREATE INDEX deliveries_delivered ON deliveries (ended_at) WHERE state = 'delivered';

-- What changed, for whoever has the console open in any process; kept for a quarter of an hour. Not
-- logged: a page that cannot resume loads anew.
CREATE UNLOGGED TABLE console_changes (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Readers go by it: a lower `seq` may be committed later.
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  key text NOT NULL,
  what text NOT NULL CHECK (what IN ('study', 'request', 'delivery')),
  delivery_id text,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX console_changes_xid ON console_changes (xid, seq);

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

-- Brings the row of a study up to date. It is locked before the study and its requests are read, so
-- that of two changes at a time the later one sees both.
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

-- One statement for the many that a submit stores together, without a notification of its own.
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

-- All rows anew, in one pass over everything: what was there before the table.
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
SELECT worklist_fill();
