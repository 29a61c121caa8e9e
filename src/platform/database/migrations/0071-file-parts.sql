-- Parts of a file that is too large for one PUT, each stored under its own digest until the file is
-- put together.
CREATE TABLE file_parts (
  file_id text NOT NULL,
  part_number integer NOT NULL,
  sha256 text NOT NULL,
  bytes bigint NOT NULL,
  stored_at timestamptz NOT NULL,
  PRIMARY KEY (file_id, part_number)
);

CREATE INDEX file_parts_sha256 ON file_parts (sha256);
