-- When a complete study is worked on: at once, again after the lease of a process that was killed, or
-- at the next attempt of one that was postponed. `complete_after` is only about studies that still
-- receive objects.
ALTER TABLE studies ADD COLUMN next_attempt_at timestamptz;
UPDATE studies SET next_attempt_at = complete_after WHERE state = 'complete';
DROP INDEX studies_due;
CREATE INDEX studies_due ON studies (complete_after) WHERE state = 'receiving';
CREATE INDEX studies_attempts ON studies (next_attempt_at) WHERE state = 'complete';
-- For the metrics of what is open, which count by state.
CREATE INDEX studies_open ON studies (state) WHERE state IN ('receiving', 'complete');

-- In what the objects of a study name different patients; `hold_reason` is the person's own from now on.
ALTER TABLE studies ADD COLUMN patient_mismatch text CHECK (patient_mismatch IN ('patient-id', 'issuer',
  'birth-date'));
UPDATE studies SET
  patient_mismatch = CASE
    WHEN hold_reason LIKE '%(another issuer of the ID)%' THEN 'issuer'
    WHEN hold_reason LIKE '%(another birth date)%' THEN 'birth-date'
    ELSE 'patient-id' END,
  hold_reason = NULLIF(trim(split_part(hold_reason, 'Its objects name different patients', 1)), '')
  WHERE hold_reason LIKE '%Its objects name different patients%';
