import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { LocatedBrain } from '../../pipelines/obstetric/anomaly-screen/evidence.ts';
import { CROP_FILL } from '../../pipelines/obstetric/shared/head-crop.ts';
import {
  HEAD_STRUCTURES,
  type HeadStructures,
  inView,
} from '../../pipelines/obstetric/shared/plane.ts';
import type { Classified } from './planes.ts';

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

/**
 * Width of the levelled crop on which the reader marked the heads (models/training/head_crop.py).
 */
const CROP_WIDTH = 224;

interface HeadReading {
  /** Lengths in image pixels. Null for a structure that the reader did not see. */
  lengths: Record<keyof LocatedBrain, number | null>;
  seen: Record<keyof HeadStructures, boolean>;
}

/**
 * Returns the lengths that readers who were not clinicians measured on real heads, by data set and
 * image.
 */
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

/**
 * Compares which structures the product and a reader see on real heads: how many of the structures
 * reported as visible were seen by the reader, and how many of those reported as absent were not.
 */
export async function structureAgreement(classified: readonly Classified[]) {
  const readings = await headReadings();
  const pairs = classified.flatMap(({ one, estimate }) => {
    const reading = readings.get(`${one.dataset}/${one.image}`);
    return reading && estimate.structures ? [{ reading, structures: estimate.structures }] : [];
  });
  const of = (name: (typeof HEAD_STRUCTURES)[number]) => {
    const said = pairs.map(({ reading, structures }) => ({
      seen: inView(structures, name),
      read: reading.seen[name],
    }));
    const yes = said.filter(({ seen }) => seen === true);
    const no = said.filter(({ seen }) => seen === false);
    return {
      inView: yes.length,
      readToo: yes.filter(({ read }) => read).length,
      notInView: no.length,
      notReadEither: no.filter(({ read }) => !read).length,
      open: said.length - yes.length - no.length,
    };
  };
  return {
    heads: pairs.length,
    ...Object.fromEntries(HEAD_STRUCTURES.map((name) => [name, of(name)])),
  };
}
