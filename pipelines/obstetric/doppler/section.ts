import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { fetusKey, flowTrace, isOfMachine, ofFetusId } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/doppler.ts';
import { SIMULATED_ONLY } from '../../result/render/obstetric/shared.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import { distinctStatements, type Statement } from '../../result/statement.ts';
import {
  IN_PLACE_OF_OURS,
  ifPlausible,
  keyedByFetus,
  statementOfFetus,
  withMachineValues,
} from '../shared/measurement.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import {
  DOPPLER_VESSELS,
  type DopplerEvidence,
  type SpectrumReading,
  VESSEL_OF,
} from './evidence.ts';
import { lostFlowValues, worseFirst } from './flow.ts';
import { DOPPLER_SUMMARIES } from './guideline.ts';
import { type DopplerJudgement, judgeDoppler } from './judge.ts';
import {
  DOPPLER_SECTION,
  FETAL_ARTERIES,
  idOf,
  isFiltered,
  isTraced,
  measureDuctus,
  measureSpectrum,
  refusals,
  sidesApart,
  suppliedGaps,
  type TracedReading,
  traceProblem,
} from './measure.ts';

/** Spectra that are assessed together in a study with several fetuses. */
interface DopplerGroup {
  /**
   * The fetus that the spectra are assigned to; null for the group of maternal vessels and of
   * spectra without a fetus.
   */
  fetus: string | null;
  /** All spectra of the group, including those that could not be traced. */
  readings: SpectrumReading[];
}

const isMaternal = (vessel: string | null) => vessel === 'uterine-artery';

const isOfMother = ({ concept }: Measurement) => isMaternal(VESSEL_OF.get(concept.key) ?? null);

/**
 * Returns why the spectra and the machine values may belong to more than one fetus; null if they
 * certainly belong to one.
 *
 * If an operator assigned one spectrum to a fetus, an unassigned spectrum may belong to another.
 * Machines, however, assign values to a fetus even if there is only one, so assigned machine values
 * do not contradict unassigned spectra.
 */
function apart(
  evidence: Pick<DopplerEvidence, 'severalFetuses'>,
  readings: readonly SpectrumReading[],
  cart: readonly Measurement[],
): Statement | null {
  if (evidence.severalFetuses !== null) return say.limitation('doppler.several-fetuses', {});
  const seen = new Set(
    readings
      .filter(({ vessel }) => vessel !== null && !isMaternal(vessel))
      .map(({ fetus }) => fetusKey(fetus)),
  );
  const reported = new Set(
    cart.filter((one) => !isOfMother(one)).map(({ fetus }) => fetusKey(fetus)),
  );
  const all = seen.union(reported);
  const unnamed = fetusKey(null);
  if (all.size < 2) return null;
  if (all.size > 2 || !all.has(unnamed)) return say.limitation('doppler.several-fetuses', {});
  return [...seen].every((name) => name === unnamed) && !reported.has(unnamed)
    ? null
    : say.limitation('doppler.partly-named', {});
}

/**
 * Groups the spectra by fetus, because values of two fetuses are never combined (obstetric 0.5).
 * Each of the `reported`, to whom the machine values to assess belong, gets a group even without a
 * spectrum: a fetus, or null for the mother and for an unknown fetus.
 */
function groupsByFetus(
  readings: readonly SpectrumReading[],
  reported: readonly (string | null)[],
): DopplerGroup[] {
  const fetal = readings.filter(({ vessel }) => !isMaternal(vessel));
  const names = new Map(
    [...fetal.map(({ fetus }) => fetus), ...reported]
      .flatMap((fetus) => fetus ?? [])
      .toReversed()
      .map((fetus) => [fetusKey(fetus), fetus]),
  );
  const others = readings.filter(({ vessel, fetus }) => isMaternal(vessel) || fetus === null);
  const nobody = others.length > 0 || reported.includes(null);
  return [
    ...[...names]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([key, fetus]) => ({
        fetus,
        readings: fetal.filter((one) => one.fetus !== null && fetusKey(one.fetus) === key),
      })),
    ...(nobody ? [{ fetus: null, readings: others }] : []),
  ];
}

