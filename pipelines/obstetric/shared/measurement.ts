import {
  OBSTETRIC_CONCEPTS,
  type ObstetricConcept,
  type ObstetricMethod,
} from '../../concepts/obstetric.ts';
import { median } from '../../measure/statistics.ts';
import { isFromReport, type Measurement } from '../../result/envelope.ts';
import {
  asRepeat,
  fetusKey,
  type Given,
  isConfirmed,
  isOfMachine,
  measurementOf,
  NO_FRAME,
  ofFetusId,
} from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { remark, sayOfObstetric } from '../../result/render/obstetric/shared.ts';
import type { ClassificationDraft, FindingDraft } from '../../result/section-outcome.ts';
import type { Remark, Statement } from '../../result/statement.ts';
import type { SectionEvidence } from './section.ts';

/** Maximum number of frames per measurement: "Median of up to three frames each" (api 2.6). */
export const FRAMES_PER_MEASUREMENT = 3;

/**
 * Returns the readings to choose from: the best one of every clip and, if there are fewer clips than
 * `wanted`, further readings of the same clips. Neighbouring frames are almost identical: many of
 * them add little but outliers, which matter if the smallest or largest value is used.
 * @param readings all readings, best first.
 */
export function ofEveryClip<Reading>(
  readings: readonly Reading[],
  clipOf: (one: Reading) => string | null,
  wanted: number,
): Reading[] {
  const best = [...Map.groupBy(readings, clipOf).values()].flatMap((own) => own.slice(0, 1));
  const others = readings.filter((one) => !best.includes(one));
  return [...best, ...others.slice(0, Math.max(0, wanted - best.length))];
}

/**
 * Creates a measurement of an obstetric concept, with unit and label from the concept table. Its id
 * is the key of the concept unless `given` states another.
 */
export const createMeasurement = (
  key: ObstetricConcept,
  value: number,
  method: ObstetricMethod,
  given: Given,
): Measurement => measurementOf(key, key, OBSTETRIC_CONCEPTS[key], value, method, given);

/**
 * Returns true for the value of a quantity that its section uses: the one it chose, the median, or
 * the only one. Its id is the key of its concept, so there cannot be two; repeats, and machine
 * values listed beside ours, have longer ids. Unlike `standing`, this is known before the values of
 * all sections have been compared (`withStanding`).
 */
export const isChosen = ({ id, concept }: Measurement): boolean => id === concept.key;

/**
 * Returns the value of a concept that its section uses (`isChosen`); null unless it is accepted.
 */
export function acceptedValue(
  measurements: readonly Measurement[],
  key: ObstetricConcept,
): Measurement | null {
  const found = measurements.find((one) => isChosen(one) && one.concept.key === key);
  return found?.quality === 'accepted' ? found : null;
}

/**
 * Adds the median of the accepted values under the plain id. If only one value is accepted, that
 * value takes the plain id.
 * @param remarksOn returns the remarks on the median. By default, it has the remarks on the first
 * value.
 */
export function withMedian(
  key: ObstetricConcept,
  single: readonly Measurement[],
  remarksOn?: (median: number, accepted: readonly Measurement[]) => Remark[],
): Measurement[] {
  const accepted = single.filter(({ quality }) => quality === 'accepted');
  const [first] = accepted;
  if (!first) return [...single];
  if (accepted.length === 1) {
    return single.map((one) => (one === first ? { ...one, id: key } : asRepeat(one)));
  }
  const value = median(accepted.map((one) => one.value));
  const combined: Measurement = {
    ...first,
    id: key,
    value,
    derivation: 'median',
    source: NO_FRAME,
    confidence: median(accepted.map(({ confidence }) => confidence ?? 0)),
    inputs: accepted.map(({ id }) => id),
    ...(remarksOn && { remarks: remarksOn(value, accepted) }),
  };
  return [...single.map(asRepeat), combined];
}

/**
 * Reports that the interval of a value includes a cut-off, with the categories on both sides; empty
 * if the whole interval has one category.
 */
export function atCutOff(
  one: Measurement,
  { between }: { between: readonly [string, string] | null },
): Statement[] {
  return between === null
    ? []
    : [sayOfObstetric.gap('obstetric.at-cut-off', { between: [...between] }, [one])];
}

