-- A test key and a live one of the same account may send the same Idempotency-Key: the answer of the
-- mock backend is not the answer of a live call.
ALTER TABLE idempotency_keys ADD COLUMN test boolean NOT NULL DEFAULT false;
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey;
ALTER TABLE idempotency_keys ADD PRIMARY KEY (account_id, test, method, path, key);
