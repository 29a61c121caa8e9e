-- The review of a result by a person (src/core/reviews). A request without a row has not been
-- reviewed. The reviewed result is not stored: it follows from the evidence of the request and the
-- changes that were not undone.
CREATE TABLE reviews (
  request_id text PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
  state text NOT NULL DEFAULT 'in-review' CHECK (state IN ('in-review', 'signed', 'amended')),
  -- Counts every change and signature: the ETag of the review.
  revision integer NOT NULL DEFAULT 0,
  -- Signed results so far; the draft is 0.
  signed_revision integer NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- What persons changed, in order; a row is never deleted. `effects` is what the change does to the
-- evidence, worked out once when it was made.
CREATE TABLE review_changes (
  request_id text NOT NULL REFERENCES reviews (request_id) ON DELETE CASCADE,
  id integer NOT NULL,
  at timestamptz NOT NULL,
  -- Who: `key:<id>` or the person's subject at the identity provider; and the name as shown.
  author_id text NOT NULL,
  author text NOT NULL,
  change jsonb NOT NULL,
  effects jsonb NOT NULL,
  before jsonb NOT NULL,
  after jsonb NOT NULL,
  PRIMARY KEY (request_id, id)
);

-- Signatures under a revision of the result. Where a site asks for two, the result is signed with
-- the second.
CREATE TABLE review_signatures (
  request_id text NOT NULL REFERENCES reviews (request_id) ON DELETE CASCADE,
  signed_revision integer NOT NULL,
  position integer NOT NULL,
  at timestamptz NOT NULL,
  observer_id text NOT NULL,
  observer text NOT NULL,
  organization text NOT NULL,
  statement text,
  PRIMARY KEY (request_id, signed_revision, position)
);

-- Who has a review open: a row per open event stream, kept alive by the stream.
CREATE TABLE review_readers (
  request_id text NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
  stream text NOT NULL,
  reader_id text NOT NULL,
  reader text NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (request_id, stream)
);

-- The signed revision of the result that is delivered; 0 is the draft. The signed result goes to the
-- same destinations as a delivery of its own.
ALTER TABLE deliveries ADD COLUMN result_revision integer NOT NULL DEFAULT 0;
ALTER TABLE deliveries DROP CONSTRAINT deliveries_request_id_destination_object_key;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_object_once
  UNIQUE (request_id, destination, object, result_revision);
