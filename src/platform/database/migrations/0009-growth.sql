-- For pages that read a whole table, however long the history was: the requests of one status, of one
-- key or of test keys, the deliveries that have not arrived, the actions on held reports of a request,
-- and the studies that arrived last.
CREATE INDEX requests_by_status ON requests (account_id, status, id DESC);
CREATE INDEX requests_by_key ON requests (key_id, id DESC) WHERE key_id IS NOT NULL;
CREATE INDEX requests_of_tests ON requests (account_id, id DESC) WHERE test;
CREATE INDEX deliveries_not_delivered ON deliveries (state, id DESC) WHERE state <> 'delivered';
CREATE INDEX hold_actions_request ON hold_actions (request_id, id);
CREATE INDEX studies_first_received ON studies (first_received_at);

-- Digests are random: each new object wrote to another page of this index, which was the largest of
-- the table. A hash index has a fifth of its size and serves the only question, whether a digest is
-- there. A large table keeps the old index, since the change would lock it for minutes:
-- docs/operations.md ("Upgrade") says how to replace it while the gateway runs.
DO $$
BEGIN
  IF pg_relation_size('instances') < 1024 ^ 3 THEN
    DROP INDEX instances_file_sha256;
    CREATE INDEX instances_file_digest ON instances USING hash (file_sha256);
  END IF;
END $$;
