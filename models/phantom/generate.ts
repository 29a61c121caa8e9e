import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { simulateFrame } from './frame.ts';
import { type FrameTruth, PLANES, type Plane } from './labels.ts';
import { createRandom } from './random.ts';
import { drawGrowth, sizesAt } from './sizes.ts';

const USAGE =
  'node models/phantom/generate.ts --count N --planes head,abdomen,femur --seed S --out DIR';

/** Names a person types, and the planes they stand for. */
const GROUPS: Record<string, readonly Plane[]> = {
  head: ['transthalamic', 'transventricular', 'transcerebellar'],
  abdomen: ['abdominal'],
  ...Object.fromEntries(PLANES.map((plane) => [plane, [plane]])),
};

/** The ages at which these planes are measured. */
const AGE_DAYS = { youngest: 14 * 7, oldest: 40 * 7 } as const;

interface Label extends FrameTruth {
  file: string;
  columns: number;
  rows: number;
  gaDays: number;
}

function parsePlanes(list: string): Plane[] {
  return list.split(',').flatMap((name) => {
    const planes = GROUPS[name];
    if (planes === undefined) {
      throw new Error(`unknown plane "${name}"; known: ${Object.keys(GROUPS).join(', ')}`);
    }
    return planes;
  });
}

/** Writes `count` frames, the planes in turn, each with its own seed derived from `seed`. */
async function generate(count: number, planes: Plane[], seed: number, out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  const labels: Label[] = [];
  for (let i = 0; i < count; i++) {
    const random = createRandom(seed).fork(`frame ${i}`);
    const plane = planes[i % planes.length] as Plane;
    const gaDays = random.integer(AGE_DAYS.youngest, AGE_DAYS.oldest);
    const sizes = sizesAt(gaDays, drawGrowth(random));
    const frame = simulateFrame({ plane, sizes, seed: random.integer(0, 0x7fffffff) });
    const file = `${plane}-${seed}-${String(i).padStart(5, '0')}.png`;
    const { columns, rows, gray, truth } = frame;
    await sharp(gray, { raw: { width: columns, height: rows, channels: 1 } })
      .png({ compressionLevel: 3 })
      .toFile(join(out, file));
    labels.push({ file, columns, rows, gaDays, ...truth });
  }
  await writeFile(join(out, 'labels.json'), `${JSON.stringify(labels, null, 1)}\n`);
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '30' },
    planes: { type: 'string', default: 'head,abdomen,femur' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (values.out === undefined || !Number.isInteger(count) || !Number.isInteger(seed)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await generate(count, parsePlanes(values.planes), seed, values.out);
}
