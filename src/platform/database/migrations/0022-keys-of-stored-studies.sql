-- The unique key of a request of a study has the id of the study in place of the Study Instance UID:
-- a study that was removed and is sent again is a new study. The keys are changed for the studies
-- whose revision can be submitted once more, so that this does not give it a second request.
UPDATE requests r
SET unique_key = replace(r.unique_key, ':' || s.study_instance_uid || ':', ':' || s.id || ':')
FROM studies s
WHERE s.state IN ('complete', 'held', 'unrouted', 'ignored', 'refused')
  AND r.source ->> 'study' = s.id::text
  AND (starts_with(r.unique_key, 'dicom:' || s.study_instance_uid || ':')
    OR starts_with(r.unique_key, 'content:' || s.study_instance_uid || ':'));
