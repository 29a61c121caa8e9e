-- A critical flag stays at the top of the worklist until the study was interpreted again: a later
-- request that waits, failed or was canceled does not hide it.

-- Requests of a study whose flags count: those without a result of the same endpoint for a later
-- revision of the study. A workitem may be for some of the objects only (UPS, PS3.4 CC), and its
-- result says nothing about the others; it is recorded under the name of its UID, not of a rule.
CREATE OR REPLACE FUNCTION current_requests(of_study uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(made.request_id), '{}')
  FROM study_requests made JOIN requests request ON request.id = made.request_id
  WHERE made.study_id = of_study AND NOT EXISTS (
    SELECT 1 FROM study_requests later JOIN requests next ON next.id = later.request_id
    WHERE later.study_id = of_study AND later.revision > made.revision
      AND next.endpoint = request.endpoint AND next.status IN ('succeeded', 'expired')
      AND later.rule NOT LIKE 'workitem:%')
$$;
SELECT worklist_flags();
