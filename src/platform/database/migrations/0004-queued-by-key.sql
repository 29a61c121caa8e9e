-- For counting the waiting requests of a key at each submission, which `http.queuedPerKey` limits.
CREATE INDEX requests_queued_by_key ON requests (key_id) WHERE status = 'queued';
