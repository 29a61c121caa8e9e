import type { ConceptKey } from '../../result/concepts.ts';
import { classification, conclude, finding, GAPS, isChild } from '../conclude.ts';
import { fibrillationCriteria, fibrillationPressure } from '../guidelines/atrial-fibrillation.ts';
import { DYSFUNCTION } from '../guidelines/cardiomyopathy.ts';
import {
  algorithm2016A,
  algorithm2016B,
  criteria2016A,
  criteria2016B,
} from '../guidelines/diastolic-2016.ts';
import {
  algorithm2025,
  discordant,
  primaryVariables,
  secondStep,
} from '../guidelines/diastolic-2025.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { calculated, type Values, withValues } from '../values.ts';
import { headlineEf } from './lvef.ts';

const ID = 'diastolic';
const NEEDS = [
  "E, A and e' of both walls",
  'TR Vmax',
  'LA volume index',
  'rhythm and valve disease',
] as const;

/** Said with every grade: what decides whether the algorithm may be used (echo reference 10.2). */
const APPLIES =
  'Holds in sinus rhythm without mitral annular calcification, mitral stenosis, significant mitral regurgitation, prosthesis or pacing, which are not known to this software';

function ratios(values: Values) {
  const over = (
    key: ConceptKey,
    from: readonly ConceptKey[],
    value: (...n: number[]) => number,
    method: 'ratio-of-values' | 'early-over-annular',
  ) => calculated(values, key, { section: ID, method, from, value });
  const divided = (one = 0, other = 1) => one / other;
  return {
    filling: over('e-to-a', ['mitral-e', 'mitral-a'], divided, 'ratio-of-values'),
    average: over(
      'e-to-e-prime',
      ['mitral-e', 'e-prime-septal', 'e-prime-lateral'],
      (e = 0, septal = 0, lateral = 0) => e / ((septal + lateral) / 2),
      'early-over-annular',
    ),
    septal: over(
      'e-to-e-prime-septal',
      ['mitral-e', 'e-prime-septal'],
      divided,
      'early-over-annular',
    ),
    lateral: over(
      'e-to-e-prime-lateral',
      ['mitral-e', 'e-prime-lateral'],
      divided,
      'early-over-annular',
    ),
    vein: over(
      'pulmonary-vein-ratio',
      ['pulmonary-vein-s', 'pulmonary-vein-d'],
      divided,
      'ratio-of-values',
    ),
  };
}

const MEASURED = [
  'mitral-e',
  'mitral-a',
  'deceleration-time',
  'e-prime-septal',
  'e-prime-lateral',
  'a-prime-septal',
  'a-prime-lateral',
  's-prime-septal',
  's-prime-lateral',
  'mitral-a-duration',
  'ivrt',
  'pulmonary-vein-s',
  'pulmonary-vein-d',
] as const satisfies readonly ConceptKey[];

/** Irregular filling without an A wave: as in atrial fibrillation, which only an ECG proves. */
const isFibrillating = ({ spectra }: EchoEvidence) =>
  spectra.some(
    ({ flow, regular, quantities }) =>
      flow === 'mitral-inflow' &&
      regular === false &&
      quantities.every(({ key }) => key !== 'mitral-a'),
  );

const FIBRILLATING =
  'No grade of sinus rhythm is given: the RR intervals are irregular and no A wave is seen';

