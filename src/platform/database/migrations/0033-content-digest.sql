-- The digest of what an object says, whatever its encoding: an archive returns an object in an encoding
-- of its own. Computed only when another object with the same SOP Instance UID arrives; empty if the
-- content could not be read then, and such an object equals no other. Objects were compared by
-- data_set_sha256 until now, as processes of the previous version still do.
ALTER TABLE instances ADD COLUMN content_sha256 text;
