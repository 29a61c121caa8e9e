-- The digest of a data set is computed only when another object with the same SOP Instance UID
-- arrives. It is empty if the content could not be read then; such an object equals no other.
ALTER TABLE instances ALTER COLUMN data_set_sha256 DROP NOT NULL;
