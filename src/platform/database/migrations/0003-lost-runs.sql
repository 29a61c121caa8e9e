-- Number of runs that ended because their gateway process died. `attempts` includes them, because
-- its value identifies the current run, but they do not count against the request.
ALTER TABLE requests ADD COLUMN lost_runs integer NOT NULL DEFAULT 0;
