-- What the classifiers saw on the images of a revision, for rules that ask for it: `known` by fact,
-- or `unknown` with the reason (ContentFacts of src/core/studies/rules/condition.ts).
CREATE TABLE study_content (
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  revision integer NOT NULL,
  facts jsonb NOT NULL,
  PRIMARY KEY (study_id, revision)
);
