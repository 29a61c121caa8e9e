-- A request belongs to one revision of one study. This was not enforced: concurrent creations of
-- workitems with one UID could attach a request to two studies, and a rule renamed after a crash
-- could attach it twice to one revision.
DELETE FROM study_requests made USING requests r
  WHERE r.id = made.request_id AND (r.source ->> 'study')::uuid <> made.study_id;
DELETE FROM study_requests made USING study_requests first
  WHERE first.request_id = made.request_id
    AND (first.submitted_at, first.study_id, first.revision, first.rule)
      < (made.submitted_at, made.study_id, made.revision, made.rule);
DROP INDEX study_requests_request;
CREATE UNIQUE INDEX study_requests_request ON study_requests (request_id);
