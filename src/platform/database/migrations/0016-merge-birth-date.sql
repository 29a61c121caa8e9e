-- The birth date of the surviving patient as stated in a merge (ADT^A40); '' if none is stated. If
-- a study that arrives later has a different birth date, the ID may have been issued again to
-- another person.
ALTER TABLE patient_merges ADD COLUMN birth_date text NOT NULL DEFAULT '';
