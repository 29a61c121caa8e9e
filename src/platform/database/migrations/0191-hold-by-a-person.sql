-- Why a person wants a study to wait when it is complete; a rule that holds needs no reason of its own.
ALTER TABLE studies ADD COLUMN hold_reason text;
