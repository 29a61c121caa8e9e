-- True if the response to an earlier attempt was lost: the destination may have the object, even if
-- a later attempt failed for another reason.
ALTER TABLE deliveries ADD COLUMN maybe_received boolean NOT NULL DEFAULT false;
