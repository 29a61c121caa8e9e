import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { Remark } from '../../result/statement.ts';
import type { ApicalView } from '../chambers/gaps.ts';
import { inadequate } from './plausibility.ts';
import { belongsToMachine } from './section.ts';
import { valuesOf } from './values.ts';

/** Plausible stroke volumes from a contour, ml (echo 4.6). */
const STROKE = [10, 200] as const;

interface Pair {
  /** Two concepts whose values describe the same ventricle. */
  of: readonly [EchoConcept, EchoConcept];
  fault(one: number, other: number): Remark | null;
  /** Concepts whose values are withheld if the two values contradict each other. */
  withheld: readonly EchoConcept[];
}

function strokeFault(filled: number, emptied: number): Remark | null {
  const stroke = filled - emptied;
  if (stroke >= STROKE[0] && stroke <= STROKE[1]) return null;
  const [low, high] = STROKE;
  return remarkOfEcho('echo.stroke-implausible', { stroke, low, high });
}

const volumes = (
  filled: EchoConcept,
  emptied: EchoConcept,
  others: readonly EchoConcept[],
): Pair => ({
  of: [filled, emptied],
  fault: strokeFault,
  withheld: [filled, emptied, ...others],
});

const areas = (filled: EchoConcept, emptied: EchoConcept): Pair => ({
  of: [filled, emptied],
  fault: (one, other) =>
    other < one ? null : remarkOfEcho('echo.contradiction', { pair: 'area-not-smaller' }),
  withheld: [filled, emptied],
});

const PAIRS: readonly Pair[] = [
  volumes('lvedv-biplane', 'lvesv-biplane', ['lvef-biplane', 'lvedv-index', 'lvesv-index']),
  volumes('lvedv-4c', 'lvesv-4c', ['lvef-4c', 'lvef-networks']),
  volumes('lvedv-2c', 'lvesv-2c', ['lvef-2c']),
  {
    of: ['lvidd', 'lvids'],
    fault: (diastole, systole) =>
      systole < diastole
        ? null
        : remarkOfEcho('echo.contradiction', { pair: 'diameter-not-smaller' }),
    withheld: ['lvids', 'fractional-shortening'],
  },
  areas('lv-ed-area-4c', 'lv-es-area-4c'),
  areas('lv-ed-area-2c', 'lv-es-area-2c'),
  areas('lv-ed-area-3c', 'lv-es-area-3c'),
];

function faultsOf(measured: readonly Measurement[]): ReadonlyMap<string, Remark> {
  const values = valuesOf(measured);
  return new Map(
    PAIRS.flatMap(({ of: [first, second], fault, withheld }) => {
      const [one, other] = [values.number(first), values.number(second)];
      const reason = one === null || other === null ? null : fault(one, other);
      return reason ? withheld.map((key) => [key, reason] as const) : [];
    }),
  );
}

const OF_LV_4C = ['lv-ed-area-4c', 'lv-length-4c', 'lvedv-4c'] as const;
const OF_LV_2C = ['lv-ed-area-2c', 'lv-length-2c', 'lvedv-2c'] as const;
const OF_LV_3C = ['lv-ed-area-3c'] as const;
/** Values of the ventricle by its outlines in end-diastole and end-systole. */
const OF_BEAT_4C = [...OF_LV_4C, 'lv-es-area-4c', 'lvesv-4c'] as const;
const OF_BEAT_2C = [...OF_LV_2C, 'lv-es-area-2c', 'lvesv-2c'] as const;
const OF_BEAT_3C = [...OF_LV_3C, 'lv-es-area-3c'] as const;
const OF_LA_4C = ['la-area-4c', 'la-volume-4c'] as const;
const OF_LA_2C = ['la-area-2c', 'la-volume-2c'] as const;
const WALLS = ['ivsd', 'lvidd', 'lvpwd'] as const;

/**
 * For each value, the values on which it is based: those from which it is calculated, or those
 * measured on the same outline or trace. If one of them is implausible, the value is unreliable too
 * (echo 3). Sections never calculate from a withheld value, so this table is needed only for values
 * calculated before the sections run, by the machine or from the images.
 */
