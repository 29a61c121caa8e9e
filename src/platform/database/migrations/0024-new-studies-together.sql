-- Adds all studies created by one statement to the history and the worklist together. A new study
-- has no request yet, so its row needs none of the lookups of worklist_study().
CREATE FUNCTION on_studies_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO study_history (study_id, state, revision, complete_because, reason)
    SELECT id, state, revision, complete_because, reason FROM made;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  INSERT INTO worklist (key, study_id, state, source, tags, patient, words, arrived_at, changed_at)
    SELECT id::text, id, state, source, tags, worklist_patient(identity), worklist_words(identity),
      first_received_at, clock_timestamp()
    FROM made;
  INSERT INTO console_changes (key, what) SELECT id::text, 'study' FROM made;
  PERFORM pg_notify('sonogate_console', '');
  RETURN NULL;
END $$;
DROP TRIGGER study_made ON studies;
CREATE TRIGGER studies_made AFTER INSERT ON studies REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION on_studies_made();

-- Nearly every change finds an existing row for its study, so the row is locked first and created
-- only if it is missing.
CREATE OR REPLACE FUNCTION worklist_study(of_study uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM worklist WHERE key = of_study::text FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO worklist (key, study_id, state, source, patient, words, arrived_at, changed_at)
      SELECT id::text, id, state, source, worklist_patient(identity), worklist_words(identity),
        first_received_at, clock_timestamp()
      FROM studies WHERE id = of_study
      ON CONFLICT (key) DO NOTHING;
    PERFORM 1 FROM worklist WHERE key = of_study::text FOR UPDATE;
  END IF;
  UPDATE worklist w SET
    state = CASE WHEN s.state = 'submitted' THEN coalesce(r.status, s.state) ELSE s.state END,
    request_id = r.id, endpoint = r.endpoint, tags = s.tags,
    critical = is_critical_study(s.id), changed_at = clock_timestamp()
  FROM studies s LEFT JOIN LATERAL (
    SELECT request.id, request.status, request.endpoint
    FROM study_requests made JOIN requests request ON request.id = made.request_id
    WHERE made.study_id = s.id ORDER BY request.id DESC LIMIT 1) r ON true
  WHERE s.id = of_study AND w.key = of_study::text;
END $$;
