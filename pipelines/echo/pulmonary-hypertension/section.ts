import type { ConceptKey } from '../../concepts/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isBeyond, RV_SIZE } from '../rv-function/guideline.ts';
import { classification, conclude, finding, GAPS, isChild } from '../shared/conclude.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import { named, type Values } from '../shared/values.ts';
import { categoriesOf, isNearJetLimit, probability, signsOf } from './guideline.ts';
import { type RightHeartPressures, rightHeartPressures } from './measure.ts';

const ID = 'pulmonary-hypertension';
const NEEDS = ['TR CW', 'subcostal IVC with sniff', 'RA area, RVOT PW'] as const;

const MEASURED = [
  'tr-vmax',
  'ivc-diameter',
  'ivc-least-diameter',
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

const IVC_NEEDED = {
  both: 'the IVC was not measured',
  diameter: 'the diameter of the IVC was not measured',
  collapse: 'the collapse of the IVC was not measured',
} as const;

/** Why there is no RA pressure, and what that means for the RVSP; null where there is one. */
function atrialGap(values: Values, withheld: boolean): string | null {
  if (values.measurement('ra-pressure') || withheld) return null;
  const [diameter, collapse] = [values.number('ivc-diameter'), values.number('ivc-collapse')];
  const none = diameter === null && collapse === null;
  const missing = none ? 'both' : diameter === null ? 'diameter' : 'collapse';
  const systolic = values.measurement('rvsp')
    ? 'RVSP is that of the machine, which does not say with which RA pressure'
    : 'RVSP is not given';
  return `RA pressure was not assessed: ${IVC_NEEDED[missing]}, and no pressure is assumed; ${systolic}.`;
}

/** A jet of severe TR and beyond does not obey the equation (echo 11.6, 12.4 "pitfalls"). */
function jetCaution(grade: RightHeartPressures['tricuspid']): string | null {
  if (grade === 'torrential (5+)') {
    return 'Torrential TR: the velocity of the jet underestimates the RV pressure';
  }
  return grade === 'severe (3+)' || grade === 'massive (4+)'
    ? `TR ${grade}: the pressure by the velocity of the jet is uncertain`
    : null;
}

const isWithheldAtrial = ({ concept, quality }: Measurement) =>
  concept.key === 'ra-pressure' && quality !== 'accepted';

function run(evidence: PatientEvidence, given: Values) {
  const { own, values, tricuspid } = rightHeartPressures(given, ID);
  const signs = signsOf({
    ventricularRatio: values.number('rv-to-lv'),
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
  // Without a TR value it is not known whether the signal was sought (echo 12.4).
  const assessable = !isChild(evidence) && (jet !== null || present.length >= 2);
  const by = assessable ? probability(jet?.value ?? null, present) : null;
  // A torrential jet is slower than the pressure behind it: it can confirm, and not exclude.
  const torrential = tricuspid === 'torrential (5+)';
  const likelihood = torrential && by !== 'high' ? null : by;
  const limited = likelihood === 'low' && assessed.length < 2;
  const size = values.measurement('ra-area');
  return conclude(pulmonaryHypertension, {
    measurements: [...MEASURED.map((key) => values.measurement(key)), ...own],
    sentences: [
      likelihood &&
        (limited
          ? `Echocardiographic probability of pulmonary hypertension: low by TRV; ${assessed.length} of ${CATEGORIES} categories assessed`
          : `Echocardiographic probability of pulmonary hypertension: ${likelihood}`),
      likelihood && jet && isNearJetLimit(jet.value)
        ? `${named(jet)} is within its variability, 0.1 m/s, of a cut-off`
        : null,
      jet && jetCaution(tricuspid),
    ],
    gaps: [
      isChild(evidence) ? GAPS.age : null,
      jet ? null : 'TR peak velocity was not measured; whether a signal was sought is not known.',
      likelihood || isChild(evidence)
        ? null
        : 'The probability of pulmonary hypertension was not assessed.',
      atrialGap(values, own.some(isWithheldAtrial)),
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
            [jet, ...own.filter(({ quality }) => quality === 'accepted')],
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

/** Pressures of the right heart and the probability of pulmonary hypertension (echo 12). */
export const pulmonaryHypertension: EchoSection = {
  id: ID,
  title: 'Pulmonary hypertension',
  needs: NEEDS,
  measures: [...MEASURED, 'ivc-collapse', 'ra-pressure', 'rvsp', 'tapse-to-spap', 'tr-gradient'],
  run,
};
