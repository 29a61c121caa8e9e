-- FHIR Subscriptions of API clients (src/core/subscriptions). The `destination` of a delivery is
-- the `id` of its subscription.
CREATE TABLE fhir_subscriptions (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  -- The key that created the subscription. Notifications end when this key does.
  key_id text NOT NULL REFERENCES api_keys (id),
  -- True if the key is a test key, which is notified only of requests made with test keys.
  test boolean NOT NULL,
  endpoint_id text NOT NULL REFERENCES webhook_endpoints (id),
  status text NOT NULL CHECK (status IN ('requested', 'active', 'error', 'off')),
  -- Why the status is `error` or `off`.
  error text,
  reason text NOT NULL,
  topic text NOT NULL,
  -- The subscription covers only requests of this endpoint or model, and only those about this
  -- study; null for all.
  of_endpoint text,
  of_study text,
  content text NOT NULL CHECK (content IN ('empty', 'id-only', 'full-resource')),
  -- Headers supplied by the client, as `Name: value`. They may contain credentials and are not
  -- shown again.
  headers jsonb NOT NULL,
  heartbeat_seconds integer,
  ends_at timestamptz,
  -- Base address that the client used to reach us; references in notifications start with it.
  address text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the handshake succeeded; events before it are not announced.
  activated_at timestamptz,
  -- When the last notification was accepted.
  notified_at timestamptz,
  -- Number of events since the subscription was created.
  events integer NOT NULL DEFAULT 0
);
CREATE INDEX fhir_subscriptions_account ON fhir_subscriptions (account_id, topic);
CREATE INDEX fhir_subscriptions_key ON fhir_subscriptions (key_id);

CREATE TABLE fhir_subscription_events (
  subscription_id text NOT NULL REFERENCES fhir_subscriptions (id) ON DELETE CASCADE,
  number integer NOT NULL,
  delivery_id text NOT NULL UNIQUE REFERENCES deliveries (id) ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (subscription_id, number)
);

-- Deliveries to API clients are not shown in the console.
DROP TRIGGER delivery_made ON deliveries;
DROP TRIGGER delivery_changed ON deliveries;
CREATE TRIGGER delivery_made AFTER INSERT ON deliveries FOR EACH ROW
  WHEN (NEW.kind NOT IN ('webhook', 'subscription')) EXECUTE FUNCTION on_delivery_change();
CREATE TRIGGER delivery_changed AFTER UPDATE ON deliveries FOR EACH ROW
  WHEN (NEW.kind NOT IN ('webhook', 'subscription') AND (OLD.state, OLD.code, OLD.committed_at)
    IS DISTINCT FROM (NEW.state, NEW.code, NEW.committed_at))
  EXECUTE FUNCTION on_delivery_change();
