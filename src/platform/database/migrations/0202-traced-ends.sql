-- When the PACS answered whether it commits to keep the object: the end of that step in the traces.
ALTER TABLE delivered_objects ADD COLUMN answered_at timestamptz;
CREATE INDEX delivered_objects_answered ON delivered_objects (answered_at)
  WHERE answered_at IS NOT NULL;

-- Studies that rules only sent on have no request whose end tells of them.
CREATE INDEX study_history_routed ON study_history (at) WHERE state = 'routed';
