import type { EchoConcept } from '../../concepts/echo.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { sayOfEcho } from '../../result/render/echo/shared.ts';
import type { Statement } from '../../result/statement.ts';
import { fractionalChange } from '../formulas.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import { gradeOf, SEXES } from '../shared/grading.ts';
import { belongsToMachine, type Values } from '../shared/section.ts';
import { EJECTION_FRACTION } from './guideline.ts';

/**
 * Kinds of EF, in order of preference. `headlineEf` selects the headline EF by this order and some
 * exceptions (echo 4.2).
 */
export const EF_PRECEDENCE = [
  'lvef-3d',
  'lvef-biplane',
  'lvef-networks',
  'lvef-4c',
  'lvef-2c',
  'lvef',
  'lvef-teichholz',
] as const satisfies readonly EchoConcept[];

/**
 * Returns the headline EF of the study; null if no EF was measured. An EF that a person entered
 * comes first. Among values from the images, the combined LVEF of both networks is preferred to the
 * LVEF by discs, which already contributes half of it (api 2.6). A machine value by the same or a
 * better method is preferred to both of them.
 */
export function headlineEf(values: Values): Measurement | null {
  const entered = EF_PRECEDENCE.flatMap((key) => values.all(key)).find(
    ({ confirmed }) => confirmed === 'entered',
  );
  if (entered) return entered;
  const [first] = EF_PRECEDENCE.flatMap((key) => {
    const given = values.all(key);
    return given.find(belongsToMachine) ?? given[0] ?? [];
  });
  if (!first) return null;
  const networks = values.measurement('lvef-networks');
  return !belongsToMachine(first) && networks ? networks : first;
}

interface Reading {
  key: EchoConcept;
  value: number;
  origin: 'image' | 'other-clip' | 'machine' | 'person' | 'corrected';
  /** True if the EF was calculated by us from EDV and ESV. */
  ofVolumes: boolean;
  evidence: readonly Measurement[];
}

const originOf = (ofMachine: boolean) => (ofMachine ? 'machine' : 'image');

const reading = (ef: Measurement): Reading => ({
  key: ef.concept.key as EchoConcept,
  value: ef.value,
  origin:
    ef.origin !== 'person' ? originOf(belongsToMachine(ef)) : ef.confirmed ? 'person' : 'corrected',
  ofVolumes: false,
  evidence: [ef],
});

function ofVolumes(values: Values, ofMachine: boolean): Reading[] {
  const of = (key: EchoConcept) =>
    values.all(key).find((one) => belongsToMachine(one) === ofMachine) ?? null;
  const [filled, emptied] = [of('lvedv-biplane'), of('lvesv-biplane')];
  if (!filled || !emptied) return [];
  return [
    {
      key: 'lvef',
      value: fractionalChange(filled.value, emptied.value),
      origin: originOf(ofMachine),
      ofVolumes: true,
      evidence: [filled, emptied],
    },
  ];
}

/**
 * Difference between two EFs, in percentage points, that can be explained by measurement
 * variability (echo 4.6).
 */
export const EF_VARIABILITY = 10;

/** LV dysfunction with an EF below this, per cent, is reported at once (ASE15; echo 4.4, 16). */
export const SEVERE_EF = 30;

/** Compares the printed values, so that the sentence about them is true (echo 0.3). */
export const isApart = (one: number, other: number) =>
  Math.abs(rounded(one, 0) - rounded(other, 0)) > EF_VARIABILITY;

/**
 * Returns the EF from the other source (machine or images), by the best method available. An EF
 * from a single diameter cannot contradict an EF from volumes (echo 5.2).
 */
function ofOtherSource(values: Values, ef: Measurement): Reading[] {
  const other = !belongsToMachine(ef);
  const given = EF_PRECEDENCE.flatMap((key) => values.all(key)).filter(
    (one) =>
      belongsToMachine(one) === other && (linearMethod(one) === null || linearMethod(ef) !== null),
  );
  const best = given.find(({ concept }) => !other && concept.key === 'lvef-networks') ?? given[0];
  return best ? [reading(best)] : ofVolumes(values, other);
}

/**
 * Returns the EF by biplane discs from the outlines. It can contradict the combined LVEF, which
 * both networks estimate from A4C alone.
 */
