-- The revision on which the routing rules have begun to act. From then on it can no longer be held.
ALTER TABLE studies ADD COLUMN acting_revision integer;
