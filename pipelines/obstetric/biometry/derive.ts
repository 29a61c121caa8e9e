import type { ObstetricConcept, ObstetricMethod } from '../../concepts/obstetric.ts';
import { axisEnds } from '../../measure/ellipse.ts';
import { isFromReport, type Measurement } from '../../result/envelope.ts';
import { isOfMachine, lineBetween, measuredOn } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { remarkOfBiometry, say } from '../../result/render/obstetric/biometry.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import { categoryWithin } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  createMeasurement,
  isShapeOf,
  uncertaintyOfRatio,
} from '../shared/measurement.ts';
import type { FrameReading } from '../shared/plane.ts';
import { BPD_PLANES, excludedBy } from '../shared/plane.ts';
import {
  CEPHALIC_INDEX_RANGE,
  cephalicIndex,
  femurAbdomenRatio,
  femurBpdRatio,
  HADLOCK_1984_AGE,
  HADLOCK_1984_WEEKS,
  hadlock1984HcTwoSd,
  headAbdomenRatio,
  WEIGHT_FORMULAS,
} from './formulas.ts';
import type { BiometryEvidence } from './measure.ts';

const DAYS_PER_WEEK = 7;
const MM_PER_CM = 10;

/**
 * Half width of the 95 % interval of a weight, as a share of the weight: two standard deviations of
 * 7.5 % (obstetric 2.5). Formulas with only two lengths are less exact by an unknown amount, so for
 * them this is a minimum.
 */
const WEIGHT_UNCERTAINTY = 0.15;
/** The INTERGROWTH weight is used from this age on or, if the age is unknown, from this AC on. */
const INTERGROWTH_WEIGHT = { fromDays: 22 * DAYS_PER_WEEK, fromAcMm: 160 } as const;

/** Range of weights in g in which the error of the formulas is known (obstetric 2.5). */
const WEIGHT_GRAMS = { from: 500, to: 4500 } as const;

/** Caliper placement of the BPD that was used. Machine reports do not record it (obstetric 2.1). */
type BpdConvention = 'outer-outer' | 'not-stated';

/**
 * Returns the caliper placement of the BPD that was used. If there is no BPD, returns our own
 * convention.
 */
export function bpdConvention(lengths: readonly Measurement[]): BpdConvention {
  const bpd = acceptedValue(lengths, 'bpd');
  return bpd && isFromReport(bpd) ? 'not-stated' : 'outer-outer';
}

type Given = Omit<Parameters<typeof createMeasurement>[3], 'section'>;

function derived(
  key: ObstetricConcept,
  value: number,
  method: ObstetricMethod,
  inputs: readonly Measurement[],
  given: Given,
): Measurement {
  const plausible = isPlausible(key, value);
  return createMeasurement(key, value, method, {
    section: 'biometry',
    inputs: inputs.map(({ id }) => id),
    quality: plausible ? 'accepted' : 'inadequate',
    ...given,
    ...(plausible ? {} : { remarks: [remark('obstetric.implausible', {})] }),
  });
}

/** Returns a length in cm, the unit of Hadlock's equations. */
const cm = (measurement: Measurement) => measurement.value / MM_PER_CM;

/**
 * Marks an age outside the range of its equation as inadequate: it is shown but not used (obstetric
 * 0.5).
 */
function withinEquation(weeks: number): Given {
  const { from, to } = HADLOCK_1984_WEEKS;
  return weeks >= from && weeks <= to
    ? {}
    : {
        quality: 'inadequate',
        remarks: [remarkOfBiometry('biometry.outside-equation', { from, to })],
      };
}

function ages(hc: Measurement | null, ac: Measurement | null, fl: Measurement | null) {
  if (!hc) return [];
  const weeks = HADLOCK_1984_AGE.hc({ hc: cm(hc) });
  const twoSd = hadlock1984HcTwoSd(weeks);
  const byHc = derived('ga-by-hc', weeks * DAYS_PER_WEEK, 'hadlock-1984-ga-hc', [hc], {
    uncertainty: twoSd && twoSd * DAYS_PER_WEEK,
    // The widths of these intervals were recalled from memory and never compared with their source
    // (grade R of obstetric 0.1; see 2.4). The remark states this.
    remarks: twoSd === null ? [] : [remarkOfBiometry('biometry.interval-not-checked', {})],
    ...withinEquation(weeks),
  });
  if (!ac || !fl) return [byHc];
  const composite = HADLOCK_1984_AGE['hc-ac-fl']({ hc: cm(hc), ac: cm(ac), fl: cm(fl) });
  return [
    byHc,
    derived(
      'ga-by-hc-ac-fl',
      composite * DAYS_PER_WEEK,
      'hadlock-1984-ga-hc-ac-fl',
      [hc, ac, fl],
      withinEquation(composite),
    ),
  ];
}

const intergrowthWeightHolds = (ac: Measurement, gaDays: number | null) =>
  gaDays === null ? ac.value >= INTERGROWTH_WEIGHT.fromAcMm : gaDays >= INTERGROWTH_WEIGHT.fromDays;