/**
 * Returns the spectra of the group without a fetus. If there are several fetuses, a fetal spectrum
 * that is not assigned to one is treated as if its vessel were unknown.
 */
const withoutNames = <Reading extends SpectrumReading>(readings: readonly Reading[]) =>
  readings.map((one) => (isMaternal(one.vessel) ? one : { ...one, vessel: null }));

function ofFetus(judged: DopplerJudgement, fetus: string): DopplerJudgement {
  const named = (one: Statement) => statementOfFetus(one, fetus);
  return {
    ...judged,
    ...keyedByFetus(judged, fetus),
    guidance: judged.guidance.map(({ statement, ...one }) => ({
      ...one,
      id: ofFetusId(one.id, fetus),
      ...(statement && { statement: named(statement) }),
    })),
    statements: judged.statements.map(named),
    gaps: judged.gaps.map(named),
  };
}

/**
 * Classifications that other sections, such as growth, apply to a single fetus. In a study of
 * several fetuses they are included only for identified fetuses.
 */
const OF_ONE_FETUS: ReadonlySet<string> = new Set(['fetal-doppler', 'end-diastolic-flow']);

/**
 * Combines the assessments of several fetuses. `fetal` contains those of identified fetuses, and
 * `others` those of the mother and of spectra without a fetus. `why` is the reason for assessing
 * them separately.
 */
function together(
  fetal: readonly DopplerJudgement[],
  others: readonly DopplerJudgement[],
  why: Statement,
): DopplerJudgement {
  const all = [...fetal, ...others];
  // The category of the group without a fetus counts only if it is abnormal.
  const grave = others
    .map(({ category }) => category)
    .filter((one) => one !== 'normal' && one !== 'not-assessed');
  const categories = new Set([...fetal.map(({ category }) => category), ...grave]);
  return {
    measurements: all.flatMap(({ measurements }) => measurements),
    category: DOPPLER_SUMMARIES.find((one) => categories.has(one)) ?? 'not-assessed',
    classifications: [
      ...fetal.flatMap(({ classifications }) => classifications),
      ...others.flatMap(({ classifications }) =>
        classifications.filter(({ id }) => !OF_ONE_FETUS.has(id)),
      ),
    ],
    findings: all.flatMap(({ findings }) => findings),
    guidance: all.flatMap(({ guidance }) => guidance),
    statements: all.flatMap(({ statements }) => statements),
    gaps: distinctStatements([why, ...all.flatMap(({ gaps }) => gaps)]),
    code: all.find(({ code }) => code !== null)?.code ?? 'several_fetuses',
  };
}

const NEEDS = [
  'spectral Doppler images with time and velocity scale, labelled with their vessel',
  'gestational age',
];

const CART_KEYS = [
  'umbilical-artery-pi',
  'umbilical-artery-ri',
  'umbilical-artery-sd',
  'umbilical-artery-psv',
  'umbilical-artery-edv',
  'middle-cerebral-artery-pi',
  'middle-cerebral-artery-psv',
  'uterine-artery-pi',
] as const satisfies readonly ObstetricConcept[];

function byQuality(one: TracedReading, other: TracedReading): number {
  const worth = (reading: TracedReading) =>
    (traceProblem(reading.waveform) ? 0 : 100) +
    (isFiltered(reading) ? 0 : 10) +
    Math.min(5, reading.waveform.beats.length) +
    reading.waveform.confidence;
  return worth(other) - worth(one);
}

function measureAll(readings: readonly TracedReading[]): Measurement[] {
  const groups = Map.groupBy(
    readings,
    ({ vessel, laterality }) => `${vessel} ${sidesApart(vessel) ? laterality : ''}`,
  );
  return [...groups.values()].flatMap((group) =>
    group
      .toSorted(byQuality)
      .flatMap((reading, rank) =>
        reading.vessel === 'ductus-venosus'
          ? measureDuctus(reading, rank)
          : measureSpectrum(reading, rank),
      ),
  );
}

/** Returns the id that a machine value takes if we have no value: that of the best trace. */
const plainId = ({ concept: { key }, laterality }: Measurement) =>
  idOf(key, { vessel: VESSEL_OF.get(key) ?? null, laterality }, 0);

