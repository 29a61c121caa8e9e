import type { Measurement } from '../../result/envelope.ts';
import { fetusKey, ofFetusId } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/doppler.ts';
import { distinctStatements, type Statement } from '../../result/statement.ts';
import { keyedByFetus, statementOfFetus } from '../shared/one-of-several.ts';
import type { DopplerEvidence, SpectrumReading } from './evidence.ts';
import type { DopplerSummary } from './guideline.ts';
import type { DopplerJudgement } from './judge.ts';

/** A group of spectra that are judged together in a study with several fetuses. */
export interface DopplerGroup {
  /**
   * The fetus that the spectra name; null for the group of maternal vessels and of spectra that
   * name no fetus.
   */
  fetus: string | null;
  /** All spectra of the group, whether or not they could be traced. */
  readings: SpectrumReading[];
}

export const isMaternal = (vesselOrKey: string | null) =>
  vesselOrKey?.startsWith('uterine-artery') ?? false;

/**
 * Why the spectra and the machine's values may be of more than one fetus; null where they are
 * surely of one. An operator who names the fetus on one spectrum distinguishes it from others, so a
 * spectrum without a name may be of another fetus. Machines name even an only fetus: named values
 * from the machine beside unnamed spectra are no contradiction.
 */
export function apart(
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
    cart.filter(({ concept }) => !isMaternal(concept.key)).map(({ fetus }) => fetusKey(fetus)),
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
 * The spectra in groups, one per named fetus, since two fetuses never share a value (obstetric
 * 0.5). `reported` are the fetuses for which the machine's values show lost flow: each gets a group
 * even without a spectrum.
 */
export function groupsByFetus(
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
 * The spectra of the group without a fetus: with several fetuses, a fetal vessel that names none is
 * treated as an unnamed vessel.
 */
export const withoutNames = <Reading extends SpectrumReading>(readings: readonly Reading[]) =>
  readings.map((one) => (isMaternal(one.vessel) ? one : { ...one, vessel: null }));

/** The judgement with the fetus named in its ids and statements. */
export function ofFetus(judged: DopplerJudgement, fetus: string): DopplerJudgement {
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
 * Order of the summaries for several fetuses: the gravest leads. A fetus that was not assessed
 * keeps the summary from being normal.
 */
const GRAVEST_FIRST: readonly DopplerSummary[] = [
  'redf',
  'aedf',
  'dv-abnormal',
  'abnormal-ua',
  'redistribution',
  'anaemia-flag',
  'not-assessed',
  'normal',
];

/**
 * Classifications that other sections, such as growth, would read as those of an only fetus: they
 * are given for a named fetus only.
 */
const OF_ONE_FETUS: ReadonlySet<string> = new Set(['fetal-doppler', 'end-diastolic-flow']);

/**
 * Combines the judgements of several fetuses: `fetal` are those of named fetuses, `others` those of
 * the mother and of spectra that name no fetus. `why` states why they are judged separately.
 */
export function together(
  fetal: readonly DopplerJudgement[],
  others: readonly DopplerJudgement[],
  why: Statement,
): DopplerJudgement {
  const all = [...fetal, ...others];
  // The group without a fetus contributes a category only where it is abnormal.
  const grave = others
    .map(({ category }) => category)
    .filter((one) => one !== 'normal' && one !== 'not-assessed');
  const categories = new Set([...fetal.map(({ category }) => category), ...grave]);
  return {
    measurements: all.flatMap(({ measurements }) => measurements),
    category: GRAVEST_FIRST.find((one) => categories.has(one)) ?? 'not-assessed',
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
