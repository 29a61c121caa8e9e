-- Whether a test key announced the file: a test key uses no upload of a live key. Uploads live for a
-- day, so those of before the upgrade may be counted as live.
ALTER TABLE files ADD COLUMN test boolean NOT NULL DEFAULT false;
