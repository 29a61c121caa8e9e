-- The compatible queue announces a file without its size; the PUT tells it.
ALTER TABLE files ALTER COLUMN bytes DROP NOT NULL;
ALTER TABLE files ADD CHECK (status = 'pending' OR bytes IS NOT NULL);
