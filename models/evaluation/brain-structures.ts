import { distance } from '../../pipelines/measure/ellipse.ts';
import type { LocatedBrain } from '../../pipelines/obstetric/anomaly-screen/evidence.ts';
import type { Locator } from '../../pipelines/obstetric/locator.ts';
import { createRandom } from '../phantom/random.ts';
import { drawGrowth, sizesAt } from '../phantom/sizes.ts';
import { cerebellum, lateralVentricle } from '../phantom/views/brain-structures.ts';
import { deviation, type Pair, spread } from './agreement.ts';
import { planeCases, readGray, type SplitName } from './cases.ts';
import { headReadings } from './heads.ts';
import { phantomClip } from './phantom-clip.ts';

const PARTS = {
  cerebellum: { view: cerebellum, truth: 'tcdMm' },
  cisternaMagna: { view: cerebellum, truth: 'cisternaMm' },
  atrium: { view: lateralVentricle, truth: 'atrialMm' },
} as const;
type Part = keyof typeof PARTS & keyof LocatedBrain;

type Show = (line: unknown) => void;

const SQUARE = { x: 1, y: 1 };

/** Measures the lengths on `count` phantoms of each view, with heads outlined as in the product. */
export async function brainOnPhantoms(locator: Locator, seed: number, count: number, show: Show) {
  const pairs: Record<Part, Pair[]> = { cerebellum: [], cisternaMagna: [], atrium: [] };
  for (let i = 0; i < 2 * count; i++) {
    const view = i % 2 === 0 ? cerebellum : lateralVentricle;
    const random = createRandom(seed).fork(`frame ${i}`);
    const gaDays = random.integer(view.ages.youngest, view.ages.oldest);
    const sizes = sizesAt(gaDays, drawGrowth(random));
    const [phantom] = view.simulate({ gaDays, sizes, seed: seed + i, frames: 1 });
    if (!phantom) continue;
    const { image } = phantomClip(phantom);
    const [head] = (await locator.head?.([image])) ?? [];
    const located = head?.accepted ? await locator.brain?.(image, head.ellipse) : null;
    for (const part of Object.keys(PARTS) as Part[]) {
      if (PARTS[part].view !== view) continue;
      const found = located?.[part] ?? null;
      const scale = { x: phantom.truth.mmPerPixel, y: phantom.truth.mmPerPixel };
      const pair = {
        truth: phantom.truth.values?.[PARTS[part].truth] ?? Number.NaN,
        measured: found && distance(...found.ends, scale),
        accepted: found?.accepted ?? false,
      };
      pairs[part].push(pair);
      show({ i, part, ...pair, confidence: found?.confidence });
    }
  }
  return {
    cerebellum: deviation(pairs.cerebellum),
    cisternaMagna: deviation(pairs.cisternaMagna),
    atrium: deviation(pairs.atrium),
  };
}

interface RealCount {
  images: number;
  heads: number;
  /** Accepted lengths divided by the width of the head (BPD). This ratio needs no calibration. */
  overBpd: Record<Part, number[]>;
  /** Accepted lengths in per cent of a reader's measurement, for structures that the reader saw. */
  ofRead: Record<Part, Pair[]>;
}

/**
 * Counts how many lengths would be accepted on the real images of each plane. The images have no
 * scale, so the lengths are compared with the width of the head and with a reader's measurements. A
 * length accepted on another plane is false unless the reader saw the structure there.
 */
export async function brainOnReal(locator: Locator, data: string, split: SplitName, show: Show) {
  const seen: Record<string, RealCount> = {};
  const readings = await headReadings();
  const heads = ['transcerebellar', 'transventricular', 'transthalamic'];
  for (const { dataset, image: file, path, plane = '' } of await planeCases(data, split)) {
    if (!heads.includes(plane)) continue;
    seen[plane] ??= {
      images: 0,
      heads: 0,
      overBpd: { cerebellum: [], cisternaMagna: [], atrium: [] },
      ofRead: { cerebellum: [], cisternaMagna: [], atrium: [] },
    };
    const counted = seen[plane];
    counted.images += 1;
    const image = await readGray(path);
    const [head] = (await locator.head?.([image])) ?? [];
    if (!head?.accepted || !locator.brain) continue;
    counted.heads += 1;
    const located = await locator.brain(image, head.ellipse);
    for (const part of Object.keys(PARTS) as Part[]) {
      const found = located[part];
      const accepted = found?.accepted ?? false;
      const read = readings.get(`${dataset}/${file}`)?.lengths[part] ?? null;
      if (read !== null) {
        const measured = found && (100 * distance(...found.ends, SQUARE)) / read;
        counted.ofRead[part].push({ truth: 100, measured, accepted });
      }
      const ratio = found ? distance(...found.ends, SQUARE) / (2 * head.ellipse.b) : null;
      show({ file, plane, part, ratio, read, confidence: found?.confidence, accepted });
      if (!found?.accepted || ratio === null) continue;
      counted.overBpd[part].push(ratio);
    }
  }
  const beside = (pairs: readonly Pair[]) => (pairs.length > 0 ? deviation(pairs) : null);
  const shown = (ratios: readonly number[]) => ({ accepted: ratios.length, ...spread(ratios) });
  return Object.fromEntries(
    Object.entries(seen).map(([plane, { images, heads: outlined, overBpd, ofRead }]) => [
      plane,
      {
        images,
        outlined,
        cerebellumOverBpd: shown(overBpd.cerebellum),
        cisternaMagnaOverBpd: shown(overBpd.cisternaMagna),
        atriumOverBpd: shown(overBpd.atrium),
        cerebellumInPercentOfRead: beside(ofRead.cerebellum),
        cisternaMagnaInPercentOfRead: beside(ofRead.cisternaMagna),
        atriumInPercentOfRead: beside(ofRead.atrium),
      },
    ]),
  );
}
