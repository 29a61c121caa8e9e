-- For the retention, which searches for the oldest studies and for the searches that chose an
-- object as a prior.
CREATE INDEX studies_last_received ON studies (last_received_at);
CREATE INDEX prior_searches_instances ON prior_searches USING gin (instances);