/**
 * Returns why there is no weight (obstetric 2.6); null if there is a weight.
 * @param held lengths that need review.
 */
export function weightGap(
  lengths: readonly Measurement[],
  gaDays: number | null,
  held: ReadonlySet<ObstetricConcept> = new Set(),
): Statement | null {
  const [hc, ac, fl] = (['hc', 'ac', 'fl'] as const).map((key) => acceptedValue(lengths, key));
  const withheld = lengths.some(({ concept }) => concept.key === 'ac');
  const waiting = (...keys: ('hc' | 'ac' | 'fl')[]) => {
    const own = keys.filter((key) => held.has(key));
    return own.length > 0 ? say.gap('biometry.no-weight-before-review', { keys: own }) : null;
  };
  if (!ac) return waiting('ac') ?? say.gap('biometry.no-weight-without-ac', { withheld });
  const [efw] = weight(hc ?? null, ac, fl ?? null, gaDays);
  if (efw) return efw.quality === 'accepted' ? null : say.gap('biometry.weight-implausible', {});
  if (!hc) return waiting('hc', 'fl') ?? say.gap('biometry.no-weight-without-hc-fl', {});
  const unreviewed = waiting('fl');
  if (unreviewed) return unreviewed;
  const { fromDays, fromAcMm } = INTERGROWTH_WEIGHT;
  return say.gap('biometry.no-weight-without-fl', {
    fromDays: gaDays === null ? null : fromDays,
    fromAcMm,
  });
}

/**
 * Maximum accepted difference between two weight formulas for the same lengths, as a share of the
 * weight (obstetric 0.6).
 */
export const WEIGHTS_DIFFER = 0.1;

/**
 * Returns two weights in g, one from HC, AC and FL and one from AC and FL only, if they differ by
 * more than `WEIGHTS_DIFFER`; otherwise null.
 */
export function weightsApart(lengths: readonly Measurement[]): [number, number] | null {
  const [hc, ac, fl] = (['hc', 'ac', 'fl'] as const).map((key) => acceptedValue(lengths, key));
  if (!hc || !ac || !fl) return null;
  const inputs = { hc: cm(hc), ac: cm(ac), fl: cm(fl) };
  const full = WEIGHT_FORMULAS['hadlock-hc-ac-fl'](inputs);
  const reduced = WEIGHT_FORMULAS['hadlock-ac-fl'](inputs);
  return Math.abs(reduced - full) > WEIGHTS_DIFFER * full ? [full, reduced] : null;
}

/**
 * Returns the weight by the formula that obstetric 2.5 selects for the available lengths, with a
 * remark if a length is missing. Empty if no formula applies.
 */
function weight(
  hc: Measurement | null,
  ac: Measurement | null,
  fl: Measurement | null,
  gaDays: number | null,
): Measurement[] {
  const efw = (
    grams: number,
    method: ObstetricMethod,
    inputs: readonly Measurement[],
    without?: 'HC' | 'FL',
  ) => {
    const { from, to } = WEIGHT_GRAMS;
    const remarks = [
      ...(without ? [remarkOfBiometry('biometry.reduced-inputs', { without })] : []),
      ...(grams < from || grams > to
        ? [remarkOfBiometry('biometry.weight-beyond', { from, to })]
        : []),
    ];
    return [
      derived('efw', grams, method, inputs, { uncertainty: WEIGHT_UNCERTAINTY * grams, remarks }),
    ];
  };
  if (!ac) return [];
  if (hc && fl) {
    const grams = WEIGHT_FORMULAS['hadlock-hc-ac-fl']({ hc: cm(hc), ac: cm(ac), fl: cm(fl) });
    return efw(grams, 'hadlock-1985-efw-hc-ac-fl', [hc, ac, fl]);
  }
  if (fl) {
    const grams = WEIGHT_FORMULAS['hadlock-ac-fl']({ ac: cm(ac), fl: cm(fl) });
    return efw(grams, 'hadlock-1985-efw-ac-fl', [ac, fl], 'HC');
  }
  if (!hc || !intergrowthWeightHolds(ac, gaDays)) return [];
  const grams = WEIGHT_FORMULAS['intergrowth-hc-ac']({ hc: cm(hc), ac: cm(ac) });
  return efw(grams, 'intergrowth-2017-efw-hc-ac', [hc, ac], 'FL');
}

