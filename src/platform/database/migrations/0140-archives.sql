-- Objects that are fetched from an archive, or are to be (dimse/archive/retrievals.ts).
CREATE TABLE retrievals (
  id uuid PRIMARY KEY,
  archive text NOT NULL,
  study_instance_uid text NOT NULL,
  -- Why: a person asked for the study, objects of a study are missing, or it is a prior of another.
  purpose text NOT NULL CHECK (purpose IN ('study', 'missing', 'prior')),
  state text NOT NULL CHECK (state IN ('waiting', 'running', 'succeeded', 'failed')),
  asked_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- Objects of the study that arrive until then are those that were asked for; nobody else takes the
  -- retrieval up before.
  taken_until timestamptz,
  -- Objects that the archive has of those that are wanted, and how many of them are here.
  wanted integer,
  here integer,
  code text,
  -- For a person; no identity.
  detail text
);
CREATE INDEX retrievals_waiting ON retrievals (asked_at) WHERE state IN ('waiting', 'running');
CREATE INDEX retrievals_study ON retrievals (study_instance_uid, purpose);

-- What an archive has of a study that is received, held against what has come
-- (dimse/archive/expected-count.ts).
CREATE TABLE archive_counts (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  archive text NOT NULL,
  -- asking: no answer yet; behind: it has not yet all that we have; missing: it has more;
  -- complete: all is here; unknown: it could not be asked in time, or does not know the study.
  state text NOT NULL CHECK (state IN ('asking', 'behind', 'missing', 'complete', 'unknown')),
  expected integer,
  missing integer,
  ask_at timestamptz NOT NULL,
  -- The study does not wait longer; set when its own time has come and objects are missing.
  hold_until timestamptz,
  detail text,
  PRIMARY KEY (study_id, revision)
);
CREATE INDEX archive_counts_due ON archive_counts (ask_at) WHERE state <> 'complete';

-- Earlier examinations that are looked for before a study is submitted (src/core/studies/priors.ts).
CREATE TABLE prior_searches (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  rule text NOT NULL,
  state text NOT NULL CHECK (state IN ('searching', 'found', 'none', 'unavailable')),
  -- As the rule had them.
  settings jsonb NOT NULL,
  -- The study goes without them then.
  deadline timestamptz NOT NULL,
  taken_until timestamptz,
  -- Rows of `instances` that go along.
  instances uuid[] NOT NULL DEFAULT '{}',
  -- For a person and for the request; no identity, no date.
  detail text,
  PRIMARY KEY (study_id, revision, rule)
);
CREATE INDEX prior_searches_open ON prior_searches (deadline) WHERE state = 'searching';
