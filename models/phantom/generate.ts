import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { simulateFrame } from './frame.ts';
import { type FrameTruth, PLANES, type Plane } from './labels.ts';
import { createRandom } from './random.ts';
import { CHARTED_DAYS, drawGrowth, sizesAt } from './sizes.ts';
import type { PhantomView } from './view.ts';
import { VIEWS } from './views.ts';

const USAGE =
  'node models/phantom/generate.ts --count N --planes head,abdomen,femur,cervix --seed S --out DIR' +
  ' [--anatomy areaRatio:0.16:0.5]';

type Subject = Pick<PhantomView, 'id' | 'ages' | 'simulate'>;

/** Wraps a biometry plane as a view for the ages at which it is measured. */
const biometryPlane = (plane: Plane): Subject => ({
  id: plane,
  ages: CHARTED_DAYS,
  simulate: ({ sizes, seed }) => [simulateFrame({ plane, sizes, seed })],
});

/** Short names for the command line, and the subjects that each name selects. */
const GROUPS: Record<string, readonly Subject[]> = {
  head: (['transthalamic', 'transventricular', 'transcerebellar'] as const).map(biometryPlane),
  abdomen: [biometryPlane('abdominal')],
  ...Object.fromEntries(PLANES.map((plane) => [plane, [biometryPlane(plane)]])),
  ...Object.fromEntries(VIEWS.map((view) => [view.id, [view]])),
};

interface Label extends Omit<FrameTruth, 'masks'> {
  file: string;
  columns: number;
  rows: number;
  gaDays: number;
  /** File for each filled structure: a PNG of the same size, with 255 inside. */
  masks?: Record<string, string>;
}

function parsePlanes(list: string): Subject[] {
  return list.split(',').flatMap((name) => {
    const planes = GROUPS[name];
    if (planes === undefined) {
      throw new Error(`unknown plane "${name}"; known: ${Object.keys(GROUPS).join(', ')}`);
    }
    return planes;
  });
}

/**
 * Ranges given in `--anatomy`. The quantities are sampled uniformly from these ranges and not by
 * the view.
 */
type Ranges = readonly { name: string; least: number; most: number }[];

function parseRanges(list: string): Ranges {
  return list.split(',').map((range) => {
    const [name = '', least, most] = range.split(':');
    const ends = { least: Number(least), most: Number(most) };
    if (!name || !(ends.least <= ends.most)) throw new Error(`"${range}" is not NAME:LEAST:MOST`);
    return { name, ...ends };
  });
}

async function writeGrey(
  data: Uint8Array,
  columns: number,
  rows: number,
  path: string,
): Promise<void> {
  await sharp(data, { raw: { width: columns, height: rows, channels: 1 } })
    .toColourspace('b-w')
    .png({ compressionLevel: 3 })
    .toFile(path);
}

/**
 * Writes `count` frames, cycling through the subjects. Each frame has its own seed, derived from
 * `seed`.
 */
async function generate(
  count: number,
  subjects: readonly Subject[],
  seed: number,
  out: string,
  ranges: Ranges,
): Promise<void> {
  await mkdir(out, { recursive: true });
  const labels: Label[] = [];
  for (let i = 0; i < count; i++) {
    const random = createRandom(seed).fork(`frame ${i}`);
    const { id, ages, simulate } = subjects[i % subjects.length] as Subject;
    const gaDays = random.integer(ages.youngest, ages.oldest);
    // Sizes are charted only for certain ages; at any other age, those of the nearest charted age
    // are used. The content of a view still depends on the true age.
    const charted = Math.min(CHARTED_DAYS.oldest, Math.max(CHARTED_DAYS.youngest, gaDays));
    const sizes = sizesAt(charted, drawGrowth(random));
    const given = { gaDays, sizes, seed: random.integer(0, 0x7fffffff), frames: 1 };
    const drawn = ranges.map(({ name, least, most }) => [name, random.range(least, most)]);
    const frames = simulate({ ...given, anatomy: Object.fromEntries(drawn) });
    const stem = `${id}-${seed}-${String(i).padStart(5, '0')}`;
    for (const { columns, rows, gray, truth } of frames) {
      const { masks = {}, ...positions } = truth;
      await writeGrey(gray, columns, rows, join(out, `${stem}.png`));
      const files: Record<string, string> = {};
      for (const [name, mask] of Object.entries(masks)) {
        const file = `${stem}-${name}.mask.png`;
        const shown = mask.map((inside) => (inside ? 255 : 0));
        await writeGrey(shown, columns, rows, join(out, file));
        files[name] = file;
      }
      const filled = Object.keys(files).length > 0 ? { masks: files } : {};
      labels.push({ file: `${stem}.png`, columns, rows, gaDays, ...positions, ...filled });
    }
  }
  await writeFile(join(out, 'labels.json'), `${JSON.stringify(labels, null, 1)}\n`);
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '30' },
    planes: { type: 'string', default: 'head,abdomen,femur' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string' },
    anatomy: { type: 'string' },
  },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (values.out === undefined || !Number.isInteger(count) || !Number.isInteger(seed)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const ranges = values.anatomy === undefined ? [] : parseRanges(values.anatomy);
  await generate(count, parsePlanes(values.planes), seed, values.out, ranges);
}
