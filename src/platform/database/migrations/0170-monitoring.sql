-- What /metrics reads at each scrape, whatever the history.
CREATE INDEX IF NOT EXISTS deliveries_ended ON deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS deliveries_dead ON deliveries (destination) WHERE state = 'dead';
CREATE INDEX IF NOT EXISTS studies_for_a_person ON studies (state) WHERE state IN ('held', 'unrouted', 'refused');