const RESTS_ON: Readonly<Partial<Record<EchoConcept, readonly EchoConcept[]>>> = {
  'lv-ed-area-4c': OF_LV_4C,
  'lv-es-area-4c': OF_BEAT_4C,
  'lv-length-4c': OF_LV_4C,
  'lvedv-4c': OF_LV_4C,
  'lvesv-4c': OF_BEAT_4C,
  'lvef-4c': OF_BEAT_4C,
  // Half of the combined LVEF comes from the A4C discs.
  'lvef-networks': [...OF_LV_4C, 'lvef-4c'],
  'gls-end-systolic-4c': OF_BEAT_4C,
  'lv-ed-area-2c': OF_LV_2C,
  'lv-es-area-2c': OF_BEAT_2C,
  'lv-length-2c': OF_LV_2C,
  'lvedv-2c': OF_LV_2C,
  'lvesv-2c': OF_BEAT_2C,
  'lvef-2c': OF_BEAT_2C,
  'gls-end-systolic-2c': OF_BEAT_2C,
  'lv-es-area-3c': OF_LV_3C,
  'gls-end-systolic-3c': OF_BEAT_3C,
  'lvedv-biplane': [...OF_LV_4C, ...OF_LV_2C],
  'lvesv-biplane': [...OF_BEAT_4C, ...OF_BEAT_2C],
  'lvef-biplane': ['lvedv-biplane', 'lvesv-biplane'],
  'lvedv-index': ['lvedv-biplane', 'body-surface-area'],
  'lvesv-index': ['lvesv-biplane', 'body-surface-area'],
  'la-area-4c': OF_LA_4C,
  'la-length-4c': OF_LA_4C,
  'la-volume-4c': OF_LA_4C,
  'la-area-2c': OF_LA_2C,
  'la-length-2c': OF_LA_2C,
  'la-volume-2c': OF_LA_2C,
  'la-volume-biplane': [...OF_LA_4C, ...OF_LA_2C],
  'la-volume-area-length': [...OF_LA_4C, ...OF_LA_2C],
  'la-volume-index': ['la-volume-biplane', 'body-surface-area'],
  'la-volume-index-area-length': ['la-volume-area-length', 'body-surface-area'],
  'lv-mass': WALLS,
  'lv-mass-index': [...WALLS, 'lv-mass', 'body-surface-area'],
  'relative-wall-thickness': ['lvidd', 'lvpwd'],
  'fractional-shortening': ['lvidd', 'lvids'],
  'lvef-teichholz': ['lvidd', 'lvids'],
  'rv-fac': ['rv-ed-area', 'rv-es-area'],
  'rv-to-lv': ['rv-basal', ...OF_LV_4C],
  'rv-to-lv-area': ['rv-ed-area', ...OF_LV_4C],
  'ra-pressure': ['ivc-diameter', 'ivc-collapse'],
  'gls-end-systolic': ['gls-end-systolic-4c', 'gls-end-systolic-2c', 'gls-end-systolic-3c'],
  'gls-peak-systolic': ['gls-peak-systolic-4c', 'gls-peak-systolic-2c', 'gls-peak-systolic-3c'],
  'gls-peak': ['gls-peak-4c', 'gls-peak-2c', 'gls-peak-3c'],
  'pulmonary-vein-ratio': ['pulmonary-vein-s', 'pulmonary-vein-d'],
  'mv-area-half-time': ['mv-half-time'],
  'mitral-a-duration': ['mitral-a'],
  'deceleration-time': ['mitral-e'],
  'e-to-a': ['mitral-e', 'mitral-a'],
  'e-to-e-prime': ['mitral-e', 'e-prime-septal', 'e-prime-lateral'],
  'e-to-e-prime-septal': ['mitral-e', 'e-prime-septal'],
  'e-to-e-prime-lateral': ['mitral-e', 'e-prime-lateral'],
  'av-mean-gradient': ['av-vmax'],
  'av-vti': ['av-vmax'],
  'av-area': ['lvot-diameter', 'lvot-vti', 'av-vmax', 'av-vti'],
  'av-area-vmax': ['lvot-diameter', 'lvot-vmax', 'av-vmax'],
  'av-area-index': ['av-area', 'body-surface-area'],
  'av-area-vmax-index': ['av-area-vmax', 'body-surface-area'],
  'velocity-index': ['lvot-vti', 'av-vmax', 'av-vti'],
  'lvot-stroke-volume': ['lvot-diameter', 'lvot-vti'],
  'lvot-stroke-index': ['lvot-stroke-volume', 'body-surface-area'],
  'ivc-collapse': ['ivc-diameter', 'ivc-least-diameter'],
  'tr-gradient': ['tr-vmax'],
  rvsp: ['tr-vmax', 'ra-pressure'],
  'tapse-to-spap': ['tapse', 'tr-vmax', 'rvsp'],
};

/** Values measured on the outlines of the ventricle in an apical view. */
export const OF_BEAT: Readonly<Record<ApicalView, readonly EchoConcept[]>> = {
  A4C: OF_BEAT_4C,
  A2C: OF_BEAT_2C,
  A3C: OF_BEAT_3C,
};

/** Returns the concepts on which a value is based, or that are measured on the same outline. */
export const restsOn = (key: string): readonly EchoConcept[] => RESTS_ON[key as EchoConcept] ?? [];

function withheldIn(measured: readonly Measurement[]): Set<string> {
  const accepted = new Set(
    measured.filter(({ quality }) => quality === 'accepted').map(({ concept }) => concept.key),
  );
  return new Set(
    measured
      .filter(({ quality, concept }) => quality === 'inadequate' && !accepted.has(concept.key))
      .map(({ concept }) => concept.key),
  );
}

function withDependants(measured: readonly Measurement[]): readonly Measurement[] {
  const withheld = withheldIn(measured);
  let changed = false;
  const next = measured.map((one) => {
    const fault = restsOn(one.concept.key).find(
      (key) => key !== one.concept.key && withheld.has(key),
    );
    if (!fault || one.quality !== 'accepted') return one;
    const marked = inadequate(one, remarkOfEcho('echo.rests-on-withheld', { key: fault }));
    // A value that a person confirmed stays accepted.
    changed ||= marked !== one;
    return marked;
  });
  return changed ? withDependants(next) : next;
}

/**
 * Marks values as inadequate if no heart could have them together. Values based on such a value, or
 * on an implausible value from the same source (machine or images), are marked too (echo 3, 4.6,
 * 5.5).
 */
export function withConsistency(measured: readonly Measurement[]): Measurement[] {
  const ofMachine = faultsOf(measured.filter(belongsToMachine));
  const ofImages = faultsOf(measured.filter((one) => !belongsToMachine(one)));
  const consistent = measured.map((one) => {
    const reason = (belongsToMachine(one) ? ofMachine : ofImages).get(one.concept.key);
    if (!reason || one.quality !== 'accepted') return one;
    return inadequate(one, reason);
  });
  const sources = [true, false].flatMap((machine) =>
    withDependants(consistent.filter((one) => belongsToMachine(one) === machine)),
  );
  // The order must not change, because the first value of a quantity is the one that is used.
  const found = new Map(sources.map((one) => [one.id, one]));
  return consistent.map((one) => found.get(one.id) ?? one);
}