/** Values omitted from the summary, which lists the PI and the peak velocity instead. */
const NOT_LISTED: ReadonlySet<string> = new Set(
  (
    ['umbilical-artery', 'middle-cerebral-artery', 'uterine-artery', 'unnamed-vessel'] as const
  ).flatMap((vessel) => [`${vessel}-edv`, `${vessel}-ri`, `${vessel}-sd`] as const),
);

function summaryOf(measurements: readonly Measurement[]): Statement[] {
  const shown = measurements.filter(
    (one) =>
      one.quality === 'accepted' &&
      one.standing !== 'repeat' &&
      !NOT_LISTED.has(one.concept.key) &&
      (!isOfMachine(one) || one.remarks.some(({ code }) => code === IN_PLACE_OF_OURS.code)),
  );
  return shown.length > 0 ? [say.value('doppler.values', {}, shown)] : [];
}

interface Given {
  readings: readonly SpectrumReading[];
  /** Spectra that need review. */
  held: readonly SpectrumReading[];
  cart: readonly Measurement[];
  gaDays: number | null;
}

const ALL_ARTERIES = [...FETAL_ARTERIES, 'uterine-artery'] as const;

function judgeOne({ readings, held, cart, gaDays }: Given): DopplerJudgement {
  const traced = readings.filter(isTraced);
  const measured = withMachineValues(worseFirst(cart), measureAll(traced), plainId);
  const own = judgeDoppler(traced, measured, gaDays);
  const supplied = { readings, held, measurements: own.measurements, cart };
  return { ...own, gaps: [...own.gaps, ...suppliedGaps(supplied, ALL_ARTERIES)] };
}

/**
 * Returns the machine values of a group: those of the named fetus, or those of the mother. Of the
 * values of an unknown fetus, only absent or reversed flow is included.
 */
function machineValuesOf(fetus: string | null, cart: readonly Measurement[]): Measurement[] {
  const fetal = cart.filter((one) => !isOfMother(one) && fetusKey(one.fetus) === fetusKey(fetus));
  return fetus === null
    ? [...cart.filter(isOfMother), ...lostFlowValues(fetal.map(ifPlausible))]
    : fetal;
}

function judgeGroup(group: DopplerGroup, names: boolean, given: Given): DopplerJudgement {
  const { fetus } = group;
  const cart = machineValuesOf(fetus, given.cart);
  const traced = group.readings.filter(isTraced);
  const ours = measureAll(fetus === null ? withoutNames(traced) : traced);
  const measured = withMachineValues(worseFirst(cart), ours, plainId);
  const own = judgeDoppler(traced, measured, given.gaDays, fetus === null);
  const unnamed = given.readings.filter((one) => one.fetus === null && !isMaternal(one.vessel));
  const supplied = {
    readings: group.readings,
    held: given.held,
    measurements: own.measurements,
    cart: given.cart.filter((one) => isOfMother(one) || one.fetus === null || cart.includes(one)),
    unnamed: new Set(unnamed.map(({ vessel }) => vessel)),
  };
  // If some spectra or values are assigned to a fetus, the group without a fetus reports only
  // missing uterine arteries. Otherwise it reports every missing vessel, except fetal vessels with
  // an unassigned spectrum.
  const lacking = names
    ? (['uterine-artery'] as const)
    : ALL_ARTERIES.filter((one) => isMaternal(one) || !supplied.unnamed.has(one));
  const gaps = suppliedGaps(supplied, fetus === null ? lacking : FETAL_ARTERIES);
  const judged = { ...own, gaps: [...own.gaps, ...gaps] };
  return fetus === null ? judged : ofFetus(judged, fetus);
}

function judgeApart(given: Given, why: Statement): DopplerJudgement {
  const names = given.cart.flatMap((one) => (isOfMother(one) ? [] : (one.fetus ?? [])));
  const unnamed = machineValuesOf(null, given.cart).length > 0 ? [null] : [];
  const groups = groupsByFetus(given.readings, [...names, ...unnamed]);
  const anyName = groups.some(({ fetus }) => fetus !== null);
  const judged = groups.map((group) => ({
    fetus: group.fetus,
    own: judgeGroup(group, anyName, given),
  }));
  const all = together(
    judged.flatMap(({ fetus, own }) => (fetus === null ? [] : own)),
    judged.flatMap(({ fetus, own }) => (fetus === null ? own : [])),
    why,
  );
  if (groups.some(({ fetus }) => fetus === null)) return all;
  const nothing = { readings: [], held: given.held, measurements: [], cart: given.cart };
  return { ...all, gaps: [...all.gaps, ...suppliedGaps(nothing, ['uterine-artery'])] };
}