/**
 * Returns the half width of the interval of a product or quotient: the root sum of squares of the
 * relative half widths of the factors. A factor without an interval, such as a machine value, is
 * treated as exact. Null if no factor has an interval.
 */
export function uncertaintyOfRatio(
  value: number,
  factors: readonly Pick<Measurement, 'value' | 'uncertainty'>[],
): number | null {
  const shares = factors.flatMap((one) =>
    one.uncertainty === null || one.value === 0 ? [] : [one.uncertainty / one.value],
  );
  return shares.length === 0 ? null : Math.abs(value) * Math.hypot(...shares);
}

/**
 * Limits for the ratio of the shorter to the longer axis of an outline. An outline outside them is
 * rejected (obstetric 16.3). For a head the ratio is the cephalic index. Its limits are four
 * standard deviations from the mean of Hadlock 1981; the upper limit is up to 2.5 points higher,
 * because our BPD is outer to outer.
 */
export const AXIS_RATIO = {
  head: { low: 0.61, high: 0.98 },
  abdomen: { low: 0.7, high: 1 },
} as const;

/**
 * Returns true if the ratio of two axes, in either order and in the same unit, fits the structure.
 */
export function isShapeOf(structure: keyof typeof AXIS_RATIO, one: number, other: number): boolean {
  const ratio = Math.min(one, other) / Math.max(one, other);
  return ratio >= AXIS_RATIO[structure].low && ratio <= AXIS_RATIO[structure].high;
}

/**
 * Limits of TAD/APAD. Outside them the measurement must be checked; the fetus is not reported as
 * abnormal (obstetric 0.6).
 */
export const TAD_TO_APAD = { low: 0.75, high: 1.35 } as const;

/**
 * Cervical length in mm above which the lower segment was probably included in the measurement
 * (obstetric 0.6 and 10).
 */
export const LONGEST_CERVIX_MM = 60;

/** |z| above which dating or measurement must be checked before the size is classified. */
export const SOFT_Z = 5;

/**
 * Maximum accepted difference between repeated values: a share of the mean for circumferences, mm
 * for FL (obstetric 2.6).
 */
export const REPEATABILITY = { circumferenceShare: 0.05, femurMm: 3 } as const;

/** Returns the measurement with further remarks appended. */
export const remarked = (value: Measurement, ...remarks: readonly Remark[]): Measurement => ({
  ...value,
  remarks: [...value.remarks, ...remarks],
});

/** Remark on a machine value used because we have no accepted value. */
export const IN_PLACE_OF_OURS = remark('machine.in-place-of-ours', {});

/** Returns true if the machine values belong to more than one fetus. */
export const ofSeveralFetuses = (values: readonly Measurement[]) =>
  new Set(values.map(({ fetus }) => fetusKey(fetus))).size > 1;

/**
 * Returns the reason why no machine value is used if there is more than one fetus; otherwise null.
 */
export function machineUnused(
  values: readonly Measurement[],
  { severalFetuses }: Pick<SectionEvidence, 'severalFetuses'>,
): Statement | null {
  if (ofSeveralFetuses(values)) return sayOfObstetric.gap('machine.of-several-fetuses', {});
  return severalFetuses && values.length > 0
    ? sayOfObstetric.gap('machine.fetus-not-known', {})
    : null;
}

/**
 * Returns the machine values that name their fetus. With several fetuses they are listed for it,
 * but no conclusion uses them, because the images do not show which fetus is which.
 */
export const ofNamedFetuses = (values: readonly Measurement[]): Measurement[] =>
  values.filter(({ fetus }) => fetus !== null).map(ifPlausible);

/**
 * Returns the statement that lists values, each with the name of its fetus; empty if none is
 * plausible.
 */
export function listedForFetuses(values: readonly Measurement[]): Statement[] {
  const shown = values.filter(({ quality }) => quality !== 'inadequate');
  return shown.length > 0 ? [sayOfObstetric.value('machine.of-fetuses', {}, shown)] : [];
}

