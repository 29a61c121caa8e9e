-- A study may have requests for several endpoints or by several rules. The critical flags of all of
-- them are shown and acknowledged, not only those of the newest request.

-- Returns the requests of a study whose flags count: those without a request for the same endpoint
-- in a later revision of the study.
CREATE FUNCTION current_requests(of_study uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(made.request_id), '{}')
  FROM study_requests made JOIN requests request ON request.id = made.request_id
  WHERE made.study_id = of_study AND NOT EXISTS (
    SELECT 1 FROM study_requests later JOIN requests next ON next.id = later.request_id
    WHERE later.study_id = of_study AND later.revision > made.revision
      AND next.endpoint = request.endpoint)
$$;

CREATE FUNCTION is_critical_study(of_study uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(bool_or(is_critical(request)), false)
  FROM unnest(current_requests(of_study)) AS request
$$;

CREATE OR REPLACE FUNCTION worklist_study(of_study uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO worklist (key, study_id, state, source, patient, words, arrived_at, changed_at)
    SELECT id::text, id, state, source, worklist_patient(identity), worklist_words(identity),
      first_received_at, clock_timestamp()
    FROM studies WHERE id = of_study
    ON CONFLICT (key) DO NOTHING;
  PERFORM 1 FROM worklist WHERE key = of_study::text FOR UPDATE;
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

-- Only a study with a flag can be critical, and there are few of these.
CREATE FUNCTION worklist_flags() RETURNS void LANGUAGE sql AS $$
  UPDATE worklist SET critical = true
  WHERE NOT critical AND is_critical_study(study_id) AND study_id IN (
    SELECT made.study_id FROM request_events e JOIN study_requests made USING (request_id)
    WHERE e.name = 'triage')
$$;
SELECT worklist_flags();

CREATE OR REPLACE FUNCTION worklist_fill() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM worklist;
  INSERT INTO worklist (key, study_id, request_id, state, source, endpoint, tags, patient,
      words, arrived_at, changed_at)
    SELECT s.id::text, s.id, r.id,
      CASE WHEN s.state = 'submitted' THEN coalesce(r.status, s.state) ELSE s.state END,
      s.source, r.endpoint, s.tags,
      worklist_patient(s.identity), worklist_words(s.identity), s.first_received_at,
      coalesce(r.ended_at, s.last_received_at)
    FROM studies s LEFT JOIN (
      SELECT DISTINCT ON (made.study_id) made.study_id, request.id, request.status,
        request.endpoint, request.ended_at
      FROM study_requests made JOIN requests request ON request.id = made.request_id
      ORDER BY made.study_id, request.id DESC) r ON r.study_id = s.id;
  PERFORM worklist_flags();
  INSERT INTO worklist (key, request_id, state, source, endpoint, critical, arrived_at, changed_at)
    SELECT id, id, status, source ->> 'kind', endpoint, is_critical(id), created_at,
      coalesce(ended_at, created_at)
    FROM requests WHERE source ->> 'kind' <> 'dicom' AND account_id = 'default';
END $$;
