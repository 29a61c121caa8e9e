-- The response to an attempt of a delivery may be lost, and the next attempt may fail otherwise: the
-- destination may still have the object.
ALTER TABLE deliveries ADD COLUMN maybe_received boolean NOT NULL DEFAULT false;
