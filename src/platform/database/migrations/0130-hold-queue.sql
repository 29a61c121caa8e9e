-- What a person can choose from when a report could not be matched: references into the EHR.
CREATE TABLE hold_candidates (
  delivery_id text PRIMARY KEY REFERENCES deliveries (id) ON DELETE CASCADE,
  candidates jsonb NOT NULL
);

-- Who looked at, released or rejected which held report, and what they chose. Rows are only ever
-- added; they outlive the delivery.
CREATE TABLE hold_actions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  delivery_id text NOT NULL,
  request_id text NOT NULL,
  destination text NOT NULL,
  action text NOT NULL CHECK (action IN ('show', 'release', 'reject')),
  person text NOT NULL,
  -- Why it was held: a code of the error catalogue.
  code text,
  patient text,
  order_reference text,
  without_order boolean NOT NULL DEFAULT false,
  reason text
);

CREATE INDEX hold_actions_delivery ON hold_actions (delivery_id, id);
