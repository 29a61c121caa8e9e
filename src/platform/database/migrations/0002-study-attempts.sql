-- When a complete study is processed: at once, after the lease of a process that died, or at the
-- next attempt if the study was postponed. `complete_after` now applies only to studies that are
-- still receiving objects.
ALTER TABLE studies ADD COLUMN next_attempt_at timestamptz;
UPDATE studies SET next_attempt_at = complete_after WHERE state = 'complete';
DROP INDEX studies_due;
CREATE INDEX studies_due ON studies (complete_after) WHERE state = 'receiving';
CREATE INDEX studies_attempts ON studies (next_attempt_at) WHERE state = 'complete';
-- For metrics, which count the studies in these states.
CREATE INDEX studies_open ON studies (state) WHERE state IN ('receiving', 'complete');

-- The patient attribute on which the objects of a study disagree. From now on, `hold_reason`
-- contains only the reason entered by a person.
ALTER TABLE studies ADD COLUMN patient_mismatch text CHECK (patient_mismatch IN ('patient-id', 'issuer',
  'birth-date'));
UPDATE studies SET
  patient_mismatch = CASE
    WHEN hold_reason LIKE '%(another issuer of the ID)%' THEN 'issuer'
    WHEN hold_reason LIKE '%(another birth date)%' THEN 'birth-date'
    ELSE 'patient-id' END,
  hold_reason = NULLIF(trim(split_part(hold_reason, 'Its objects name different patients', 1)), '')
  WHERE hold_reason LIKE '%Its objects name different patients%';
