-- Attempts that were lost with our own process or database, and therefore say nothing about the
-- destination: they do not count in the retry schedule. Starts over with `attempts_before`.
ALTER TABLE deliveries ADD COLUMN lost_attempts integer NOT NULL DEFAULT 0;
