import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine, isRejected } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/biometry.ts';
import type { SeveralFetusesSource } from '../../result/render/obstetric/shared.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { acceptedValue, listedForFetuses, REPEATABILITY } from '../shared/measurement.ts';
import type { FramePlane, Structure } from '../shared/plane.ts';
import { excludedBy, MEASURING_PLANES } from '../shared/plane.ts';
import {
  finding,
  type Gap,
  type ObstetricSection,
  reasonOf,
  type SectionOutcome,
} from '../shared/section.ts';
import {
  bpdConvention,
  deriveBiometry,
  headShapeOf,
  uncalibratedIndex,
  weightGap,
} from './derive.ts';
import {
  type CartComparison,
  type Contradiction,
  compareWithCart,
  consistencyFindings,
  contradictionFindings,
  contradictions,
  isContradicted,
  LENGTHS,
  withCartInputs,
  withCartWeight,
  withoutContradicted,
} from './judge.ts';
import type { BiometryEvidence } from './measure.ts';
import {
  isOfLastResort,
  lengthsOf,
  measureApart,
  measureStructure,
  structuresWithoutScale,
} from './measure.ts';

/** The lengths measured on each structure, and the best plane for them. */
const STRUCTURES = {
  head: {
    plane: 'transthalamic head plane',
    keys: ['bpd', 'ofd', 'hc'],
  },
  abdomen: {
    plane: 'abdominal circumference plane',
    keys: ['tad', 'apad', 'ac'],
  },
  femur: { plane: 'femur', keys: ['fl'] },
} as const satisfies Record<Structure, { plane: string; keys: readonly ObstetricConcept[] }>;

const NAMES = ['head', 'abdomen', 'femur'] as const satisfies readonly Structure[];

/** Gap codes for a plane that was found but inadequate. */
const INADEQUATE: ReadonlySet<string> = new Set([
  'low_confidence',
  'implausible',
  'rejected',
  'contradicted',
  'plane_excluded',
]);

/**
 * Minimum probability at which a gap mentions a plane whose confidence is below the gate. The plane
 * is then more likely than all others together.
 */
const LIKELY = 0.5;

function likelyFrames(structure: Structure, { planes }: BiometryEvidence): number {
  const wanted = MEASURING_PLANES[structure].flat();
  const likely = ({ estimate: { belowGate, probabilities } }: FramePlane) =>
    belowGate != null &&
    wanted.includes(belowGate) &&
    probabilities !== undefined &&
    wanted.reduce((sum, plane) => sum + probabilities[plane], 0) > LIKELY;
  return (planes ?? []).filter(likely).length;
}

function withoutPlane(
  structure: Structure,
  keys: readonly ObstetricConcept[],
  evidence: BiometryEvidence,
): Gap {
  const { plane } = STRUCTURES[structure];
  const frames = likelyFrames(structure, evidence);
  return frames === 0
    ? {
        code: 'plane_missing',
        said: say.gap('biometry.plane-missing', { keys, structure }),
        need: plane,
      }
    : {
        code: 'low_confidence',
        said: say.gap('biometry.plane-uncertain', { keys, structure, frames }),
        need: `a clearer ${plane}`,
      };
}

/**
 * Returns the lengths that have no accepted value because their values, or the frames on which they
 * were measured, need review.
 */
function heldKeys(
  { held = [] }: BiometryEvidence,
  lengths: readonly Measurement[],
): ReadonlySet<ObstetricConcept> {
  const underReview = (key: ObstetricConcept) =>
    lengths.some(({ concept, quality }) => concept.key === key && quality === 'review');
  const keys = NAMES.flatMap((structure) =>
    STRUCTURES[structure].keys.filter((key) => held.includes(structure) || underReview(key)),
  );
  return new Set(keys.filter((key) => !acceptedValue(lengths, key)));
}