/** Returns the plain id of a value whose concept does not distinguish sides. */
const keyOf = ({ concept }: Measurement) => concept.key;

function besideOwn(value: Measurement, own: Measurement): Measurement {
  const percent = (100 * (value.value - own.value)) / own.value;
  return remarked(value, remark('machine.difference', { percent }));
}

/**
 * Returns a machine value, marked as inadequate if it is beyond its hard limits (obstetric 0.6).
 */
export function ifPlausible(value: Measurement): Measurement {
  if (value.quality === 'inadequate' || isPlausible(value.concept.key, value.value)) return value;
  return remarked({ ...value, quality: 'inadequate' }, remark('obstetric.implausible', {}));
}

/**
 * Combines the machine values with ours. If we have an accepted value, the machine value is listed
 * beside it, with the difference. Otherwise the machine value takes the plain id. If several
 * machine values would take the same plain id, the first plausible one is used and the others are
 * marked as not used. An implausible value is never used (obstetric 0.6).
 */
export function withMachineValues(
  values: readonly Measurement[],
  ours: readonly Measurement[],
  plainId: (value: Measurement) => string = keyOf,
): Measurement[] {
  const given = values.map(ifPlausible);
  const usable = given.filter(({ quality }) => quality !== 'inadequate');
  const machine = given.map((value): Measurement => {
    if (value.quality === 'inadequate') return value;
    const plain = plainId(value);
    const own = ours.find(({ id, quality }) => id === plain && quality === 'accepted');
    if (own) return besideOwn(value, own);
    if (usable.find((one) => plainId(one) === plain) !== value) {
      return remarked(value, remark('machine.passed-over', {}));
    }
    const used = { ...value, id: plain };
    return isOfMachine(value) ? remarked(used, IN_PLACE_OF_OURS) : used;
  });
  const replaced = new Set(machine.map(({ id }) => id));
  const kept = ours.map((one) => (replaced.has(one.id) ? { ...one, id: `${one.id}-traced` } : one));
  return [...kept, ...machine];
}

/** First-trimester values read from the machine's report. */
type EarlyKey =
  | 'mean-sac-diameter'
  | 'yolk-sac'
  | 'crl'
  | 'nuchal-translucency'
  | 'fetal-heart-rate';

export const EARLY_LENGTHS = ['mean-sac-diameter', 'yolk-sac', 'crl'] as const;
export type EarlyLength = (typeof EARLY_LENGTHS)[number];

export interface MachineValues {
  measurements: Measurement[];
  /**
   * Statement that the machine values are not used because there are several fetuses; null if they
   * are used.
   */
  unused: Statement | null;
  /** Values listed for the fetus that they name, if there are several fetuses. */
  listed: Measurement[];
}

/**
 * Returns the machine values of these quantities. Values beyond their plausible limits are marked
 * as inadequate.
 */
export function machineValues(
  evidence: SectionEvidence,
  section: string,
  keys: readonly EarlyKey[],
): MachineValues {
  const values = evidence.machine.values(section, keys);
  const unused = machineUnused(values, evidence);
  return unused
    ? { measurements: [], unused, listed: ofNamedFetuses(values) }
    : { measurements: values.map(ifPlausible), unused, listed: [] };
}

const acceptedOfMachine = (measurements: readonly Measurement[], key: EarlyKey) =>
  measurements.filter(
    (one) => isFromReport(one) && one.concept.key === key && one.quality === 'accepted',
  );

const firstOfMachine = (measurements: readonly Measurement[], key: EarlyKey) =>
  acceptedOfMachine(measurements, key)[0] ?? null;

/**
 * Returns the values to choose from: those that a person confirmed in a review; if there are none,
 * those of the machine, whose calipers a person placed; and only without these, ours.
 */
function preferred(machine: readonly Measurement[], own: Measurement | null): Measurement[] {
  const all = [...(own ? [own] : []), ...machine];
  const byPerson = all.filter(isConfirmed);
  if (byPerson.length > 0) return byPerson;
  return machine.length > 0 ? [...machine] : all;
}

/**
 * Returns the value to assess, which is the first of the `preferred` ones; null without a value.
 */
