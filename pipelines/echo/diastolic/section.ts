import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  type DiastolicInput,
  type MitralDisease,
  type MyocardialSign,
  sayOfDiastolic,
} from '../../result/render/echo/diastolic.ts';
import type { Statement } from '../../result/statement.ts';
import {
  conclude,
  type EchoSection,
  finding,
  PATIENT_GAPS,
  type Values,
} from '../shared/section.ts';
import {
  type Applicability,
  applicabilityOf,
  type Ejection,
  type RhythmAndFilling,
} from './applicability.ts';
import { supplementalSigns2025 } from './guideline-2025.ts';
import {
  type Judgement,
  judge2016,
  judge2025,
  judgeFibrillation,
  unexplainedAtrium,
} from './judge.ts';
import {
  atrialIndexOf,
  CALCULATED,
  type DiastolicInputs,
  inputsOf,
  MEASURED,
  SECTION,
  withRatios,
} from './measure.ts';

export interface DiastolicEvidence extends RhythmAndFilling {
  heart: {
    trusted: boolean;
    segments: readonly { segment: number; score: number | null }[];
  };
}

/**
 * Functions that return the conclusions of other sections, as far as the algorithms need them
 * (conditions.ts).
 */
export interface DiastolicConditions {
  ejectionOf(values: Values): Ejection;
  mitralDisease(values: Values): readonly MitralDisease[];
  myocardialSigns(evidence: DiastolicEvidence, values: Values): readonly MyocardialSign[];
  /**
   * Returns the values with the calculated right heart pressures added, and whether pulmonary
   * stenosis was measured.
   */
  pressures(values: Values): { values: Values; stenosis: string | null };
  /**
   * Returns the diastolic pulmonary artery pressure, mmHg; null if it cannot be calculated from the
   * values.
   */
  diastolicPressure(values: Values): number | null;
  /** Returns the LA volume index if it is severely abnormal; otherwise null. */
  severeAtrium(index: Measurement | null): Measurement | null;
}

const NEEDS = [
  "E, A and e' of both walls",
  'TR Vmax',
  'LA volume index',
  'rhythm and valve disease',
] as const;

/** Values that the criteria use but other sections report. */
const ELSEWHERE = [
  'tr-vmax',
  'rvsp',
  'la-volume-index',
  'la-volume-index-area-length',
] as const satisfies readonly EchoConcept[];

/** Values that do not show the pulmonary artery pressure in pulmonary stenosis. */
const OF_JET: ReadonlySet<EchoConcept> = new Set<EchoConcept>(['tr-vmax', 'rvsp']);

function elevatedFinding(
  judgements: readonly Judgement[],
  evidence: readonly (Measurement | null)[],
) {
  const elevated = judgements.filter((one) => one.elevated);
  if (elevated.length === 0) return null;
  const results = judgements
    .toSorted((a, b) => Number(b.elevated) - Number(a.elevated))
    .flatMap(({ result }) => result ?? []);
  const statement = sayOfDiastolic.conclusion('diastolic.elevated', {
    results,
    differ: elevated.length < judgements.length,
  });
  return finding('lap-elevated', statement, 'abnormal', evidence);
}

/**
 * Returns the missing values that the algorithms need. A missing criterion does not count as
 * negative.
 */
function missingOf(
  { of2016, of2025, ofFibrillation }: DiastolicInputs,
  { mitral, fibrillating }: Applicability,
  filling: Measurement | null,
  isJetUnused: boolean,
): (Statement | null)[] {
  if (mitral.length > 0) return [];
  const missing: (DiastolicInput | false)[] = [
    of2016.early === null && 'e',
    !fibrillating && filling === null && 'e-to-a',
    of2016.septal === null && 'septal-e-prime',
    !fibrillating && of2016.lateral === null && 'lateral-e-prime',
    fibrillating && ofFibrillation.deceleration === null && 'deceleration-time',
  ];
  const inputs = missing.filter((one) => one !== false);
  const pressure = of2025.systolicPressure !== null;
  return [
    inputs.length > 0 ? sayOfDiastolic.gap('diastolic.not-measured', { inputs }) : null,
    isJetUnused ? sayOfDiastolic.gap('diastolic.outflow-stenosis', {}) : null,
    !isJetUnused && of2016.jet === null
      ? sayOfDiastolic.gap('diastolic.no-jet', { pressure })
      : null,
    !fibrillating && of2016.atrialIndex === null
      ? sayOfDiastolic.gap('diastolic.no-atrium', {})
      : null,
  ];
}

