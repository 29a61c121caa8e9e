-- The review of a result by a person (src/core/reviews). A request without a row has not been
-- reviewed. The reviewed result is not stored, but computed from the evidence of the request and
-- the changes that have not been undone.
CREATE TABLE reviews (
  request_id text PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
  state text NOT NULL DEFAULT 'in-review' CHECK (state IN ('in-review', 'signed', 'amended')),
  -- Number of changes and signatures so far, used as the ETag of the review.
  revision integer NOT NULL DEFAULT 0,
  -- Number of signed results so far; 0 while the result is a draft.
  signed_revision integer NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT now()
);

-- Changes made by people, in order; rows are never deleted. `effects` is what a change does to the
-- evidence, computed once when the change was made.
CREATE TABLE review_changes (
  request_id text NOT NULL REFERENCES reviews (request_id) ON DELETE CASCADE,
  id integer NOT NULL,
  at timestamptz NOT NULL,
  -- The author: `key:<id>`, or the person's subject at the identity provider; `author` is the name
  -- as shown.
  author_id text NOT NULL,
  author text NOT NULL,
  change jsonb NOT NULL,
  effects jsonb NOT NULL,
  before jsonb NOT NULL,
  after jsonb NOT NULL,
  PRIMARY KEY (request_id, id)
);

-- Signatures of a revision of the result. If a site requires two, the second one makes the result
-- signed.
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

-- People who have a review open: one row for each open event stream, which the stream renews
-- regularly.
CREATE TABLE review_readers (
  request_id text NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
  stream text NOT NULL,
  reader_id text NOT NULL,
  reader text NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (request_id, stream)
);

-- The signed revision of the result that is delivered; 0 for the draft. A signed result goes to the
-- same destinations as the draft, as a separate delivery.
ALTER TABLE deliveries ADD COLUMN result_revision integer NOT NULL DEFAULT 0;
ALTER TABLE deliveries DROP CONSTRAINT deliveries_request_id_destination_object_key;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_object_once
  UNIQUE (request_id, destination, object, result_revision);
