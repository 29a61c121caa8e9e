import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { toPixel } from '../geometry.ts';
import { singlePlaneMl, ventricleCut } from '../heart/contour.ts';
import { createHeartImager, type HeartShot, labelHeart } from '../heart/frame.ts';
import type { Heart } from '../heart/heart.ts';
import { END_DIASTOLE, END_SYSTOLE, type Moment } from '../heart/motion.ts';
import { APICAL_RIGHT, type ApicalView } from '../heart/planes.ts';
import { createRandom } from '../random.ts';
import { drawBeatingHeart } from './draw-heart.ts';
import { drawMarks, overlayMarks } from './overlay.ts';
import { apicalShot } from './windows.ts';

const USAGE =
  'node models/phantom/echo/generate.ts --out DIR --count N [--first I] [--seed S] [--views a4c,a2c,a3c] [--size 256]';

/** The two moments of the beat in a pair of images. */
const PHASES = ['ED', 'ES'] as const;
type Phase = (typeof PHASES)[number];

const MOMENTS: Readonly<Record<Phase, Moment>> = { ED: END_DIASTOLE, ES: END_SYSTOLE };

/** Probability that a training image contains the machine's marks. */
const MARKED = 0.45;

async function writePng(pixels: Uint8Array, size: number, path: string): Promise<void> {
  await sharp(pixels, { raw: { width: size, height: size, channels: 1 } })
    .toColourspace('b-w')
    .png({ compressionLevel: 3 })
    .toFile(path);
}

function describe(heart: Heart, shot: HeartShot, moment: Moment) {
  const { window } = shot.acquisition;
  const beating = heart.at(moment);
  const cut = ventricleCut(beating, shot.plane, 120);
  const pixel = (point: { x: number; y: number }) => {
    const { x, y } = toPixel(window, point);
    return [Number(x.toFixed(1)), Number(y.toFixed(1))];
  };
  return {
    volumeMl: Number(beating.ventricle.volumeMl.toFixed(1)),
    ...(cut
      ? {
          planeVolumeMl: Number(singlePlaneMl(cut).toFixed(1)),
          lengthMm: Number(cut.lengthMm.toFixed(1)),
          landmarks: { apex: pixel(cut.apex), base: cut.base.map(pixel) },
        }
      : {}),
  };
}

/**
 * Writes end-diastole and end-systole of one heart, with the same plane, machine and tissue but
 * different speckle.
 */
async function writePair(
  pair: number,
  view: ApicalView,
  { seed, size, out }: { seed: number; size: number; out: string },
): Promise<object[]> {
  const random = createRandom(seed).fork(`pair ${pair}`);
  const heart = drawBeatingHeart(random.fork('heart'));
  const shot = apicalShot(view, heart.sizes, { columns: size, rows: size }, random.fork('shot'));
  const marked = random.fork('marks');
  const beats = { from: marked.unit(), beats: marked.range(1.5, 4), now: marked.unit() };
  const marks = marked.chance(MARKED) ? drawMarks(marked, beats) : undefined;
  const image = createHeartImager(shot, random.fork('texture'));
  const ef = 100 * (1 - heart.endSystolicMl / heart.endDiastolicMl);
  return Promise.all(
    PHASES.map(async (phase, index) => {
      const beating = heart.at(MOMENTS[phase]);
      const speckle = random.fork(`speckle ${phase}`).integer(0, 0x7fffffff);
      const gray = image(beating, speckle);
      if (marks) overlayMarks(gray, shot.acquisition, marks);
      const stem = `${view.toLowerCase()}-${seed}-${String(pair).padStart(5, '0')}-${phase.toLowerCase()}`;
      await writePng(gray, size, join(out, `${stem}.png`));
      await writePng(labelHeart(beating, shot), size, join(out, `${stem}.mask.png`));
      return {
        file: `${stem}.png`,
        mask: `${stem}.mask.png`,
        view,
        phase,
        pair: `${seed}-${pair}`,
        index,
        mmPerPixel: Number(shot.acquisition.window.mmPerPixel.toFixed(4)),
        edvMl: Number(heart.endDiastolicMl.toFixed(1)),
        esvMl: Number(heart.endSystolicMl.toFixed(1)),
        efPercent: Number(ef.toFixed(1)),
        ...describe(heart, shot, MOMENTS[phase]),
      };
    }),
  );
}

function parseViews(list: string): ApicalView[] {
  return list.split(',').map((name) => {
    const view = name.toUpperCase();
    if (!(view in APICAL_RIGHT)) {
      throw new Error(`unknown view "${name}"; known: ${Object.keys(APICAL_RIGHT).join(', ')}`);
    }
    return view as ApicalView;
  });
}

/**
 * Writes `count` images, starting with pair number `first`. There are two images of each heart, and
 * the views alternate.
 */
async function generate(
  views: readonly ApicalView[],
  request: { seed: number; size: number; out: string; count: number; first: number },
): Promise<void> {
  const { out, count, first } = request;
  await mkdir(out, { recursive: true });
  const labels = createWriteStream(join(out, first ? `labels-${first}.jsonl` : 'labels.jsonl'));
  for (let pair = first; pair < first + count / 2; pair++) {
    const view = views[pair % views.length] as ApicalView;
    for (const label of await writePair(pair, view, request)) {
      labels.write(`${JSON.stringify(label)}\n`);
    }
  }
  labels.end();
  await finished(labels);
}

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    count: { type: 'string', default: '32' },
    first: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    views: { type: 'string', default: 'a4c' },
    size: { type: 'string', default: '256' },
  },
});
const numbers = {
  count: Number(values.count),
  first: Number(values.first),
  seed: Number(values.seed),
  size: Number(values.size),
};
if (values.out === undefined || !Object.values(numbers).every(Number.isInteger)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await generate(parseViews(values.views), { ...numbers, out: values.out });
}
