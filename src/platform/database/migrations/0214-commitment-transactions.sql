-- Every transaction under which a PACS was asked to commit to an object: it may report on any of them, at
-- any later time (PS3.4 J.3.3). `delivered_objects.transaction_uid` is the last.
CREATE TABLE commitment_transactions (
  transaction_uid text NOT NULL,
  delivery_id text NOT NULL,
  sop_instance_uid text NOT NULL,
  PRIMARY KEY (transaction_uid, delivery_id, sop_instance_uid),
  FOREIGN KEY (delivery_id, sop_instance_uid)
    REFERENCES delivered_objects (delivery_id, sop_instance_uid) ON DELETE CASCADE
);
CREATE INDEX commitment_transactions_object
  ON commitment_transactions (delivery_id, sop_instance_uid);

-- Requests that the PACS has taken since the object was delivered.
ALTER TABLE delivered_objects ADD COLUMN asks integer NOT NULL DEFAULT 0;
