-- Each order now stores all dates that it states about the pregnancy, and the study selects among
-- them. Older entries contain a single date. It is removed, because it may belong to an earlier
-- pregnancy.
UPDATE received_orders SET entries = coalesce(
  (SELECT jsonb_agg(entry || '{"pregnancy": {"menstrual": [], "due": []}}')
   FROM jsonb_array_elements(entries) AS entry), '[]');