export const judgedValue = (
  measurements: readonly Measurement[],
  key: EarlyKey,
): Measurement | null =>
  preferred(acceptedOfMachine(measurements, key), acceptedValue(measurements, key))[0] ?? null;

/**
 * Returns the heart rate to assess; null if no rate is accepted. Of several `preferred` rates, the
 * slowest is used, because a slow rate is the more severe sign in an embryo.
 */
export function judgedRate(measurements: readonly Measurement[]): Measurement | null {
  const own = measurements.find(
    ({ id, quality }) => id === 'embryonic-heart-rate' && quality === 'accepted',
  );
  const rates = preferred(acceptedOfMachine(measurements, 'fetal-heart-rate'), own ?? null);
  return rates.toSorted((one, other) => one.value - other.value)[0] ?? null;
}

/** Returns our accepted value and the machine's; null if one of them is missing. */
export function bothValues(
  measurements: readonly Measurement[],
  key: EarlyKey,
): { machine: Measurement; own: Measurement } | null {
  const machine = firstOfMachine(measurements, key);
  const own = acceptedValue(measurements, key);
  return machine && own && own !== machine ? { machine, own } : null;
}

/** Adds to each machine value its difference from our accepted value, if there is one. */
export function withDifference(
  machine: readonly Measurement[],
  ours: readonly Measurement[],
): Measurement[] {
  return machine.map((value) => {
    const own = acceptedValue(ours, value.concept.key as ObstetricConcept);
    return (own && withMachineValues([value], [own]).find(isOfMachine)) ?? value;
  });
}

/** Returns true if the machine value differs from ours by more than the uncertainty of ours. */
export const differ = ({ machine, own }: { machine: Measurement; own: Measurement }): boolean =>
  Math.abs(machine.value - own.value) > (own.uncertainty ?? 0);

interface JudgedParts {
  measurements: Measurement[];
  findings: FindingDraft[];
  classifications: ClassificationDraft[];
}

/**
 * Returns the statement for the given fetus, with the fetus added to the ids of its measurements.
 */
export const statementOfFetus = (statement: Statement, fetus: string): Statement => ({
  ...statement,
  fetus,
  about: statement.about.map((id) => ofFetusId(id, fetus)),
});

/**
 * Adds the fetus to the ids, names and statements of measurements, findings and classifications
 * (obstetric 0.5: every fetal section is keyed by fetus).
 */
export function keyedByFetus(judged: JudgedParts, fetus: string): JudgedParts {
  const idOf = (id: string) => ofFetusId(id, fetus);
  return {
    measurements: judged.measurements.map((one) => ({
      ...one,
      id: idOf(one.id),
      fetus,
      inputs: one.inputs.map(idOf),
    })),
    findings: judged.findings.map(({ statement, statements, ...one }) => ({
      ...one,
      id: idOf(one.id),
      ...(statement && { statement: statementOfFetus(statement, fetus) }),
      ...(statements && { statements: statements.map((said) => statementOfFetus(said, fetus)) }),
      evidence: one.evidence.map(idOf),
    })),
    classifications: judged.classifications.map((one) => ({
      ...one,
      id: idOf(one.id),
      name: `${one.name}, fetus ${fetus}`,
    })),
  };
}

/**
 * Maximum accepted difference (`days`) between the ages by ultrasound and by last period, for ages
 * by last period of up to `untilDays`, inclusive. Each entry begins where the previous one ends.
 */
const REDATING = [
  { untilDays: 62, days: 5 },
  { untilDays: 111, days: 7 },
  { untilDays: 153, days: 10 },
  { untilDays: 195, days: 14 },
] as const;
const REDATING_LATE_DAYS = 21;
/**
 * Age in days from which a single scan does not change the dating, because disturbed growth looks
 * the same as a wrong date (ACOG 700).
 */
export const NO_REDATING_FROM_DAYS = 196;

/**
 * Returns the maximum accepted difference in days between the ages by ultrasound and by last period
 * (ACOG Committee Opinion 700, 2017).
 */
export function redatingDays(daysByLmp: number): number {
  return REDATING.find(({ untilDays }) => daysByLmp <= untilDays)?.days ?? REDATING_LATE_DAYS;
}
