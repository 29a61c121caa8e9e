-- The rules that acted on the revision of a study that was judged last, in their order: also those
-- that made no request. Until now only requests and the words of `reason` told.
ALTER TABLE studies ADD COLUMN acting_rules text[] NOT NULL DEFAULT '{}';

UPDATE studies s SET acting_rules = coalesce(
  nullif(ARRAY(SELECT DISTINCT rule FROM study_requests made WHERE made.study_id = s.id
    AND made.revision = (SELECT max(revision) FROM study_requests WHERE study_id = s.id)), '{}'),
  CASE
    WHEN state = 'ignored' AND reason ~ '^Rule .+\.$'
      THEN ARRAY[substring(reason FROM '^Rule (.+)\.$')]
    WHEN state = 'held' AND reason ~ '^Held by the rule .+\.$'
      THEN ARRAY[substring(reason FROM '^Held by the rule (.+)\.$')]
    ELSE '{}' END);
