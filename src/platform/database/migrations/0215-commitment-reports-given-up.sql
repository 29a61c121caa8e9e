-- A report that could not be told for days is given up: its machine has never heard of the commitment.
ALTER TABLE commitment_reports ADD COLUMN requested_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE commitment_reports ADD COLUMN given_up_at timestamptz;
-- Those of sources without a `node` were never tried again.
UPDATE commitment_reports SET next_at = now() WHERE told_at IS NULL AND next_at = 'infinity';
