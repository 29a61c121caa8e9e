-- The SOP Instance UID that the creator of a workitem chose (UPS); null for any other request.
ALTER TABLE requests ADD COLUMN workitem_uid text;
UPDATE requests SET workitem_uid = substr(unique_key, 10) WHERE starts_with(unique_key, 'workitem:');
-- Not unique: `unique_key` is, and contains the UID. A second unique index could fail an insertion
-- that ON CONFLICT (unique_key) should skip.
CREATE INDEX requests_workitem_uid ON requests (workitem_uid) WHERE workitem_uid IS NOT NULL;

-- During an upgrade, a process of an earlier version stores the UID only as part of the unique key.
CREATE FUNCTION workitem_uid_from_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.workitem_uid := substr(NEW.unique_key, 10);
  RETURN NEW;
END $$;
CREATE TRIGGER workitem_of_earlier_version BEFORE INSERT ON requests FOR EACH ROW
  WHEN (NEW.workitem_uid IS NULL AND starts_with(NEW.unique_key, 'workitem:'))
  EXECUTE FUNCTION workitem_uid_from_key();
