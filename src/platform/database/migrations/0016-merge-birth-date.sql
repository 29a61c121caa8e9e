-- The birth date that a merge (ADT^A40) states of the surviving patient; '' if it states none. A study
-- that arrives later with another birth date may be of a person to whom the ID was issued again.
ALTER TABLE patient_merges ADD COLUMN birth_date text NOT NULL DEFAULT '';
