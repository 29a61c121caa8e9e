-- Recipients accepted by the mail server while it deferred others. The next attempt is sent only to
-- the others.
CREATE TABLE mail_recipients (
  delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  address text NOT NULL,
  PRIMARY KEY (delivery_id, address)
);