function discsOfImages(values: Values, ef: Measurement): Reading[] {
  if (ef.concept.key !== 'lvef-networks') return [];
  const given = values.all('lvef-biplane').filter((one) => !belongsToMachine(one));
  return given.length > 0 ? given.map(reading) : ofVolumes(values, false);
}

/**
 * Kinds of EF that combine several planes. An EF of a single plane (kinds and methods
 * `OF_ONE_PLANE`) does not contradict them, because the planes of one ventricle may differ.
 */
const OF_ALL_PLANES: ReadonlySet<string> = new Set(['lvef-3d', 'lvef-biplane']);
const OF_ONE_PLANE: ReadonlySet<string> = new Set([
  'lvef-4c',
  'lvef-2c',
  'cart-discs',
  'cart-area-length',
]);

const isOfOnePlane = ({ concept, method }: Measurement) =>
  OF_ONE_PLANE.has(concept.key) || OF_ONE_PLANE.has(method);

/**
 * Returns the EFs of further A4C clips. Which of the clips shows the ventricle better is not known.
 * Empty if a person confirmed the headline EF, and so decided between them.
 */
function ofOtherClips(values: Values, ef: Measurement): Reading[] {
  if (belongsToMachine(ef) || ef.confirmed || ef.concept.key !== 'lvef-networks') return [];
  return values
    .all('lvef-networks')
    .filter(({ standing }) => standing === 'repeat')
    .map((one) => ({ ...reading(one), origin: 'other-clip' }));
}

/**
 * Returns the EF of the other apical plane from the outlines, if the headline EF is from one plane
 * and there are no biplane volumes that combine both. Neither plane then shows the whole ventricle.
 * Empty if a person confirmed the headline EF, and so decided between them.
 */
function otherPlaneOfImages(values: Values, ef: Measurement): Reading[] {
  const isOnePlane = ef.concept.key === 'lvef-networks' || OF_ONE_PLANE.has(ef.concept.key);
  if (belongsToMachine(ef) || ef.confirmed || !isOnePlane) return [];
  const ofImages = (key: EchoConcept) => values.all(key).filter((one) => !belongsToMachine(one));
  if (ofImages('lvef-biplane').length > 0 || ofVolumes(values, false).length > 0) return [];
  const other = ef.concept.key === 'lvef-2c' ? 'lvef-4c' : 'lvef-2c';
  return ofImages(other).map(reading);
}

/**
 * Returns true if two EFs have different grades for at least one sex. Two EFs that have the same
 * grades although they differ by more than `EF_VARIABILITY` are always in the same heart failure
 * range too, so these ranges need not be compared (echo 4.4, 4.5).
 */
const areGradedApart = (one: number, other: number) =>
  SEXES.some(
    (sex) => gradeOf(EJECTION_FRACTION, sex, one) !== gradeOf(EJECTION_FRACTION, sex, other),
  );

/**
 * If the headline EF is the machine's, returns the machine's other EFs with a different grade.
 * Empty if a person confirmed the headline EF or corrected its volumes, and so decided between
 * them.
 */
function ofSameMachine(values: Values, ef: Measurement): Reading[] {
  if (!belongsToMachine(ef) || ef.confirmed || ef.origin === 'person') return [];
  const given = EF_PRECEDENCE.flatMap((key) => values.all(key)).filter(
    (one) =>
      belongsToMachine(one) &&
      one.id !== ef.id &&
      (linearMethod(one) === null || linearMethod(ef) !== null) &&
      !(OF_ALL_PLANES.has(ef.concept.key) && isOfOnePlane(one)),
  );
  const volumes = isOfOnePlane(ef) ? [] : ofVolumes(values, true);
  return [...given.map(reading), ...volumes].filter(({ value }) => areGradedApart(value, ef.value));
}

/** Why the headline EF is shown but neither graded nor used for conclusions. */
export interface UngradedEf {
  gap: Statement;
  /** Whether any of the contradicting values is severely reduced, or all of them are. */
  severe: 'none' | 'any' | 'all';
  between: readonly Measurement[];
}

/**
 * Returns how other EFs contradict the headline EF; null if they agree. A contradiction is
 * reported, never resolved silently (echo 19, rule 4).
 */
