-- Who withdrew the result, when and why (src/core/requests/withdrawal.ts). Null unless it is withdrawn.
ALTER TABLE requests ADD COLUMN withdrawal jsonb;

-- The DICOM objects that a PACS has stored, so that they can be rejected there later. Null for any
-- other delivery, and for those made before this migration.
ALTER TABLE deliveries ADD COLUMN stored_objects jsonb;

-- The event of a withdrawal. Not validated, because a table of any size need not be read: the former
-- constraint allowed fewer names.
ALTER TABLE request_events DROP CONSTRAINT request_events_name_check;
ALTER TABLE request_events ADD CONSTRAINT request_events_name_check
  CHECK (name IN ('status', 'stage', 'triage', 'partial', 'error', 'done', 'withdrawn')) NOT VALID;
