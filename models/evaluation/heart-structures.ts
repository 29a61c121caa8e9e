import {
  axisOf,
  measureChest,
} from '../../pipelines/obstetric/fetal-heart/measure-size-and-axis.ts';
import type { Locator } from '../../pipelines/obstetric/locator.ts';
import { createRandom } from '../phantom/random.ts';
import { drawGrowth, sizesAt } from '../phantom/sizes.ts';
import { fourChamber } from '../phantom/views/four-chamber.ts';
import { deviation, type Pair, spread } from './agreement.ts';
import { planeCases, readGray, type SplitName } from './cases.ts';
import { phantomClip } from './phantom-clip.ts';

const VALUES = {
  areaRatio: 'cardiothoracic-area-ratio',
  circumferenceRatio: 'cardiothoracic-circumference-ratio',
  axisDegrees: 'cardiac-axis',
} as const;

type Show = (line: unknown) => void;

/** Returns the true circumference ratio, from the end-diastolic half axes of heart and thorax. */
function circumferenceRatio(values: Readonly<Record<string, number>>): number {
  const around = (a = 0, b = 0) => Math.PI * (3 * (a + b) - Math.sqrt((3 * a + b) * (a + 3 * b)));
  return (
    around(values.heartHalfLength, values.heartHalfWidth) /
    around(values.thoraxHalfDepth, values.thoraxHalfWidth)
  );
}

/** Heart-to-thorax area ratios in the phantoms, from small to far above the limit. */
const AREA_RATIO = { least: 0.18, most: 0.48 } as const;

/**
 * Measures the ratios and the cardiac axis on `count` stills, each at any phase of the beat, and
 * compares them with the true end-diastolic values.
 */
export async function chestOnPhantoms(locator: Locator, seed: number, count: number, show: Show) {
  const pairs: Record<keyof typeof VALUES, Pair[]> = {
    areaRatio: [],
    circumferenceRatio: [],
    axisDegrees: [],
  };
  for (let i = 0; i < count; i++) {
    const random = createRandom(seed).fork(`frame ${i}`);
    const gaDays = random.integer(fourChamber.ages.youngest, fourChamber.ages.oldest);
    const sizes = sizesAt(gaDays, drawGrowth(random));
    const areaRatio = random.range(AREA_RATIO.least, AREA_RATIO.most);
    const [phantom] = fourChamber.simulate({
      ...{ gaDays, sizes, seed: seed + i, frames: 1 },
      anatomy: { areaRatio },
    });
    if (!phantom) continue;
    const { clip, frame, image } = phantomClip(phantom);
    const [located = null] = (await locator.chest?.([image])) ?? [];
    const found = measureChest([{ clip, frame, located }], null);
    const given = phantom.truth.values ?? {};
    const truth = { ...given, circumferenceRatio: circumferenceRatio(given) };
    for (const name of Object.keys(VALUES) as (keyof typeof VALUES)[]) {
      const own = found.find(({ concept }) => concept.key === VALUES[name]);
      const pair = {
        truth: (truth as Record<string, number>)[name] ?? Number.NaN,
        measured: own?.value ?? null,
        accepted: own?.quality === 'accepted',
      };
      pairs[name].push(pair);
      show({ i, name, ...pair, confidence: own?.confidence });
    }
  }
  return {
    areaRatio: deviation(pairs.areaRatio),
    circumferenceRatio: deviation(pairs.circumferenceRatio),
    axisDegrees: deviation(pairs.axisDegrees),
  };
}

/**
 * Treats every real image as a chest. For each plane, returns how many images were accepted, and
 * their heart-to-thorax area ratios and cardiac axes. There are no reference values, but every
 * acceptance on a plane other than the thorax is wrong.
 */
export async function chestOnReal(locator: Locator, data: string, split: SplitName, show: Show) {
  const seen: Record<
    string,
    { images: number; accepted: number; axes: number[]; ratios: number[] }
  > = {};
  for (const { image: file, path, plane = 'unknown' } of await planeCases(data, split)) {
    seen[plane] ??= { images: 0, accepted: 0, axes: [], ratios: [] };
    const counted = seen[plane];
    const [located = null] = (await locator.chest?.([await readGray(path)])) ?? [];
    counted.images += 1;
    const { heart, thorax, septum } = located ?? {};
    show({ file, plane, confidence: located?.confidence, septum: septum?.confidence });
    if (!located?.accepted || !heart || !thorax) continue;
    counted.accepted += 1;
    counted.ratios.push(Number(((heart.a * heart.b) / (thorax.a * thorax.b)).toFixed(2)));
    if (septum?.accepted) counted.axes.push(Math.round(axisOf(septum, thorax)));
  }
  return Object.fromEntries(
    Object.entries(seen).map(([plane, { images, accepted, axes, ratios }]) => [
      plane,
      { images, accepted, areaRatio: spread(ratios), axes: axes.length, axisDegrees: spread(axes) },
    ]),
  );
}
