-- Associations that are inside an object: what they send may be of a study whose quiet time is over.
CREATE TABLE receptions_under_way (
  association text PRIMARY KEY,
  source text NOT NULL,
  calling_ae_title text NOT NULL,
  began_at timestamptz NOT NULL,
  -- The association hangs, or its process is gone, when its bytes have not moved until then.
  silent_after timestamptz NOT NULL
);