function gapOf(
  structure: Structure,
  evidence: BiometryEvidence,
  { lengths, found }: Pick<CheckedLengths, 'lengths' | 'found'>,
): Gap | null {
  const { keys, plane } = STRUCTURES[structure];
  const waiting = heldKeys(evidence, lengths);
  const missing = keys.filter((key) => !acceptedValue(lengths, key) && !waiting.has(key));
  if (missing.length === 0) return null;
  const given = { keys: missing, structure };
  const readings = evidence.readings.filter((reading) => reading.structure === structure);
  if (evidence.withoutModel.includes(structure)) {
    const said = say.gap('biometry.no-model', given);
    return { code: 'no_model', said, need: `a permitted ${structure} model` };
  }
  if (readings.length === 0) return withoutPlane(structure, missing, evidence);
  if (readings.every(({ clip }) => clip.regions.length === 0)) {
    const refused = readings.flatMap(({ clip }) => clip.calibrationRefused ?? [])[0] ?? null;
    const said = say.gap('biometry.no-scale', { ...given, refused });
    return { code: 'no_calibration', said, need: 'calibrated images or mm_per_px' };
  }
  if (readings.every((reading) => reading.located !== null && lengthsOf(reading) === null)) {
    const said = say.gap('biometry.outside-region', given);
    return { code: 'outside_calibrated_region', said, need: plane };
  }
  const own = lengths.filter(({ concept }) => keys.some((key) => key === concept.key));
  const against = own.some(isContradicted)
    ? found.find(({ of }) => own.some((one) => of.some(({ id }) => id === one.id)))
    : undefined;
  if (against) {
    const { id, ratio, low, high } = against;
    const said = say.gap('biometry.contradicted', { ...given, id, ratio, low, high });
    return { code: 'contradicted', said, need: `${plane}, measured again` };
  }
  const inadequate = own.filter(({ quality }) => quality === 'inadequate');
  if (inadequate.length > 0) {
    return inadequate.every(isRejected)
      ? { code: 'rejected', said: say.gap('biometry.rejected', given), need: plane }
      : { code: 'implausible', said: say.gap('biometry.implausible', given), need: plane };
  }
  const [by] = readings.flatMap((reading) => excludedBy(reading) ?? []);
  if (by) {
    const said = say.gap('biometry.plane-excluded', { ...given, by });
    return { code: 'plane_excluded', said, need: plane };
  }
  const said = say.gap('biometry.not-outlined', given);
  return { code: 'low_confidence', said, need: `a clearer ${plane}` };
}

function lastResort(lengths: readonly Measurement[]): Gap[] {
  const { keys, plane } = STRUCTURES.head;
  const used = keys.filter((key) => {
    const value = acceptedValue(lengths, key);
    return value !== null && isOfLastResort(value);
  });
  if (used.length === 0) return [];
  const said = say.gap('biometry.last-resort', { keys: used, plane });
  return [{ code: 'plane_of_last_resort', said, need: plane }];
}

function spreadFinding(
  key: ObstetricConcept,
  measurements: readonly Measurement[],
): FindingDraft[] {
  const combined = acceptedValue(measurements, key);
  if (combined?.derivation !== 'median') return [];
  const values = measurements
    .filter(({ id }) => combined.inputs.includes(id))
    .map(({ value }) => value);
  const spread = Math.max(...values) - Math.min(...values);
  const limit =
    key === 'fl' ? REPEATABILITY.femurMm : REPEATABILITY.circumferenceShare * combined.value;
  if (spread <= limit) return [];
  const said = say.gap('biometry.repeats-differ', { key, spread, machine: false });
  const given = { evidence: combined.inputs };
  return [finding(`repeatability-${key}`, 'repeatability', said, 'abnormal', given)];
}

function headShapeFinding(measurements: readonly Measurement[]): FindingDraft[] {
  const index = acceptedValue(measurements, 'cephalic-index');
  const placement = bpdConvention(measurements);
  const found = index && headShapeOf(index, placement);
  if (!found) return [];
  const said = say.conclusion('biometry.head-shape', { ...found, placement }, [index]);
  return [finding('head-shape', 'head-shape', said, 'info')];
}

const SUMMARY_KEYS = ['bpd', 'ofd', 'hc', 'ac', 'fl', 'efw'] as const;

function statementsFor(
  measurements: readonly Measurement[],
  gaps: readonly Gap[],
  beside: readonly (Statement | null)[],
): Statement[] {
  const accepted = (keys: readonly ObstetricConcept[]) =>
    keys.flatMap((key) => acceptedValue(measurements, key) ?? []);
  const ofMachine = accepted([...LENGTHS, 'efw']).filter(isOfMachine);
  return [
    say.value('biometry.values', {}, accepted(SUMMARY_KEYS)),
    ...(ofMachine.length > 0 ? [say.value('biometry.of-machine', {}, ofMachine)] : []),
    ...gaps.map(({ said }) => said),
    ...beside.filter((gap) => gap !== null),
  ];
}

/**
 * Returns the data of the section: the caliper placement of the BPD, and the source of the scale
 * for our lengths (obstetric 2.1 and 0.4).
 */
function dataOf(
  { readings }: BiometryEvidence,
  lengths: readonly Measurement[],
): Record<string, unknown> {
  const scales = readings.flatMap((reading) => lengthsOf(reading)?.calibration ?? []);
  const calibration = scales.find((one) => one === 'user') ?? scales[0] ?? 'none';
  const structures = structuresWithoutScale(readings);
  return { bpd_convention: bpdConvention(lengths), calibration, structures };
}

