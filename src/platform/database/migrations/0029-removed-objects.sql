-- Files of received objects whose study a person removed. Any machine of the installation may have a
-- file, in the folder of its intake, and deletes it there: a file without a row would be registered
-- as a new object. The rows are kept, because a machine may be off for any length of time.
CREATE TABLE removed_objects (
  path text PRIMARY KEY,
  removed_at timestamptz NOT NULL
);