function ratios(
  convention: BpdConvention,
  bpd: Measurement | null,
  ofd: Measurement | null,
  hc: Measurement | null,
  ac: Measurement | null,
  fl: Measurement | null,
): Measurement[] {
  // An axis of the head is assumed to have the same relative uncertainty as the circumference.
  const share = hc?.uncertainty == null ? null : hc.uncertainty / hc.value;
  const withShare = (one: Measurement) =>
    (one === bpd || one === ofd) && one.uncertainty === null && share !== null && !isOfMachine(one)
      ? { value: one.value, uncertainty: share * one.value }
      : one;
  const ratio = (
    key: ObstetricConcept,
    value: (first: number, second: number) => number,
    first: Measurement | null,
    second: Measurement | null,
    given: Given = {},
  ) => {
    if (!first || !second) return [];
    const of = value(first.value, second.value);
    const uncertainty = uncertaintyOfRatio(of, [first, second].map(withShare));
    return [derived(key, of, 'ratio', [first, second], { uncertainty, ...given })];
  };
  return [
    ...ratio('cephalic-index', cephalicIndex, bpd, ofd, {
      remarks: [remarkOfBiometry('biometry.index-placement', { placement: convention })],
    }),
    ...ratio('hc-ac-ratio', headAbdomenRatio, hc, ac),
    ...ratio('fl-ac-ratio', femurAbdomenRatio, fl, ac),
    ...ratio('fl-bpd-ratio', femurBpdRatio, fl, bpd, {
      remarks: [remarkOfBiometry('biometry.femur-ratio-placement', { placement: convention })],
    }),
  ];
}

/**
 * Returns gestational age, weight and ratios calculated from the accepted lengths. Values that lack
 * an input are left out.
 */
export function deriveBiometry(
  lengths: readonly Measurement[],
  gaDays: number | null,
): Measurement[] {
  const of = (key: ObstetricConcept) => acceptedValue(lengths, key);
  const [hc, ac, fl] = [of('hc'), of('ac'), of('fl')];
  return [
    ...ages(hc, ac, fl),
    ...weight(hc, ac, fl, gaDays),
    ...ratios(bpdConvention(lengths), of('bpd'), of('ofd'), hc, ac, fl),
  ];
}

/**
 * Returns the term for a head with a cephalic index (in %) outside the usual range (Hadlock 1981);
 * null if within the range. The range is for a BPD measured outer to inner.
 */
export function headShape(index: number): 'dolichocephaly' | 'brachycephaly' | null {
  if (index < CEPHALIC_INDEX_RANGE.low) return 'dolichocephaly';
  return index > CEPHALIC_INDEX_RANGE.high ? 'brachycephaly' : null;
}

/**
 * Percentage points by which the cephalic index is higher with this caliper placement than with an
 * outer-to-inner BPD (obstetric 2.3).
 */
const ABOVE_OUTER_INNER = {
  'outer-outer': { least: 2, most: 3 },
  'not-stated': { least: 0, most: 3 },
} as const satisfies Record<BpdConvention, { least: number; most: number }>;

/**
 * Returns the term for the shape of a head, and the range of its cephalic index if the BPD had been
 * measured outer to inner. Null if the shape is usual, or if it is uncertain because of the
 * interval of the index or the placement of the calipers.
 */
export function headShapeOf(index: Measurement, placement: BpdConvention) {
  const { least, most } = ABOVE_OUTER_INNER[placement];
  const outerInner = [index.value - most, index.value - least] as const;
  const [low, high] = outerInner.map(
    (value) => categoryWithin({ ...index, value }, headShape).category,
  );
  return low && low === high ? { shape: low, outerInner } : null;
}

type HeadReading = Extract<FrameReading, { structure: 'head' }>;

/**
 * Returns true if a ratio may be calculated from a head without a scale. An image whose scale was
 * refused is suspect and not used.
 */
function isUsable(reading: FrameReading): reading is HeadReading {
  const { clip, structure, located } = reading;
  if (structure !== 'head' || !located?.accepted || excludedBy(reading) !== null) return false;
  const { a, b } = located.ellipse;
  const unscaled = clip.regions.length === 0 && clip.calibrationRefused === null;
  return unscaled && isShapeOf('head', a, b);
}

/**
 * Returns the cephalic index in % of a head without a scale; empty if there is no such head. It is
 * the only value that needs no scale (obstetric 0.4); HC/AC would need head and abdomen in one
 * picture.
 */
export function uncalibratedIndex({
  readings,
  uncertainty,
}: Pick<BiometryEvidence, 'readings' | 'uncertainty'>): Measurement[] {
  const heads = readings.filter(isUsable);
  const [found] = BPD_PLANES.flatMap((planes) =>
    heads.filter(({ estimate }) => planes.includes(estimate.label)),
  );
  if (!found?.located) return [];
  const { clip, frame, located } = found;
  const [a1, a2, b1, b2] = axisEnds(located.ellipse);
  const { a, b } = located.ellipse;
  const index = cephalicIndex(Math.min(a, b), Math.max(a, b));
  const { hcPercent, smallHcPercent = hcPercent } = uncertainty;
  // Without a scale, the head may be small, so the larger of the two uncertainties is used.
  const percent = hcPercent === null ? null : Math.max(hcPercent, smallHcPercent ?? hcPercent);
  return [
    createMeasurement('cephalic-index', index, 'ratio', {
      section: 'biometry',
      uncertainty: percent === null ? null : (percent / 100) * Math.SQRT2 * index,
      source: measuredOn(clip, frame.index, 'model', [lineBetween(a1, a2), lineBetween(b1, b2)]),
      confidence: located.confidence,
      remarks: [
        remarkOfBiometry('biometry.square-pixels', {}),
        remarkOfBiometry('biometry.index-placement', { placement: 'outer-outer' }),
      ],
    }),
  ];
}
