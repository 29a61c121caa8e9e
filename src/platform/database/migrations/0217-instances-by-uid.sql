-- Storage commitment looks objects up by their UID alone, which read every object that was ever received.
CREATE INDEX IF NOT EXISTS instances_sop_instance_uid ON instances (sop_instance_uid);
