-- When the peer accepted a delivery whose commitment it refused later: the refusal changes `ended_at`,
-- and a commitment that follows after all restores it.
ALTER TABLE deliveries ADD COLUMN accepted_at timestamptz;
