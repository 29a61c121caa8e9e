-- How many requests of a key are waiting, which `http.queuedPerKey` bounds at each submit.
CREATE INDEX requests_queued_by_key ON requests (key_id) WHERE status = 'queued';
