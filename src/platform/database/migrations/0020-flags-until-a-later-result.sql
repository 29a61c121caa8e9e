-- A critical flag stays at the top of the worklist until the study has been interpreted again. A
-- later request that is waiting, has failed or was canceled does not hide it.

-- Returns the requests of a study whose flags count: those without a result by the same rule for a
-- later revision of the study. A workitem may cover only some of the objects (UPS, PS3.4 CC). It is
-- recorded under its own UID instead of a rule, so it hides no other request.
CREATE OR REPLACE FUNCTION current_requests(of_study uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(made.request_id), '{}')
  FROM study_requests made WHERE made.study_id = of_study AND NOT EXISTS (
    SELECT 1 FROM study_requests later JOIN requests next ON next.id = later.request_id
    WHERE later.study_id = of_study AND later.rule = made.rule AND later.revision > made.revision
      AND next.status IN ('succeeded', 'expired'))
$$;
SELECT worklist_flags();
