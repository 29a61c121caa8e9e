import type { ConceptKey } from '../../concepts/concepts.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { fractionalChange } from '../formulas/chambers.ts';
import { LEFT_VENTRICLE } from '../lv-size/guideline.ts';
import { named, shown, type Values } from '../shared/values.ts';
import { EF_VARIABILITY, SEVERE_EF } from './guideline.ts';

/** The first that was measured is the headline (echo 4.2). */
export const EF_PRECEDENCE = [
  'lvef-3d',
  'lvef-biplane',
  'lvef-networks',
  'lvef-4c',
  'lvef-2c',
  'lvef',
  'lvef-teichholz',
] as const satisfies readonly ConceptKey[];

/**
 * The EF that stands for the study; null without any. Of what was measured here, the mean of both
 * networks stands before the discs of the outlines, of which it is one half (api 2.6). What
 * the machine measured by a better method, or by the same, stands before both.
 */
export function headlineEf(values: Values): Measurement | null {
  const [first] = EF_PRECEDENCE.flatMap((key) => {
    const given = values.all(key);
    return given.find(isOfMachine) ?? given[0] ?? [];
  });
  if (!first) return null;
  const networks = values.measurement('lvef-networks');
  return !isOfMachine(first) && networks ? networks : first;
}

interface Reading {
  value: number;
  text: string;
  /** The values that a finding about it rests on. */
  evidence: readonly Measurement[];
}

const origin = (ofMachine: boolean) => (ofMachine ? 'of the machine' : 'of the images');

/** "LVEF (biplane) 28 % of the machine". */
function reading(ef: Measurement): Reading {
  return { value: ef.value, text: `${named(ef)} ${origin(isOfMachine(ef))}`, evidence: [ef] };
}

/** What follows from volumes of one source, whatever that source calls its EF. */
function ofVolumes(values: Values, ofMachine: boolean): Reading[] {
  const of = (key: ConceptKey) =>
    values.all(key).find((one) => isOfMachine(one) === ofMachine) ?? null;
  const [filled, emptied] = [of('lvedv-biplane'), of('lvesv-biplane')];
  if (!filled || !emptied) return [];
  const value = fractionalChange(filled.value, emptied.value);
  const text = `LVEF ${shown('lvef', value)} from EDV and ESV ${origin(ofMachine)}`;
  return [{ value, text, evidence: [filled, emptied] }];
}

const isApart = (one: number, other: number) => Math.abs(one - other) > EF_VARIABILITY + 1e-9;

/**
 * What the other source says, machine or images, by the best of its methods. One diameter is too
 * little to speak against volumes (echo 5.2).
 */
function ofOtherSource(values: Values, ef: Measurement): Reading[] {
  const other = !isOfMachine(ef);
  const given = EF_PRECEDENCE.flatMap((key) => values.all(key)).filter(
    (one) =>
      isOfMachine(one) === other && (linearMethod(one) === null || linearMethod(ef) !== null),
  );
  const best = given.find(({ concept }) => !other && concept.key === 'lvef-networks') ?? given[0];
  return best ? [reading(best)] : ofVolumes(values, other);
}

/** Biplane discs of the outlines; the two networks see A4C alone. */
function discsOfImages(values: Values, ef: Measurement): Reading[] {
  if (ef.concept.key !== 'lvef-networks') return [];
  const given = values.all('lvef-biplane').filter((one) => !isOfMachine(one));
  return given.length > 0 ? given.map(reading) : ofVolumes(values, false);
}

/** Why the EF that stands is shown and neither graded nor concluded from. */
export interface UngradedEf {
  text: string;
  /** Whether one of the values that speak here says a severely reduced function. */
  severe: boolean;
  between: readonly Measurement[];
}

/** Contradictions produce a statement, not a silent choice (echo 19, rule 4). */
function contradiction(values: Values, ef: Measurement): UngradedEf | null {
  const against = (readings: readonly Reading[]) =>
    readings.filter(({ value }) => isApart(value, ef.value));
  const [discs] = against(discsOfImages(values, ef));
  const other = against(ofOtherSource(values, ef)).toSorted((a, b) => a.value - b.value);
  const [lowest] = other;
  const apart = [...other, ...(discs ? [discs] : [])];
  if (apart.length === 0) return null;
  const text = lowest
    ? `${reading(ef).text} and ${lowest.text} differ by more than ${EF_VARIABILITY} points: LVEF was not graded.`
    : `LVEF by both networks and by biplane discs differ by more than ${EF_VARIABILITY} points: it was not graded.`;
  return {
    text,
    severe: [ef.value, ...apart.map(({ value }) => value)].some(isSevere),
    between: [ef, ...apart.flatMap(({ evidence }) => evidence)],
  };
}

export const isSevere = (ef: number) => rounded(ef, 0) < SEVERE_EF;

/** Wider than the upper limit of the sex that its range was given for, else of either sex. */
function isDilated(diameter: Measurement | null): boolean {
  if (!diameter) return false;
  if (diameter.interpretation) return diameter.interpretation === 'H';
  const { male, female, decimals } = LEFT_VENTRICLE.diastolicDiameter;
  return rounded(diameter.value, decimals) > Math.max(male.normal[1], female.normal[1]);
}

/** Linear methods, by their names in a sentence (echo 4.2). */
function linearMethod({ concept, method }: Measurement): string | null {
  if (concept.key === 'lvef-teichholz') return 'Teichholz';
  return method === 'cart-cube' ? 'the cube of the diameters' : null;
}

/** One diameter does not stand for a ventricle that is dilated or moves unevenly (echo 5.2). */
function linearLimit(values: Values, ef: Measurement): UngradedEf | null {
  const method = linearMethod(ef);
  if (!method) return null;
  const diameter = values.measurement('lvidd');
  const motion = values.measurement('wall-motion-score-index');
  const uneven = motion !== null && rounded(motion.value, 2) > 1;
  const dilated = isDilated(diameter);
  if (!uneven && !dilated) return null;
  const why = [
    dilated && diameter ? `the LV is dilated (${named(diameter)})` : null,
    uneven && motion ? `wall motion is abnormal (${named(motion)})` : null,
  ].filter(Boolean);
  return {
    text: `LVEF by ${method} was not graded and not used: ${why.join(' and ')}.`,
    severe: isSevere(ef.value),
    between: [ef],
  };
}

/** Why the EF that stands may not be graded; null where it may, or where there is none. */
export function ungradedEf(values: Values): UngradedEf | null {
  const ef = headlineEf(values);
  return ef && (contradiction(values, ef) ?? linearLimit(values, ef));
}

/** The EF that may be graded and concluded from; null where none was measured or it is left open. */
export function gradableEf(values: Values): Measurement | null {
  return ungradedEf(values) ? null : headlineEf(values);
}

/** An EF of the machine below the limit that one of the images, which stands, would hide; else null. */
export function severeOfMachine(values: Values): Measurement | null {
  const ef = headlineEf(values);
  if (!ef || isOfMachine(ef)) return null;
  const given = EF_PRECEDENCE.flatMap((key) => values.all(key)).filter(isOfMachine);
  return given.find(({ value }) => isSevere(value)) ?? null;
}