function run(evidence: EchoEvidence, given: Values) {
  const own = ratios(given);
  const values = withValues(given, Object.values(own));
  const atrialIndex =
    values.number('la-volume-index') ?? values.number('la-volume-index-area-length');
  const jet = values.number('tr-vmax');
  const ef = headlineEf(values)?.value ?? null;
  const inputs2016 = {
    averageRatio: values.number('e-to-e-prime'),
    septalRatio: values.number('e-to-e-prime-septal'),
    lateralRatio: values.number('e-to-e-prime-lateral'),
    septal: values.number('e-prime-septal'),
    lateral: values.number('e-prime-lateral'),
    jet,
    atrialIndex,
  };
  const inputs2025 = {
    septal: inputs2016.septal,
    lateral: inputs2016.lateral,
    early: values.number('mitral-e'),
    ratio: values.number('e-to-a'),
    jet,
    systolicPressure: null,
    atrialIndex,
    veinRatio: values.number('pulmonary-vein-ratio'),
    reservoirStrain: null,
    relaxationTime: values.number('ivrt'),
  };
  const reducedEf = ef !== null && ef < DYSFUNCTION.ef;
  const a = algorithm2016A(inputs2016);
  const needsB = reducedEf || a === 'diastolic dysfunction';
  const b = algorithm2016B({
    ...inputs2016,
    ratio: inputs2025.ratio,
    early: inputs2025.early,
    veinRatio: inputs2025.veinRatio,
    reducedEf,
  });
  const child = isChild(evidence);
  const fibrillating = isFibrillating(evidence);
  const inputsFibrillation = {
    early: inputs2025.early,
    septalRatio: inputs2016.septalRatio,
    jet,
    systolicPressure: null,
    deceleration: values.number('deceleration-time'),
    reservoirStrain: null,
    veinRatio: inputs2025.veinRatio,
  };
  const fibrillation = fibrillating && !child ? fibrillationPressure(inputsFibrillation) : null;
  const result2016 = needsB ? b : a;
  const result2025 = algorithm2025(inputs2025);
  const primary = primaryVariables(inputs2025);
  const conflicts = discordant(inputs2025);
  const elevated = [result2016, result2025].filter((result) => /elevated/i.test(result));
  const measured = MEASURED.map((key) => values.measurement(key));
  const graded =
    !child &&
    !fibrillating &&
    (result2016 !== 'insufficient data' || result2025 !== 'insufficient data');
  return conclude(diastolic, {
    measurements: [...measured, ...Object.values(own)],
    sentences: graded
      ? [
          `ASE/EACVI 2016 (algorithm ${needsB ? 'B' : 'A'}): ${result2016}`,
          `ASE 2025: ${result2025}`,
          conflicts.length > 0 ? `Discordant: ${conflicts.join(', ')} suggests raised LAP` : null,
          APPLIES,
        ]
      : [fibrillation && `ASE 2025, if the rhythm is atrial fibrillation: ${fibrillation}`],
    gaps: [
      child ? GAPS.age : null,
      fibrillation ? FIBRILLATING : null,
      !child && !graded && !fibrillation
        ? 'Diastolic function was not graded: too few criteria were measured.'
        : null,
      jet === null ? 'No TR signal was measured; the criterion is unavailable.' : null,
      atrialIndex === null ? 'LA volume index is unavailable.' : null,
      ef === null ? 'LVEF is unknown; algorithm B for a reduced LVEF was not chosen by it.' : null,
    ],
    findings: [
      graded && elevated.length > 0
        ? finding(
            ID,
            'lap-elevated',
            `Criteria of elevated LA pressure are met: ${elevated.join('; ')}`,
            'abnormal',
            measured,
          )
        : null,
    ],
    classifications: graded
      ? [
          classification(
            ID,
            'diastolic-2016',
            'Diastolic function',
            result2016,
            `ASE/EACVI 2016, algorithm ${needsB ? 'B' : 'A'}`,
            needsB ? criteria2016B(inputs2016) : criteria2016A(inputs2016),
          ),
          classification(
            ID,
            'diastolic-2025',
            'LA pressure and diastolic grade',
            result2025,
            'ASE 2025, sinus rhythm',
            [
              { name: "reduced e'", met: primary.reducedVelocity },
              { name: "raised E/e'", met: primary.raisedRatio },
              { name: 'raised TR Vmax or PASP', met: primary.raisedPressure },
              ...secondStep(inputs2025),
            ],
          ),
        ]
      : fibrillation
        ? [
            classification(
              ID,
              'diastolic-fibrillation',
              'LA pressure',
              fibrillation,
              'ASE 2025, atrial fibrillation',
              fibrillationCriteria(inputsFibrillation),
            ),
          ]
        : [],
  });
}

/** Diastolic function and LA pressure by the algorithms of 2016 and 2025 (echo reference 10). */
export const diastolic: EchoSection = {
  id: ID,
  title: 'Diastolic function',
  needs: NEEDS,
  measures: [
    ...MEASURED,
    'e-to-a',
    'e-to-e-prime',
    'e-to-e-prime-septal',
    'e-to-e-prime-lateral',
    'pulmonary-vein-ratio',
  ],
  run,
};
