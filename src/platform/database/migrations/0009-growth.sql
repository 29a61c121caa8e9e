-- For pages that would otherwise read a whole table, however long the history is: requests by
-- status, by key and made with test keys, deliveries that are not delivered, actions on the held
-- reports of a request, and the studies that arrived last.
CREATE INDEX requests_by_status ON requests (account_id, status, id DESC);
CREATE INDEX requests_by_key ON requests (key_id, id DESC) WHERE key_id IS NOT NULL;
CREATE INDEX requests_of_tests ON requests (account_id, id DESC) WHERE test;
CREATE INDEX deliveries_not_delivered ON deliveries (state, id DESC) WHERE state <> 'delivered';
CREATE INDEX hold_actions_request ON hold_actions (request_id, id);
CREATE INDEX studies_first_received ON studies (first_received_at);

-- Digests are random, so each new object wrote to a different page of this index, which was the
-- largest of the table. A hash index has a fifth of its size, and is sufficient to find out whether
-- a digest exists. A large table keeps the old index, because the change would lock the table for
-- minutes; docs/operations.md ("Upgrade") describes how to replace the index while the gateway
-- runs.
DO $$
BEGIN
  IF pg_relation_size('instances') < 1024 ^ 3 THEN
    DROP INDEX instances_file_sha256;
    CREATE INDEX instances_file_digest ON instances USING hash (file_sha256);
  END IF;
END $$;
