import { scaleFor } from '../../contract/study.ts';
import { distance } from '../../measure/ellipse.ts';
import type { Measurement } from '../../result/envelope.ts';
import { asRepeat, isConfirmed, lineBetween, measuredOn } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { remarkOfFluid, say } from '../../result/render/obstetric/amniotic-fluid.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import { categoryWithin } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { createMeasurement } from '../shared/measurement.ts';
import type { FluidReading } from './evidence.ts';
import { AFI_FROM_DAYS, fluidIndex, MM_PER_CM, mooreCayleFluidIndex } from './guideline.ts';

/**
 * Number of quadrants of the uterus. The index is the sum of the deepest pockets, one from each.
 */
export const QUADRANT_COUNT = 4;

export interface MeasuredPocket {
  reading: FluidReading;
  measurement: Measurement;
  /**
   * True if one end is the edge of the picture, so the true depth may be greater; false if a person
   * confirmed the depth.
   */
  cut: boolean;
}

/** Measures the pocket on a frame in mm. Null without a scale, or an accepted, plausible pocket. */
export function measurePocket(
  reading: FluidReading,
  uncertainty: number | null,
): MeasuredPocket | null {
  const { clip, frame, pocket } = reading;
  const scale = pocket && scaleFor(clip, [pocket.top, pocket.bottom])?.scale;
  if (!pocket || !scale) return null;
  const depth = distance(pocket.top, pocket.bottom, scale);
  const used = pocket.accepted && isPlausible('deepest-vertical-pocket', depth);
  const measurement = createMeasurement('deepest-vertical-pocket', depth, 'vertical-pocket', {
    section: 'amniotic-fluid',
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'model', [lineBetween(pocket.top, pocket.bottom)]),
    confidence: pocket.confidence,
    uncertainty,
    quality: used ? (pocket.cut ? 'low' : 'accepted') : 'low',
    remarks: [
      ...(pocket.cut ? [remarkOfFluid('fluid.at-least', {})] : []),
      remark('method.simulated-only', {}),
    ],
  });
  const cut = pocket.cut && !isConfirmed(measurement);
  return used ? { reading, measurement, cut } : null;
}

export const deepest = (pockets: readonly MeasuredPocket[]): MeasuredPocket | null =>
  pockets.toSorted((a, b) => b.measurement.value - a.measurement.value)[0] ?? null;

/**
 * Returns the half width of the 95 % interval of a sum of independent values (JCGM 100:2008 5.1.2);
 * null if one of the intervals is unknown.
 */
function uncertaintyOfSum(terms: readonly Measurement[]): number | null {
  const known = terms.flatMap(({ uncertainty }) => uncertainty ?? []);
  return known.length === terms.length ? Math.hypot(...known) : null;
}

/** Gap that is reported before the age at which the index is used (obstetric 4). */
export const INDEX_TOO_EARLY = say.gap('fluid.index-too-early', { days: AFI_FROM_DAYS });

/**
 * Returns the depths of the four quadrants and their index, or the reason why there is no index.
 * `named` contains the quadrants that occur in the machine's labels.
 */
export function measureIndex(
  pockets: readonly MeasuredPocket[],
  gaDays: number | undefined,
  named: ReadonlySet<number>,
): { measurements: Measurement[] } | { gap: Statement } {
  // A depth that a person rejected is not part of the index.
  const whole = pockets.filter(
    ({ cut, measurement }) => !cut && measurement.quality === 'accepted',
  );
  const [first, second, third, fourth] = Array.from({ length: QUADRANT_COUNT }, (_, index) =>
    deepest(whole.filter(({ reading }) => reading.quadrant === index)),
  );
  if (!first || !second || !third || !fourth) {
    const quadrants = [first, second, third, fourth].flatMap((one, index) =>
      one ? [] : [index + 1],
    );
    return quadrants.every((quadrant) => named.has(quadrant - 1))
      ? { gap: say.gap('fluid.quadrants-not-measured', { quadrants }) }
      : { gap: say.gap('fluid.quadrants-not-named', {}) };
  }
  if (gaDays !== undefined && gaDays < AFI_FROM_DAYS) {
    return { gap: INDEX_TOO_EARLY };
  }
  // The depths of the quadrants have the same concept as the deepest pocket. Only one value of a
  // concept may count, so the quadrants are marked as repeats.
  const quadrants = [first, second, third, fourth].map(({ measurement }, index) => ({
    ...asRepeat(measurement),
    id: `fluid-quadrant-${index + 1}`,
    remarks: [
      remarkOfFluid('fluid.quadrant', { number: index + 1 }),
      remark('method.simulated-only', {}),
    ],
  }));
  const cm = (index: number) => (quadrants[index]?.value ?? 0) / MM_PER_CM;
  const mm = fluidIndex([cm(0), cm(1), cm(2), cm(3)]) * MM_PER_CM;
  const week = gaDays === undefined ? null : gaDays / 7;
  const low = week === null ? null : mooreCayleFluidIndex(week, 5);
  const high = week === null ? null : mooreCayleFluidIndex(week, 95);
  const charted = low !== null && high !== null;
  const uncertainty = uncertaintyOfSum(quadrants);
  const rankOf = (value: number) =>
    !charted ? null : value < low ? 'L' : value > high ? 'H' : 'N';
  const index = createMeasurement('amniotic-fluid-index', mm, 'sum-of-quadrants', {
    section: 'amniotic-fluid',
    uncertainty,
    inputs: quadrants.map(({ id }) => id),
    reference: charted
      ? { low, high, centile: null, z_score: null, chart: 'moore-cayle-1990' }
      : null,
    remarks: [
      ...(week === null ? [remarkOfFluid('fluid.index-without-age', {})] : []),
      remark('method.simulated-only', {}),
    ],
  });
  // Calculated from the finished measurement, because a person may have typed its value.
  const interpretation = categoryWithin(index, rankOf).category;
  return { measurements: [...quadrants, { ...index, interpretation }] };
}
