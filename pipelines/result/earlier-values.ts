import { z } from 'zod';
import type { Result } from './envelope.ts';

/** Where the value of an earlier scan is from, the best source first. */
export const EARLIER_SOURCES = ['images', 'machine-report', 'unreviewed-draft'] as const;
export type EarlierSource = (typeof EARLIER_SOURCES)[number];

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

/** `earlier` in the data of the growth section: values of earlier scans, read against their charts. */
export type EarlierData = z.infer<typeof earlierSchema>;

/** The values of earlier scans in the growth section of a result; empty where it has none. */
export function earlierValues({ sections }: Pick<Result, 'sections'>): EarlierData {
  const growth = sections.find(({ id }) => id === 'growth');
  const parsed = earlierSchema.safeParse(growth?.data.earlier);
  return parsed.success ? parsed.data : [];
}
