import type { Measurement } from '../../result/envelope.ts';
import { fetusKey, ofFetusId } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/doppler.ts';
import { distinctStatements, type Statement } from '../../result/statement.ts';
import { keyedByFetus, statementOfFetus } from '../shared/one-of-several.ts';
import type { DopplerEvidence, SpectrumReading } from './evidence.ts';
import type { DopplerSummary } from './guideline.ts';
import type { DopplerJudgement } from './judge.ts';

/** Of several fetuses, the spectra that are judged together: of one, or of nobody in particular. */
export interface DopplerGroup {
  /** Null: the mother, and what names no fetus. */
  fetus: string | null;
  /** Traced or not. */
  readings: SpectrumReading[];
}

export const isMaternal = (vesselOrKey: string | null) =>
  vesselOrKey?.startsWith('uterine-artery') ?? false;

/**
 * Why the spectra, and the machine's values, are not those of one fetus for sure; null where they are.
 * An operator who names the fetus of one spectrum distinguishes it from others: one that names none may
 * be of another.
 * Machines name the only fetus too: with spectra that name none there is no contradiction.
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
 * Two fetuses never share a value (obstetric 0.5): of several each is judged by the spectra
 * that name it, and `reported` are those whose flow the machine's values call lost.
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

/** Of several fetuses, a fetal vessel that names none is one that is not named at all. */
export const withoutNames = <Reading extends SpectrumReading>(readings: readonly Reading[]) =>
  readings.map((one) => (isMaternal(one.vessel) ? one : { ...one, vessel: null }));

/** A judgement whose ids and statements name their fetus. */
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

/** Of several fetuses the gravest leads; one that was not assessed keeps the rest from being normal. */
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

/** What growth and others would take for the only fetus: said of a named one, or of none. */
const OF_ONE_FETUS: ReadonlySet<string> = new Set(['fetal-doppler', 'end-diastolic-flow']);

/**
 * The judgements of several fetuses as one; `fetal` are those of a named fetus, `others` of their mother
 * and of what names no fetus. `why` they are apart.
 */
export function together(
  fetal: readonly DopplerJudgement[],
  others: readonly DopplerJudgement[],
  why: Statement,
): DopplerJudgement {
  const all = [...fetal, ...others];
  // Of the mother's group only what is lost in a fetus without a name counts.
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
