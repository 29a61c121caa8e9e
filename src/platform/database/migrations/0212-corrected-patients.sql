-- The worklist had the patient that the first object of a study named, also when later ones correct it.
CREATE FUNCTION on_study_identity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE worklist SET patient = worklist_patient(NEW.identity), words = worklist_words(NEW.identity),
    changed_at = clock_timestamp()
  WHERE study_id = NEW.id;
  PERFORM console_note(NEW.id::text, 'study');
  RETURN NULL;
END $$;
CREATE TRIGGER study_identified AFTER UPDATE OF identity ON studies FOR EACH ROW
  WHEN (OLD.identity IS DISTINCT FROM NEW.identity)
  EXECUTE FUNCTION on_study_identity();
