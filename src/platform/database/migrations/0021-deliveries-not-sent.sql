-- A delivery may end without an object being sent: the receiver has something that it does not
-- replace, or the result has no such object. `detail` says which.
ALTER TABLE deliveries ADD COLUMN not_sent boolean NOT NULL DEFAULT false;
