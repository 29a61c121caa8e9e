CREATE TABLE accounts (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A site starts with one account; keys made without naming one belong to it.
INSERT INTO accounts (id, name) VALUES ('default', 'Default account');

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  -- Hexadecimal SHA-256 of the key; the key itself is shown once and never stored.
  sha256 text NOT NULL UNIQUE,
  test boolean NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);

CREATE TABLE files (
  id text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts (id),
  filename text NOT NULL,
  media_type text NOT NULL,
  bytes bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'ready')),
  -- Hexadecimal SHA-256 of the bytes received; null until the first PUT that arrived whole.
  sha256 text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK (status = 'pending' OR sha256 IS NOT NULL)
);

CREATE INDEX files_expires_at ON files (expires_at);
CREATE INDEX files_sha256 ON files (sha256);

CREATE TABLE idempotency_keys (
  account_id text NOT NULL REFERENCES accounts (id),
  method text NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  -- Hexadecimal SHA-256 of the canonical body.
  fingerprint text NOT NULL,
  created_at timestamptz NOT NULL,
  -- When the call that works on it began; moves on when one that died is repeated.
  started_at timestamptz NOT NULL,
  -- Null while the first call runs.
  status integer,
  location text,
  body json,
  PRIMARY KEY (account_id, method, path, key)
);

CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- Secrets that every process of a site shares, such as the one that signs URLs.
CREATE TABLE secrets (
  name text PRIMARY KEY,
  value text NOT NULL
);
