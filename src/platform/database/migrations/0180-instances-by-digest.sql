-- In a bucket a received object lies under the digest of its file, which others may share.
CREATE INDEX IF NOT EXISTS instances_file_sha256 ON instances (file_sha256);