function contradiction(values: Values, ef: Measurement): UngradedEf | null {
  const against = (readings: readonly Reading[]) =>
    readings.filter(({ value }) => isApart(value, ef.value));
  const [discs] = against([
    ...ofOtherClips(values, ef),
    ...discsOfImages(values, ef),
    ...otherPlaneOfImages(values, ef),
    ...ofSameMachine(values, ef),
  ]);
  const other = against(ofOtherSource(values, ef)).toSorted((a, b) => a.value - b.value);
  const [lowest] = other;
  const apart = [...other, ...(discs ? [discs] : [])];
  if (apart.length === 0) return null;
  const code = lowest ? 'lvef.sources-differ' : 'lvef.methods-differ';
  const readings = [reading(ef), ...(lowest ? [lowest] : apart)].map(({ evidence, ...one }) => one);
  return {
    gap: sayOfEcho.gap(code, { readings, points: EF_VARIABILITY }),
    severe: severeAmong([ef.value, ...apart.map(({ value }) => value)]),
    between: [ef, ...apart.flatMap(({ evidence }) => evidence)],
  };
}

export const isSevere = (ef: number) => rounded(ef, 0) < SEVERE_EF;

function severeAmong(efs: readonly number[]): UngradedEf['severe'] {
  if (efs.every(isSevere)) return 'all';
  return efs.some(isSevere) ? 'any' : 'none';
}

/**
 * Returns true if the LV diameter is above the upper limit of the range that was applied to it. If
 * no range was applied, it must be above the limits for both sexes.
 */
function isDilated(diameter: Measurement | null): boolean {
  if (!diameter) return false;
  if (diameter.interpretation) return diameter.interpretation === 'H';
  const { male, female, decimals } = LEFT_VENTRICLE.diastolicDiameter;
  return rounded(diameter.value, decimals) > Math.max(male.normal[1], female.normal[1]);
}

/**
 * Returns the linear method by which an EF was calculated; null for any other method (echo 4.2).
 */
function linearMethod({ concept, method }: Measurement): 'teichholz' | 'cube' | null {
  if (concept.key === 'lvef-teichholz') return 'teichholz';
  return method === 'cart-cube' ? 'cube' : null;
}

/**
 * Returns why an EF from a single diameter must not be graded: the ventricle is dilated or moves
 * unevenly, so one diameter does not represent it (echo 5.2). Null if it may be graded.
 */
function linearLimit(values: Values, ef: Measurement): UngradedEf | null {
  const method = linearMethod(ef);
  if (!method) return null;
  const diameter = values.measurement('lvidd');
  const motion = values.number('wall-motion-score-index');
  const uneven = motion !== null && rounded(motion, 2) > 1;
  const dilated = isDilated(diameter);
  if (!uneven && !dilated) return null;
  return {
    gap: sayOfEcho.gap('lvef.method-invalid', {
      method,
      diameter: dilated && diameter ? diameter.value : null,
      motion: uneven ? motion : null,
    }),
    severe: severeAmong([ef.value]),
    between: [ef],
  };
}

/**
 * Returns why the headline EF must not be graded. Null if it may be graded, or if there is no EF.
 */
export function ungradedEf(values: Values): UngradedEf | null {
  const ef = headlineEf(values);
  if (!ef) return null;
  const measured = headlineEf(values.asMeasured);
  return (measured && contradiction(values.asMeasured, measured)) ?? linearLimit(values, ef);
}

/**
 * Returns the headline EF if it may be graded and used. Null if it may not, or if no EF was
 * measured.
 */
export function gradableEf(values: Values): Measurement | null {
  return ungradedEf(values) ? null : headlineEf(values);
}

/**
 * Returns a severely reduced EF of the machine that the report would otherwise hide behind the
 * headline EF. Null if the machine has none, or if the headline EF is a machine value that a person
 * confirmed. If the headline EF is a machine value from volumes, an EF from a single diameter is
 * ignored (echo 5.2).
 */
export function severeOfMachine(values: Values): Measurement | null {
  const ef = headlineEf(values);
  const ofMachine = ef !== null && belongsToMachine(ef);
  if (!ef || (ofMachine && ef.confirmed)) return null;
  const given = EF_PRECEDENCE.flatMap((key) => values.all(key)).filter(belongsToMachine);
  const counts = (one: Measurement) =>
    !ofMachine || linearMethod(one) === null || linearMethod(ef) !== null;
  return given.find((one) => isSevere(one.value) && counts(one)) ?? null;
}
