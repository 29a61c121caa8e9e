-- The objects that a performed procedure step has named so far: its last N-SET need not repeat them.
ALTER TABLE performed_procedure_steps ADD COLUMN sop_instance_uids text[] NOT NULL DEFAULT '{}';
CREATE INDEX performed_procedure_steps_open ON performed_procedure_steps
  USING gin (study_instance_uids) WHERE status = 'IN PROGRESS';
