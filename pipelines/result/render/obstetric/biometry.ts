import { remarksOf, type SentenceTable, statementsOf } from '../../statement.ts';
import type { SentenceContext, ValueTexts } from './shared.ts';
import { type Nothing, SEVERAL_FETUSES, type SeveralFetusesSource } from './shared.ts';

const SOUGHT = {
  head: 'head plane (transthalamic or transventricular)',
  abdomen: 'abdominal circumference plane',
  femur: 'femur',
} as const;
type Structure = keyof typeof SOUGHT;

/** Reasons why a frame does not show the plane for its structure (obstetric 1.1). */
const EXCLUDED = {
  'steep-femur': 'the femur is more than 45° from the horizontal',
  'cerebellum-in-view': 'the cerebellum is in view, which is not the plane for measuring a head',
} as const;
export type PlaneExclusion = keyof typeof EXCLUDED;

const LAST_RESORT = 'measured on the transcerebellar plane, as no better one was found';

/** Text for the caliper placement of the BPD in an index. */
const PLACEMENT = {
  'outer-outer': 'with BPD outer to outer',
  'not-stated': 'with the BPD from the ultrasound machine, caliper placement not stated',
} as const;
type Placement = keyof typeof PLACEMENT;

const OUTER_INDEX =
  'with BPD outer to outer: about 2 to 3 points above the outer-inner values of the published range';

/** Names of the ratios used to check lengths before they are accepted (obstetric 0.6). */
const RATIOS: Readonly<Record<string, string>> = {
  'hc-ac': 'HC/AC',
  'fl-ac': 'FL/AC',
  'fl-hc': 'FL/HC',
};

interface OutsideRatio {
  id: string;
  ratio: number;
  low: number;
  high: number;
}

const MOST_RATIO_DECIMALS = 4;

/**
 * Renders "FL/AC is 0.37, outside the plausible range of 0.15 to 0.28", with more decimals if the
 * rounded ratio would be within the rounded range.
 */
function contradictionText(outside: OutsideRatio, decimals = 2): string {
  const { id, ratio, low, high } = outside;
  const [shown, from, to] = [ratio, low, high].map((one) => one.toFixed(decimals));
  const isWithin = Number(shown) >= Number(from) && Number(shown) <= Number(to);
  return isWithin && decimals < MOST_RATIO_DECIMALS
    ? contradictionText(outside, decimals + 1)
    : `${RATIOS[id] ?? id} is ${shown}, outside the plausible range of ${from} to ${to}`;
}

type Gap = { keys: readonly string[]; structure: Structure };
const names = ({ keys }: Gap, text: ValueTexts) => text.names(keys);

/** Renders "2.1 mm (1.0 %) above the measured 210.3 mm". */
function differenceText(key: string, ours: number, machine: number, text: ValueTexts): string {
  const share = ((100 * Math.abs(machine - ours)) / ours).toFixed(1);
  const side = machine < ours ? 'below' : 'above';
  return `${text.quantity(key, Math.abs(machine - ours))} (${share} %) ${side} the measured ${text.quantity(key, ours)}`;
}

const because = (why: string) => `Estimated weight was not computed because ${why}.`;

