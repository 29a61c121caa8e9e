-- Objects to which a PACS was asked to commit and has not, for the age of the oldest in the metrics.
CREATE INDEX IF NOT EXISTS delivered_objects_asked ON delivered_objects (destination)
  WHERE committed_at IS NULL AND failure_reason IS NULL AND asked_at IS NOT NULL;
