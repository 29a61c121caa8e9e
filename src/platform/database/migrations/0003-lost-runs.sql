-- Runs that ended because their gateway died. They are attempts, whose number protects later changes,
-- but they do not count against the request.
ALTER TABLE requests ADD COLUMN lost_runs integer NOT NULL DEFAULT 0;
