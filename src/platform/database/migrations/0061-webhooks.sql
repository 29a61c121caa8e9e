-- Attempts that were made before a person sent the delivery again; the retry schedule starts over.
ALTER TABLE deliveries ADD COLUMN attempts_before integer NOT NULL DEFAULT 0;

-- Secrets that sign the webhooks of an account: HMAC needs them as they are.
CREATE TABLE webhook_secrets (
  account_id text NOT NULL,
  secret text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Set when it was rotated: until then it signs beside the new one.
  ends_at timestamptz
);

CREATE UNIQUE INDEX webhook_secrets_current ON webhook_secrets (account_id) WHERE ends_at IS NULL;
CREATE INDEX webhook_secrets_account ON webhook_secrets (account_id);

-- The addresses an account had its requests announced to; `id` is the destination of a delivery.
CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  url text NOT NULL,
  -- First failure since the last success.
  failing_since timestamptz,
  disabled_at timestamptz,
  UNIQUE (account_id, url)
);

CREATE TABLE webhook_attempts (
  delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  attempt integer NOT NULL,
  at timestamptz NOT NULL,
  -- HTTP status; null when there was no answer, `error` then says why.
  status integer,
  duration_ms integer NOT NULL,
  -- Bytes read of the answer, of which `answer` is the first KiB: for the operator, never shown to
  -- whoever named the address.
  answer_bytes integer NOT NULL,
  answer text,
  error text,
  PRIMARY KEY (delivery_id, attempt)
);