function judgementsOf(
  evidence: DiastolicEvidence,
  conditions: DiastolicConditions,
  { values, pressures, applicability, inputs }: Measured,
): Judgement[] {
  const { child, mitral, fibrillating } = applicability;
  if (child || mitral.length > 0) return [];
  if (fibrillating) return [judgeFibrillation(inputs.ofFibrillation)];
  const supplemental = supplementalSigns2025({
    regurgitationEnd: values.number('pr-end-velocity'),
    diastolicPressure: conditions.diastolicPressure(pressures),
  });
  const disease = conditions.myocardialSigns(evidence, values);
  return [
    judge2016(inputs.of2016, conditions.ejectionOf(values), disease),
    judge2025(inputs.of2025, supplemental),
  ];
}

interface Measured {
  values: Values;
  /** The section's values, together with the right heart pressures. */
  pressures: Values;
  applicability: Applicability;
  inputs: DiastolicInputs;
  /**
   * True if a TR velocity or an RVSP is known but not used, because pulmonary stenosis was measured:
   * neither then shows the pulmonary artery pressure.
   */
  isJetUnused: boolean;
}

function gapsOf(
  judgements: readonly Judgement[],
  { applicability, inputs, isJetUnused }: Measured,
  filling: Measurement | null,
  { reduced, contested }: Ejection,
): (Statement | null)[] {
  const { child, mitral, fibrillating } = applicability;
  const unknownEf = reduced === null && !contested;
  const asksEf = !child && !fibrillating && mitral.length === 0;
  return [
    child ? PATIENT_GAPS.child : null,
    mitral.length > 0 ? sayOfDiastolic.gap('diastolic.mitral-disease', { diseases: mitral }) : null,
    ...judgements.flatMap(({ gaps }) => gaps),
    judgements.length > 0 && !judgements.some((one) => one.given)
      ? sayOfDiastolic.gap('diastolic.too-few-criteria', {})
      : null,
    ...missingOf(inputs, applicability, filling, isJetUnused),
    asksEf && unknownEf ? sayOfDiastolic.gap('diastolic.ef-unknown', {}) : null,
  ];
}

function conclusionsOf(
  judgements: readonly Judgement[],
  { isRhythmContested }: Applicability,
  atrium: Statement | null,
): (Statement | null)[] {
  if (judgements.length === 0) return [];
  const apart = new Set(judgements.map(({ elevated }) => elevated)).size > 1;
  return [
    ...judgements.flatMap(({ result, conclusions }) => [
      result && sayOfDiastolic.conclusion('diastolic.result', result),
      ...conclusions,
    ]),
    apart ? sayOfDiastolic.conclusion('diastolic.algorithms-differ', {}) : null,
    atrium,
    isRhythmContested ? sayOfDiastolic.limitation('diastolic.rhythm-contested', {}) : null,
    sayOfDiastolic.limitation('diastolic.applies', {}),
  ];
}

const run = (conditions: DiastolicConditions) => (evidence: DiastolicEvidence, given: Values) => {
  const applicability = applicabilityOf(evidence, given, conditions.mitralDisease(given));
  const { ratios, values } = withRatios(given, applicability);
  const { values: calculated, stenosis } = conditions.pressures(values);
  const isJetUnused =
    stenosis !== null && [...OF_JET].some((key) => calculated.measurement(key) !== null);
  const pressures = isJetUnused ? calculated.without(OF_JET) : calculated;
  const inputs = inputsOf(isJetUnused ? values.without(OF_JET) : values, pressures.number('rvsp'));
  const known = { values, pressures, applicability, inputs, isJetUnused };
  const judgements = judgementsOf(evidence, conditions, known);
  const shown = judgements.some((one) => one.given) ? judgements : [];
  const measured = MEASURED.map((key) => values.measurement(key));
  const filling = ratios[CALCULATED.indexOf('e-to-a')] ?? null;
  return conclude(
    { needs: NEEDS },
    {
      measurements: [...measured, ...ratios],
      conclusions: conclusionsOf(
        shown,
        applicability,
        applicability.fibrillating
          ? null
          : unexplainedAtrium(
              conditions.severeAtrium(atrialIndexOf(values)),
              values.measurement('e-to-e-prime'),
            ),
      ),
      gaps: gapsOf(judgements, known, filling, conditions.ejectionOf(values)),
      findings: [
        elevatedFinding(shown, [
          ...measured,
          ...ratios.filter((one) => one?.quality === 'accepted'),
          ...ELSEWHERE.map((key) => pressures.measurement(key)),
        ]),
      ],
      classifications: shown.flatMap(({ classifications }) => classifications),
    },
  );
};

/**
 * Reports diastolic function and LA pressure according to the algorithms of 2016 and 2025 (echo
 * 10).
 */
export const diastolic = (conditions: DiastolicConditions): EchoSection<DiastolicEvidence> => ({
  id: SECTION,
  title: 'Diastolic function',
  needs: NEEDS,
  measures: [...MEASURED, ...CALCULATED],
  run: run(conditions),
});
