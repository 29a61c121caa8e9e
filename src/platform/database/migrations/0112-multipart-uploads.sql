-- Uploads in parts that clients PUT to S3-compatible storage, by the id that the storage gave them.
CREATE TABLE multipart_uploads (
  file_id text PRIMARY KEY,
  upload_id text NOT NULL
);
