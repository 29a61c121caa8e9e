import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { CROP_FILL } from '../../pipelines/obstetric/locate/head-crop.ts';
import type { HeadStructures, LocatedBrain } from '../../pipelines/obstetric/locator.ts';

const FILE = new URL('../training/head-readings.json', import.meta.url);

const point = z.tuple([z.number(), z.number()]);
const ends = z.tuple([point, point]);
const entrySchema = z.object({
  image: z.string(),
  /** Centre, half axes and angle, in pixels of the image. */
  head: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number()]),
  csp: point.optional(),
  thalami: z.array(z.number()).length(4).optional(),
  cerebellum: z.object({ ends }).optional(),
  'cisterna-magna': ends.optional(),
  atrium: ends.optional(),
});

/** Width of the level crop on which the heads were read (models/training/head_crop.py). */
const CROP_WIDTH = 224;

export interface HeadReading {
  /** Pixels of the image; null for what the reader did not see. */
  lengths: Record<keyof LocatedBrain, number | null>;
  seen: Record<keyof HeadStructures, boolean>;
}

/** What was read by eye on real heads, by data set and image; the readers were no clinicians. */
export async function headReadings(): Promise<ReadonlyMap<string, HeadReading>> {
  const entries = z.array(entrySchema).parse(JSON.parse(await readFile(FILE, 'utf8')));
  return new Map(
    entries.map((entry) => {
      const pixels = (2 * entry.head[2]) / (CROP_FILL * CROP_WIDTH);
      const length = (line: z.infer<typeof ends> | undefined) =>
        line ? pixels * Math.hypot(line[1][0] - line[0][0], line[1][1] - line[0][1]) : null;
      return [
        entry.image,
        {
          lengths: {
            cerebellum: length(entry.cerebellum?.ends),
            cisternaMagna: length(entry['cisterna-magna']),
            atrium: length(entry.atrium),
          },
          seen: {
            csp: entry.csp !== undefined,
            thalami: entry.thalami !== undefined,
            cerebellum: entry.cerebellum !== undefined,
          },
        },
      ];
    }),
  );
}
