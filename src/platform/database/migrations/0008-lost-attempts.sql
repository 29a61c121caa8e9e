-- Number of attempts since `attempts_before` that were lost because our own process or database
-- failed. They do not count in the retry schedule, because they show nothing about the destination.
ALTER TABLE deliveries ADD COLUMN lost_attempts integer NOT NULL DEFAULT 0;
