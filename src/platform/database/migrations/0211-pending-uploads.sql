-- Each new upload is measured against those under way, which are few beside the files that are ready.
CREATE INDEX files_pending ON files (expires_at) WHERE status = 'pending' AND sha256 IS NULL;
