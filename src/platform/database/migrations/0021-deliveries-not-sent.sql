-- A delivery may end without an object being sent, because the receiver has an object that must not
-- be replaced, or because the result has no such object. `detail` states which.
ALTER TABLE deliveries ADD COLUMN not_sent boolean NOT NULL DEFAULT false;
