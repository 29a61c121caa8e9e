import type { ConceptKey } from '../../result/concepts.ts';
import { classification, conclude, finding, GAPS, isChild } from '../conclude.ts';
import { pressureBehindJet } from '../formulas/right-heart.ts';
import {
  atrialPressure,
  categoriesOf,
  probability,
  signsOf,
} from '../guidelines/pulmonary-pressure.ts';
import { isBeyond, RV_SIZE } from '../guidelines/right-ventricle.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { calculated, named, type Values, withValues } from '../values.ts';

const ID = 'pulmonary-hypertension';
const NEEDS = ['TR CW', 'subcostal IVC with sniff', 'RA area, RVOT PW'] as const;

const MEASURED = [
  'tr-vmax',
  'ivc-diameter',
  'ivc-collapse',
  'ra-area',
  'rvot-acceleration',
  'rvot-vti',
  'pr-vmax',
  'pr-end-velocity',
  'pa-diameter',
  'aortic-root',
] as const satisfies readonly ConceptKey[];

/** Categories of signs, of which two decide (PH22). */
const CATEGORIES = 3;

function pressures(given: Values) {
  const atrial = calculated(given, 'ra-pressure', {
    section: ID,
    method: 'cava-table',
    from: ['ivc-diameter', 'ivc-collapse'],
    value: (diameter = 0, collapse = 0) => atrialPressure(diameter, collapse),
    note: 'collapse taken as that with a sniff',
  });
  const withAtrial = withValues(given, [atrial]);
  const systolic = calculated(withAtrial, 'rvsp', {
    section: ID,
    method: 'jet-plus-atrial',
    from: ['tr-vmax', 'ra-pressure'],
    value: pressureBehindJet,
    note: 'equals the systolic PA pressure without RVOT or pulmonary stenosis',
  });
  const coupling = calculated(withValues(withAtrial, [systolic]), 'tapse-to-spap', {
    section: ID,
    method: 'ratio-of-values',
    from: ['tapse', 'rvsp'],
    value: (excursion = 0, pressure = 1) => excursion / pressure,
  });
  return [atrial, systolic, coupling] as const;
}

function run(evidence: EchoEvidence, given: Values) {
  const own = pressures(given);
  const values = withValues(given, own);
  const signs = signsOf({
    ventricularRatio: null,
    eccentricity: null,
    coupling: values.number('tapse-to-spap'),
    acceleration: values.number('rvot-acceleration'),
    earlyRegurgitation: values.number('pr-vmax'),
    artery: values.number('pa-diameter'),
    aorticRoot: values.number('aortic-root'),
    cava: values.number('ivc-diameter'),
    collapse: values.number('ivc-collapse'),
    atrialArea: values.number('ra-area'),
  });
  const { present, assessed } = categoriesOf(signs);
  const jet = values.measurement('tr-vmax');
  // Without a TR value it is not known whether the signal was sought (reference 12.4).
  const assessable = !isChild(evidence) && (jet !== null || present.length >= 2);
  const likelihood = assessable ? probability(jet?.value ?? null, present) : null;
  const limited = likelihood === 'low' && assessed.length < 2;
  const size = values.measurement('ra-area');
  return conclude(pulmonaryHypertension, {
    measurements: [...MEASURED.map((key) => values.measurement(key)), ...own],
    sentences: [
      likelihood &&
        (limited
          ? `Echocardiographic probability of pulmonary hypertension: low by TRV; ${assessed.length} of ${CATEGORIES} categories assessed`
          : `Echocardiographic probability of pulmonary hypertension: ${likelihood}`),
    ],
    gaps: [
      isChild(evidence) ? GAPS.age : null,
      jet ? null : 'TR peak velocity was not measured; whether a signal was sought is not known.',
      likelihood || isChild(evidence)
        ? null
        : 'The probability of pulmonary hypertension was not assessed.',
      values.measurement('ra-pressure')
        ? null
        : 'RA pressure was not assessed: the IVC was not measured, and no pressure is assumed; RVSP is not given.',
      likelihood && assessed.length < CATEGORIES
        ? `${assessed.length} of ${CATEGORIES} categories of signs were assessed.`
        : null,
    ],
    findings: [
      likelihood === 'high' || likelihood === 'intermediate'
        ? finding(
            ID,
            'ph-probability',
            `Echocardiographic probability of pulmonary hypertension: ${likelihood}`,
            'abnormal',
            [jet, ...own],
          )
        : null,
      size && !isChild(evidence) && isBeyond(RV_SIZE.atrialArea, size.value)
        ? finding(ID, 'ra-enlarged', `${named(size)}: RA enlarged`, 'abnormal', [size])
        : null,
    ],
    classifications: [
      likelihood &&
        classification(
          ID,
          'ph-probability',
          'Echocardiographic probability of pulmonary hypertension',
          likelihood,
          'ESC/ERS 2022',
          signs.map(({ category, name, met }) => ({ name: `${category}: ${name}`, met })),
        ),
    ],
  });
}

/** Pressures of the right heart and the probability of pulmonary hypertension (echo reference 12). */
export const pulmonaryHypertension: EchoSection = {
  id: ID,
  title: 'Pulmonary hypertension',
  needs: NEEDS,
  measures: [...MEASURED, 'ra-pressure', 'rvsp', 'tapse-to-spap'],
  run,
};
