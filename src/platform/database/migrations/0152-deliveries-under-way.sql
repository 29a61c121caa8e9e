-- The outbox looks for the next lease to run out after every send, however much waits.
CREATE INDEX deliveries_leases ON deliveries (lease_until) WHERE state = 'sending';

-- In the order of the claim: all that waited for a destination is due at one moment when it is back.
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (next_at, id) WHERE state IN ('pending', 'sending');