/**
 * Returns the outcome for several fetuses. Measurements from different images are never combined
 * (obstetric 0.5 and 19).
 */
function apart(
  evidence: BiometryEvidence,
  measurements: Measurement[],
  source: SeveralFetusesSource,
): SectionOutcome {
  const { unused, beside } = compareWithCart(evidence, []);
  const gap = say.gap('biometry.apart', { source });
  return {
    status: 'partial',
    reason: { code: 'several_fetuses', gaps: [gap], needs: ['a study of each fetus by itself'] },
    statements: [gap, ...(unused ? [unused] : []), ...listedForFetuses(beside)],
    data: dataOf(evidence, measurements),
    measurements: [...measurements, ...beside],
  };
}

/**
 * Replaces both lengths of a contradiction with the versions that the result lists, because their
 * ids may have changed since the contradiction was found.
 */
const withLengths = (
  { of: [first, second], ...one }: Contradiction,
  listed: (one: Measurement) => Measurement,
): Contradiction => ({ ...one, of: [listed(first), listed(second)] });

interface CheckedLengths extends CartComparison {
  found: Contradiction[];
}

/**
 * Returns the lengths to use, without those of ours that contradict others. A machine value that
 * replaces a withheld length may contradict another of our lengths, so the check is repeated until
 * no further length is withheld.
 */
function checkedLengths(
  evidence: BiometryEvidence,
  own: readonly Measurement[],
  gaDays: number | null,
  before: readonly Contradiction[] = [],
): CheckedLengths {
  const comparison = compareWithCart(evidence, own);
  const now = contradictions(comparison.lengths, gaDays);
  const found = [...before.filter(({ id }) => now.every((one) => one.id !== id)), ...now];
  const kept = withoutContradicted(own, now);
  if (kept.some((one, i) => one !== own[i])) {
    return checkedLengths(evidence, kept, gaDays, found);
  }
  const listed = (one: Measurement) =>
    comparison.lengths.find(
      ({ concept, value, origin, derivation }) =>
        concept.key === one.concept.key &&
        value === one.value &&
        origin === one.origin &&
        derivation === one.derivation,
    ) ?? one;
  return { ...comparison, found: found.map((one) => withLengths(one, listed)) };
}

function run(evidence: BiometryEvidence): SectionOutcome {
  const several = evidence.severalFetuses;
  const single = several ? NAMES.flatMap((structure) => measureApart(structure, evidence)) : [];
  if (several && single.length > 0) return apart(evidence, single, several);
  const own = NAMES.flatMap((structure) => measureStructure(structure, evidence));
  const gaDays = evidence.options.dating?.ga_days ?? null;
  const checked = checkedLengths(evidence, own, gaDays);
  const { lengths, beside, findings, unused, found } = checked;
  const gaps = NAMES.flatMap((structure) => gapOf(structure, evidence, checked) ?? []);
  const calculated = withCartInputs(deriveBiometry(lengths, gaDays), lengths);
  const weight = several
    ? { derived: calculated, findings: [] }
    : withCartWeight(evidence, calculated);
  const index = acceptedValue(calculated, 'cephalic-index') ? [] : uncalibratedIndex(evidence);
  const measurements = [...lengths, ...weight.derived, ...(several ? [] : index)];
  const none = lengths.every(({ quality }) => quality !== 'accepted');
  const allGaps = [...gaps, ...lastResort(lengths)];
  const inadequate = none && gaps.some(({ code }) => INADEQUATE.has(code));
  return {
    status: none
      ? inadequate
        ? 'inadequate'
        : 'not_assessed'
      : allGaps.length > 0
        ? 'partial'
        : 'complete',
    reason: reasonOf(allGaps),
    statements: statementsFor(measurements, allGaps, [
      weightGap(lengths, gaDays, heldKeys(evidence, lengths)),
      unused,
      ...(unused ? listedForFetuses(beside) : []),
    ]),
    data: dataOf(evidence, lengths),
    measurements: [...measurements, ...beside],
    findings: [
      ...findings,
      ...weight.findings,
      ...(['hc', 'ac', 'fl'] as const).flatMap((key) => spreadFinding(key, measurements)),
      ...contradictionFindings(found),
      ...consistencyFindings(measurements),
      ...headShapeFinding(measurements),
    ],
  };
}

export const biometry: ObstetricSection<BiometryEvidence> = {
  id: 'biometry',
  title: 'Biometry',
  needs: ['transthalamic head plane', 'abdominal circumference plane', 'femur', 'calibration'],
  run,
};