export const BIOMETRY_SENTENCES = {
  'biometry.values': (_: Nothing, { about, text }: SentenceContext) =>
    about.length > 0
      ? `${about.map((one) => `${text.names([one.concept.key])} ${text.value(one)}`).join(', ')}.`
      : 'No length that could be accepted was measured.',
  'biometry.of-machine': (_: Nothing, { about, text }: SentenceContext) =>
    `${text.names(about.map(({ concept }) => concept.key))} from the report of the ultrasound machine.`,
  'biometry.apart': ({ source }: { source: SeveralFetusesSource }) =>
    `Each length is reported separately, without a median, an age, a weight or a ratio: ${SEVERAL_FETUSES[source]}.`,
  'biometry.plane-missing': (gap: Gap, { text }: SentenceContext) =>
    `${names(gap, text)} not measured: no ${SOUGHT[gap.structure]} was found.`,
  'biometry.plane-uncertain': (gap: Gap & { frames: number }, { text }: SentenceContext) =>
    `${names(gap, text)} not measured: no ${SOUGHT[gap.structure]} was found with certainty; ${gap.frames === 1 ? '1 frame probably shows' : `${gap.frames} frames probably show`} one.`,
  'biometry.no-model': (gap: Gap, { text }: SentenceContext) =>
    `${names(gap, text)} not measured: no permitted model locates the ${gap.structure}.`,
  /**
   * `refused` is the reason why the scale in the file was refused, as worded by the code that reads
   * the file.
   */
  'biometry.no-scale': (gap: Gap & { refused: string | null }, { text }: SentenceContext) =>
    `${names(gap, text)} not measured: ${gap.refused ?? 'no physical scale was available'}.`,
  'biometry.outside-region': (gap: Gap, { text }: SentenceContext) =>
    `${names(gap, text)} not measured: the ${gap.structure} is not inside one calibrated region.`,
  'biometry.implausible': (gap: Gap, { text }: SentenceContext) =>
    `${names(gap, text)} not accepted: the values of the ${gap.structure} are implausible.`,
  'biometry.rejected': (gap: Gap, { text }: SentenceContext) =>
    `${names(gap, text)} not used: rejected by the reader.`,
  'biometry.contradicted': (gap: Gap & OutsideRatio, { text }: SentenceContext) =>
    `${names(gap, text)} not accepted: ${contradictionText(gap)}. The lengths contradict each other; measure again by hand. If the ratio is confirmed, it is itself abnormal.`,
  'biometry.plane-excluded': (gap: Gap & { by: PlaneExclusion }, { text }: SentenceContext) =>
    `${names(gap, text)} not accepted: ${EXCLUDED[gap.by]}.`,
  'biometry.not-outlined': (gap: Gap, { text }: SentenceContext) =>
    `${names(gap, text)} not accepted: the ${gap.structure} could not be outlined with confidence.`,
  'biometry.last-resort': (
    { keys, plane }: { keys: readonly string[]; plane: string },
    { text }: SentenceContext,
  ) =>
    `${text.names(keys)} ${LAST_RESORT} (criterion not met: cerebellum not visible); confirm on the ${plane}.`,
  'biometry.repeats-differ': (
    { key, spread, machine }: { key: string; spread: number; machine: boolean },
    { text }: SentenceContext,
  ) =>
    `Repeated values of ${text.names([key])}${machine ? ' from the ultrasound machine' : ''} differ by ${text.quantity(key, spread)}; measure again.`,
  'biometry.head-shape': (
    {
      shape,
      placement,
      outerInner: [low, high],
    }: {
      shape: 'dolichocephaly' | 'brachycephaly';
      placement: Placement;
      outerInner: readonly [number, number];
    },
    { about: [index], text }: SentenceContext,
  ) => {
    const percent = (value: number) => text.quantity('cephalic-index', value);
    const published =
      placement === 'outer-outer'
        ? `, about ${percent(low)} to ${percent(high)} outer to inner`
        : '';
    return `Cephalic index ${index ? text.value(index) : ''} ${PLACEMENT[placement]}${published} (${shape}): head shape outside the usual range; head circumference is preferred to BPD.`;
  },
  /** `about` contains our length, followed by the machine's. */
  'biometry.machine-length': (
    { far }: { far: boolean },
    { about: [ours, machine], text }: SentenceContext,
  ) => {
    if (!ours || !machine) return '';
    const { key } = machine.concept;
    const difference = differenceText(key, ours.value, machine.value, text);
    const advice = far ? '; check both measurements' : '';
    return `${text.names([key])} from the ultrasound machine ${text.value(machine)}: ${difference}${advice}.`;
  },
  'biometry.machine-weight': (
    { far, limit }: { far: boolean; limit: number },
    { about: [ours, machine], text }: SentenceContext,
  ) => {
    if (!ours || !machine) return '';
    const percent = (100 * Math.abs(machine.value - ours.value)) / ours.value;
    const side = machine.value < ours.value ? 'below' : 'above';
    const advice = far ? '; check the measurements and the machine formula' : '';
    return `EFW from the ultrasound machine ${text.value(machine)}: ${text.rounded(percent, 1, [limit])} % ${side} the ${text.value(ours)} calculated here${advice}.`;
  },
  'biometry.ratio-inconsistent': (
    { ratio }: { ratio: number },
    { about: [one, other] }: SentenceContext,
  ) =>
    `${one?.label} and ${other?.label} are inconsistent (ratio ${ratio.toFixed(2)}); check both measurements.`,
  'biometry.circumference-inconsistent': (
    { percent }: { percent: number },
    { about: [circumference] }: SentenceContext,
  ) =>
    `${circumference?.label} differs by more than ${percent} % from that calculated from its two diameters; check the measurements.`,
  'biometry.bpd-not-shorter': (_: Nothing, { about: [bpd, ofd] }: SentenceContext) =>
    `${bpd?.label} is not shorter than ${ofd?.label}; check both measurements.`,
  'biometry.weights-inconsistent': (
    { full, reduced }: { full: number; reduced: number },
    { text }: SentenceContext,
  ) =>
    `The weight is ${text.quantity('efw', full)} by HC, AC and FL and ${text.quantity('efw', reduced)} by AC and FL: the head is inconsistent with the rest; check the measurements.`,
  'biometry.no-weight-without-ac': ({ withheld }: { withheld: boolean }) =>
    because(withheld ? 'AC was not accepted' : 'AC was not measured'),
  'biometry.no-weight-before-review': (
    { keys }: { keys: readonly string[] },
    { text }: SentenceContext,
  ) => because(`${text.names(keys)} ${keys.length > 1 ? 'need' : 'needs'} review`),
  'biometry.no-weight-without-hc-fl': () => because('neither HC nor FL was measured'),
  'biometry.no-weight-without-fl': (
    { fromDays, fromAcMm }: { fromDays: number | null; fromAcMm: number },
    { text }: SentenceContext,
  ) =>
    because(
      `FL was not measured, and the formula by HC and AC starts ${fromDays === null ? `at an AC of ${fromAcMm} mm` : `at ${text.weeks(fromDays)} weeks`}`,
    ),
  'biometry.weight-implausible': (_: Nothing, { text }: SentenceContext) =>
    `Estimated weight is not given: ${text.implausible('efw')}.`,
} as const satisfies SentenceTable;