/**
 * Returns why machine values are not used in a study with several fetuses: they do not name theirs.
 * Empty if all of them do.
 */
const unusedStatements = (cart: readonly Measurement[]): Statement[] =>
  cart.some((one) => !isOfMother(one) && one.fetus === null)
    ? [say.gap('doppler.machine-fetus-not-known', {})]
    : [];

function withoutValues(
  readings: readonly SpectrumReading[],
  refused: readonly Statement[],
): SectionOutcome {
  if (readings.length === 0) {
    return notAssessed('view_missing', [say.gap('doppler.no-view', {}), ...refused], NEEDS);
  }
  const uncalibrated = readings.every(
    ({ waveform }) => waveform.status === 'refused' && waveform.reason === 'no-scale',
  );
  return uncalibrated
    ? notAssessed('no_calibration', refused, NEEDS)
    : inadequate('low_confidence', refused, NEEDS);
}

function run(evidence: DopplerEvidence): SectionOutcome {
  const spectra = evidence.views.spectra ?? [];
  const readings = spectra.filter(({ held }) => held === undefined);
  const traced = readings.filter(isTraced);
  const cart = evidence.machine.values(DOPPLER_SECTION, CART_KEYS);
  const held = spectra.filter((one) => !readings.includes(one));
  const given = { readings, held, cart, gaDays: evidence.options.dating?.ga_days ?? null };
  const why = apart(evidence, readings, cart);
  const judged = why === null ? judgeOne(given) : judgeApart(given, why);
  const refused = [...refusals(readings), ...(why === null ? [] : unusedStatements(cart))];
  if (judged.measurements.length === 0) return withoutValues(readings, refused);
  const vessels = new Set(
    judged.measurements
      .filter(({ quality }) => quality === 'accepted')
      .map(({ concept }) => VESSEL_OF.get(concept.key)),
  );
  const named = DOPPLER_VESSELS.some((vessel) => vessels.has(vessel));
  const anyUnnamed = judged.measurements.some(
    ({ concept }) => VESSEL_OF.get(concept.key) === 'unnamed-vessel',
  );
  const unnamed = anyUnnamed
    ? [say.gap('doppler.not-named', { what: why === null ? 'vessel' : 'fetus' })]
    : [];
  const gaps = [...judged.gaps, ...refused, ...unnamed];
  const whole = ALL_ARTERIES.every((artery) => vessels.has(artery));
  const lacks = whole ? 'parts_missing' : 'vessel_missing';
  const code = named ? (judged.code ?? lacks) : 'vessel_unnamed';
  return {
    status: gaps.length === 0 ? 'complete' : 'partial',
    reason: gaps.length === 0 ? null : { code, gaps, needs: NEEDS },
    statements: [...summaryOf(judged.measurements), ...judged.statements, ...gaps],
    data: {
      category: judged.category,
      uterine_notching: 'not_assessed',
      umbilical_site: 'not_known',
      limitation: SIMULATED_ONLY,
      spectra: traced.map(({ file, frame, vessel, laterality, fetus, waveform }) => ({
        file,
        vessel,
        laterality,
        fetus,
        beats: waveform.beats.length,
        beats_seen: waveform.beatsSeen,
        beats_per_minute: waveform.beatsPerMinute,
        other_vessel_on_the_other_side: waveform.otherVessel,
        trace: flowTrace(frame, waveform.trace),
      })),
    },
    measurements: judged.measurements,
    findings: judged.findings,
    classifications: judged.classifications,
    guidance: judged.guidance,
  };
}

/**
 * The section on Doppler of the umbilical, middle cerebral and uterine arteries and of the ductus
 * venosus (obstetric 13).
 */
export const doppler: ObstetricSection<DopplerEvidence> = {
  id: DOPPLER_SECTION,
  title: 'Doppler',
  needs: NEEDS,
  reads: ['spectra'],
  run,
};
