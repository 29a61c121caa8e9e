import { z } from 'zod';

/**
 * RFC 3339 has the years 0 to 9999, and an offset leads out of them; the database and its drivers
 * disagree about those of few digits, and about offsets before time zones were in use.
 */
const FIRST_YEAR = 1900;
const LAST_YEAR = 9999;

/** A point in time of RFC 3339 that comes back from the database as it was. */
export const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((at) => at.getUTCFullYear() >= FIRST_YEAR && at.getUTCFullYear() <= LAST_YEAR, {
    message: `a time of the years ${FIRST_YEAR} to ${LAST_YEAR}`,
  });
