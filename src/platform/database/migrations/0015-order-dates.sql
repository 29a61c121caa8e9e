-- Each order keeps the dates that it states of the pregnancy, and the study chooses between them.
-- A former entry has one date, and whether it is of an earlier pregnancy cannot be known any more.
UPDATE received_orders SET entries = coalesce(
  (SELECT jsonb_agg(entry || '{"pregnancy": {"menstrual": [], "due": []}}')
   FROM jsonb_array_elements(entries) AS entry), '[]');
