-- Recipients for whom the mail server accepted a mail while it deferred others: the next attempt is
-- for the others only.
CREATE TABLE mail_recipients (
  delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  address text NOT NULL,
  PRIMARY KEY (delivery_id, address)
);
