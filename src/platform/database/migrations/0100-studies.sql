-- Studies as they arrive by DICOM. Identity stays here and is joined back when results leave.
CREATE TABLE studies (
  id uuid PRIMARY KEY,
  study_instance_uid text NOT NULL UNIQUE,
  source text NOT NULL,
  calling_ae_title text NOT NULL,
  called_ae_title text NOT NULL,
  state text NOT NULL CHECK (state IN ('receiving', 'complete', 'submitted', 'unrouted', 'refused')),
  -- Counts up when something arrives after the study was complete; each revision is one request.
  revision integer NOT NULL DEFAULT 1,
  instance_count integer NOT NULL DEFAULT 0,
  -- Attributes of the first object by DICOM keyword (DicomIdentity).
  identity jsonb NOT NULL,
  first_received_at timestamptz NOT NULL,
  last_received_at timestamptz NOT NULL,
  complete_after timestamptz NOT NULL,
  -- Why the study is where it is, for a person; null where there is nothing to say.
  reason text
);

CREATE INDEX studies_due ON studies (complete_after) WHERE state IN ('receiving', 'complete');

CREATE TABLE instances (
  id uuid PRIMARY KEY,
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  sop_instance_uid text NOT NULL,
  -- Position in the study by arrival, from 1; names the file in the request.
  ordinal integer NOT NULL,
  -- Revision of the study that first holds the object.
  revision integer NOT NULL,
  -- Below the data folder.
  path text NOT NULL UNIQUE,
  bytes bigint NOT NULL,
  -- Of the whole file and of the data set alone; the latter tells a duplicate from a conflict.
  file_sha256 text NOT NULL,
  data_set_sha256 text NOT NULL,
  -- Same SOP Instance UID as an earlier object, other content.
  conflict boolean NOT NULL,
  transfer_syntax text NOT NULL,
  header jsonb NOT NULL,
  received_at timestamptz NOT NULL,
  UNIQUE (study_id, ordinal),
  UNIQUE (study_id, sop_instance_uid, data_set_sha256)
);

-- What became of each complete revision.
CREATE TABLE study_requests (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  rule text NOT NULL,
  request_id text NOT NULL,
  submitted_at timestamptz NOT NULL,
  PRIMARY KEY (study_id, revision)
);

CREATE INDEX study_requests_request ON study_requests (request_id);
