import type { GrayImage } from '../../pipelines/contract/image.ts';
import {
  type ChamberMasks,
  isMirrored,
  labelOf,
  segmentChambers,
} from '../../pipelines/echo/locate/chambers.ts';
import { CHAMBERS, type Chamber } from '../../pipelines/echo/locate/names.ts';
import {
  type LongAxisLine,
  longAxisLines,
  segmentParasternal,
} from '../../pipelines/echo/locate/parasternal.ts';
import { mirroredImage, sectorOf } from '../../pipelines/echo/locate/sector.ts';
import { shapeFaults } from '../../pipelines/echo/locate/ventricle-pose.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { agreement, halfWidth95, type Measured, mean, round } from './agreement.ts';
import type { HeartCase, HeartFrame, LongAxisCase } from './echo-cases.ts';

type Named = readonly Chamber[];
export const LEFT_HEART: Named = ['lv', 'myocardium', 'la'];

/** Segments both phases as the product does, using the same fan for both. */
export async function segmentPair(
  session: ModelSession,
  { ed, es }: HeartCase,
): Promise<{ ed: ChamberMasks; es: ChamberMasks }> {
  const area = sectorOf([ed.image, es.image]);
  const [first, second] = await segmentChambers(session, [ed.image, es.image], area);
  if (!first || !second) throw new Error('two frames have two masks');
  return { ed: first, es: second };
}

/**
 * Returns the overlap of masks and reference for each chamber and phase, and the number of masks
 * withheld by the gate.
 */
export async function chamberAgreement(
  session: ModelSession,
  cases: readonly HeartCase[],
  named: Named,
) {
  const dice: Record<string, Record<'ED' | 'ES', number[]>> = {};
  const low = { frames: 0, aboveGate: 0, faultless: 0, lvBelow07: 0, faultlessBelow07: 0 };
  let calledMirrored = 0;
  let mirrorSeen = 0;
  for (const one of cases) {
    const found = await segmentPair(session, one);
    for (const [phase, frame, masks] of [
      ['ED', one.ed, found.ed],
      ['ES', one.es, found.es],
    ] as const) {
      for (const chamber of named) {
        const scores = dice[chamber] ?? { ED: [], ES: [] };
        dice[chamber] = scores;
        scores[phase].push(overlap(frame, masks, chamber));
      }
      const poor = overlap(frame, masks, 'lv') < 0.7;
      const faultless = shapeFaults(masks).length === 0;
      low.frames += 1;
      if (masks.accepted) low.aboveGate += 1;
      if (faultless) low.faultless += 1;
      if (poor) low.lvBelow07 += 1;
      if (poor && faultless && masks.accepted) low.faultlessBelow07 += 1;
    }
    const images: GrayImage[] = [one.ed.image, one.es.image];
    if (await isMirrored(session, images, sectorOf(images))) calledMirrored += 1;
    const turned = images.map(mirroredImage);
    if (await isMirrored(session, turned, sectorOf(turned))) mirrorSeen += 1;
  }
  const means = Object.entries(dice).map(([chamber, { ED, ES }]) => [
    chamber,
    { ED: round(mean(ED), 4), ES: round(mean(ES), 4) },
  ]);
  return {
    patients: cases.length,
    ...low,
    dice: Object.fromEntries(means),
    orientation: { calledMirrored, mirrorSeen, of: cases.length },
  };
}

function overlap({ mask }: HeartFrame, found: ChamberMasks, chamber: Chamber): number {
  const label = labelOf(chamber);
  let both = 0;
  let sum = 0;
  mask.data.forEach((value) => {
    if (value === label) sum += 1;
  });
  found.labels.forEach((value, pixel) => {
    if (value !== label) return;
    sum += 1;
    const x = found.area.minX + (pixel % found.width);
    const y = found.area.minY + Math.floor(pixel / found.width);
    if (mask.data[y * mask.width + x] === label) both += 1;
  });
  return sum === 0 ? 1 : (2 * both) / sum;
}

/** Chambers in label order. */
export const ALL_CHAMBERS: Named = CHAMBERS;

const LINES = ['septum', 'cavity', 'posterior-wall', 'sinus'] as const satisfies LongAxisLine[];

/** Measures each line of the parasternal long axis and pairs it with the phantom's line, in mm. */
export async function measureLongAxes(
  session: ModelSession,
  cases: readonly LongAxisCase[],
): Promise<Record<string, Measured[]>> {
  const measured: Record<string, Measured[]> = {};
  for (const [n, { image, mmPerPixel, mm }] of cases.entries()) {
    const [masks] = await segmentParasternal(session, [image], sectorOf([image]));
    if (!masks) continue;
    const lines = longAxisLines(masks);
    for (const name of LINES) {
      const line = lines[name];
      const length = line && Math.hypot(line[1].x - line[0].x, line[1].y - line[0].y);
      const one = {
        image: String(n),
        referenceMm: mm[name],
        measuredMm: length === undefined ? null : length * mmPerPixel,
        confidence: masks.confidence.lv,
        accepted: masks.accepted,
      };
      measured[name] = [...(measured[name] ?? []), one];
    }
  }
  return measured;
}

/**
 * Returns the agreement for each line, and the half widths of the 95 % intervals that the product
 * uses.
 */
export function longAxisAgreement(measured: Readonly<Record<string, Measured[]>>) {
  const of = <T>(value: (cases: readonly Measured[]) => T) =>
    Object.fromEntries(Object.entries(measured).map(([name, cases]) => [name, value(cases)]));
  const sets = Object.entries(of(agreement)).map(([name, set]) => [`phantom: ${name}`, set]);
  return { halfWidths95Mm: of(halfWidth95), sets: Object.fromEntries(sets) };
}
