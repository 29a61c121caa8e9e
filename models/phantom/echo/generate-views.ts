import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import type { PhantomFrame } from '../frame.ts';
import { STRUCTURE } from '../heart/heart.ts';
import { createRandom } from '../random.ts';
import { drawBeatingHeart } from './draw-heart.ts';
import { ECHO_VIEW_IDS, type EchoViewId } from './view.ts';
import { ECHO_VIEWS } from './views.ts';

/**
 * Generates single frames of any view, each from a different heart at a random moment of its beat.
 * They are used to train the view classifier and the model of the parasternal structures:
 *
 * node models/phantom/echo/generate-views.ts --out DIR --count N [--seed S] [--views PLAX,A4C]
 * [--size 256] [--masks]
 *
 * The labels have the format of generate.ts. `mask` is written only with --masks, with the values
 * of STRUCTURE.
 */
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'phantoms' },
    count: { type: 'string', default: '32' },
    seed: { type: 'string', default: '1' },
    views: { type: 'string', default: ECHO_VIEW_IDS.join() },
    size: { type: 'string', default: '256' },
    masks: { type: 'boolean', default: false },
  },
});

function labelsOf({ columns, rows, truth }: PhantomFrame): Uint8Array {
  const labels = new Uint8Array(columns * rows);
  for (const [name, mask] of Object.entries(truth.masks ?? {})) {
    const value = Object.entries(STRUCTURE).find(([structure]) => structure === name)?.[1] ?? 0;
    mask.forEach((inside, pixel) => {
      if (inside) labels[pixel] = value;
    });
  }
  return labels;
}

async function writePng(pixels: Uint8Array, { columns, rows }: PhantomFrame, path: string) {
  await sharp(pixels, { raw: { width: columns, height: rows, channels: 1 } })
    .toColourspace('b-w')
    .png({ compressionLevel: 3 })
    .toFile(path);
}

async function writeFrame(index: number, view: EchoViewId): Promise<object> {
  const { out, seed, masks } = values;
  const size = Number(values.size);
  const random = createRandom(Number(seed)).fork(`frame ${index}`);
  const heart = drawBeatingHeart(random.fork('heart'));
  const [frame] = ECHO_VIEWS[view].simulate({
    heart,
    seed: random.integer(0, 0x7fffffff),
    frames: 1,
    startS: random.unit() * heart.beat.lengthS,
    screen: { columns: size, rows: size },
    clarity: random.range(0, 1),
    masks,
  });
  if (!frame) throw new Error('one frame was asked for');
  const stem = `${view.toLowerCase()}-${seed}-${String(index).padStart(5, '0')}`;
  await writePng(frame.gray, frame, join(out, `${stem}.png`));
  if (masks) await writePng(labelsOf(frame), frame, join(out, `${stem}.mask.png`));
  const { mmPerPixel, values: read, points } = frame.truth;
  return {
    file: `${stem}.png`,
    ...(masks && { mask: `${stem}.mask.png` }),
    view,
    pair: `${seed}-${index}`,
    mmPerPixel,
    values: read,
    points,
  };
}

const views = values.views.split(',').filter((view): view is EchoViewId => view in ECHO_VIEWS);
await mkdir(values.out, { recursive: true });
const labels = createWriteStream(join(values.out, 'labels.jsonl'));
for (let index = 0; index < Number(values.count); index++) {
  const view = views[index % views.length];
  if (view) labels.write(`${JSON.stringify(await writeFrame(index, view))}\n`);
}
labels.end();
await finished(labels);
