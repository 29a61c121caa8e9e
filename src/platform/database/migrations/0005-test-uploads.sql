-- Whether the file was announced with a test key, because a test key may not use the uploads of a
-- live key. Uploads from before this migration count as live; they expire after a day.
ALTER TABLE files ADD COLUMN test boolean NOT NULL DEFAULT false;
