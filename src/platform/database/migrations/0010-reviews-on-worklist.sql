-- The worklist shows the state of a review and who has it open. Open consoles are notified when
-- either changes.
CREATE FUNCTION on_review_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The values of the draft at a glance; those of the signed result are made when they are next shown.
  IF TG_OP = 'UPDATE' AND NEW.signed_revision <> OLD.signed_revision THEN
    DELETE FROM result_glances WHERE request_id = NEW.request_id;
  END IF;
  PERFORM console_note(coalesce(source ->> 'study', id), 'request')
    FROM requests WHERE id = NEW.request_id;
  RETURN NULL;
END $$;
CREATE TRIGGER review_made AFTER INSERT ON reviews
  FOR EACH ROW EXECUTE FUNCTION on_review_change();
CREATE TRIGGER review_changed AFTER UPDATE ON reviews FOR EACH ROW
  WHEN ((OLD.state, OLD.signed_revision) IS DISTINCT FROM (NEW.state, NEW.signed_revision))
  EXECUTE FUNCTION on_review_change();

-- Notifies open consoles when a reader opens or closes a review. A stream that only renews its row
-- is not announced.
CREATE FUNCTION on_reader_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM console_note(coalesce(source ->> 'study', id), 'request')
    FROM requests WHERE id = coalesce(NEW.request_id, OLD.request_id);
  RETURN NULL;
END $$;
CREATE TRIGGER reader_came_or_left AFTER INSERT OR DELETE ON review_readers
  FOR EACH ROW EXECUTE FUNCTION on_reader_change();

DELETE FROM result_glances WHERE request_id IN
  (SELECT request_id FROM reviews WHERE signed_revision > 0);