export const say = statementsOf<typeof BIOMETRY_SENTENCES>();

export const BIOMETRY_REMARKS = {
  'biometry.extrapolated': () =>
    'the outline extends beyond the image and was extrapolated by the fit',
  'biometry.last-resort-plane': () => LAST_RESORT,
  'biometry.bpd-placement': ({ outerInner }: { outerInner: number }, { text }: SentenceContext) =>
    `outer to outer; outer to inner is about 3 % less, ${text.quantity('bpd', outerInner)} (estimated)`,
  'biometry.bpd-on-transventricular': () =>
    'measured on the transventricular plane; BPD should be measured on the transthalamic plane',
  'biometry.not-used': ({ by }: { by: PlaneExclusion }) => `not used: ${EXCLUDED[by]}`,
  'biometry.scale-of-request': () =>
    'measured with the scale given in the request; the image states none',
  'biometry.abdomen-axes': () =>
    'the axis along the beam was taken as the transverse axis; the spine was not located',
  'biometry.contradicts': (outside: OutsideRatio) => `not used: ${contradictionText(outside)}`,
  'biometry.wrong-shape': ({ structure }: { structure: Structure }) =>
    `implausible: not the shape of a fetal ${structure}`,
  'biometry.spread': (
    { frames, low, high }: { frames: number; low: number; high: number },
    { about: [one], text }: SentenceContext,
  ) => {
    const key = one?.concept.key ?? '';
    return `${frames} frames, ${text.quantity(key, low)} to ${text.quantity(key, high)}`;
  },
  'biometry.machine-bpd': () => 'the machine may have measured outer to inner',
  'biometry.beside-ours': ({ ours }: { ours: number }, { about: [one], text }: SentenceContext) =>
    one ? differenceText(one.concept.key, ours, one.value, text) : '',
  'biometry.with-machine-lengths': (
    { keys }: { keys: readonly string[] },
    { text }: SentenceContext,
  ) => `with ${text.names(keys)} from the ultrasound machine`,
  'biometry.weight-beyond': ({ from, to }: { from: number; to: number }) =>
    `outside ${from} to ${to} g the formula error increases`,
  'biometry.reduced-inputs': ({ without }: { without: 'HC' | 'FL' }) =>
    `reduced inputs: computed without ${without}`,
  'biometry.index-placement': ({ placement }: { placement: Placement }) =>
    placement === 'outer-outer'
      ? OUTER_INDEX
      : 'the report of the ultrasound machine does not state the caliper placement of the BPD; outer to outer reads about 2 to 3 points above the outer-inner values of the published range',
  'biometry.femur-ratio-placement': ({ placement }: { placement: Placement }) =>
    placement === 'outer-outer'
      ? 'BPD outer to outer'
      : 'the report of the ultrasound machine does not state the caliper placement of the BPD',
  'biometry.interval-not-checked': () =>
    'the interval (Hadlock 1984) was not checked against the original paper',
  'biometry.outside-equation': ({ from, to }: { from: number; to: number }) =>
    `outside the ${from} to ${to} week range of the equation; not used`,
  'biometry.square-pixels': () => 'from an image without a physical scale, assuming square pixels',
} as const satisfies SentenceTable;

export const remarkOfBiometry = remarksOf<typeof BIOMETRY_REMARKS>();
