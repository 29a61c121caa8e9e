-- The unique key of a study's request now contains the id of the study instead of its Study
-- Instance UID, because a study that was removed and is sent again is a new study. The keys are
-- changed for studies whose revision may be submitted again: with the new form of the key alone,
-- that revision would get a second request.
UPDATE requests r
SET unique_key = replace(r.unique_key, ':' || s.study_instance_uid || ':', ':' || s.id || ':')
FROM studies s
WHERE s.state IN ('complete', 'held', 'unrouted', 'ignored', 'refused')
  AND r.source ->> 'study' = s.id::text
  AND (starts_with(r.unique_key, 'dicom:' || s.study_instance_uid || ':')
    OR starts_with(r.unique_key, 'content:' || s.study_instance_uid || ':'));
