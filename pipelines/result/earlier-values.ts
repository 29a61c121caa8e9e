import { z } from 'zod';
import type { Result } from './envelope.ts';
import { EARLIER_SOURCES } from './render/obstetric/growth.ts';

const earlierSchema = z.array(
  z.object({
    days_before: z.number(),
    ga_days: z.number(),
    values: z.array(
      z.object({
        concept: z.string(),
        value: z.number(),
        unit: z.string(),
        source: z.enum(EARLIER_SOURCES),
        centile: z.number(),
        z_score: z.number(),
        chart: z.string(),
      }),
    ),
  }),
);

/**
 * `earlier` in the data of the growth section: values of earlier scans with their z-scores and
 * centiles.
 */
export type EarlierData = z.infer<typeof earlierSchema>;

/**
 * Returns the values from earlier scans in the growth section of a result; empty if there are none.
 */
export function earlierValues({ sections }: Pick<Result, 'sections'>): EarlierData {
  const growth = sections.find(({ id }) => id === 'growth');
  const parsed = earlierSchema.safeParse(growth?.data.earlier);
  return parsed.success ? parsed.data : [];
}
