-- Objects of removed studies that may still lie in the bucket of the site, by their SHA-256: they are
-- removed there once nothing refers to them, also when the bucket was away or the process was killed.
CREATE TABLE unneeded_blobs (
  sha256 text PRIMARY KEY,
  since timestamptz NOT NULL
);
