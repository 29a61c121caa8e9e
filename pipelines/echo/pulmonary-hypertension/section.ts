import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { sayOfPressure } from '../../result/render/echo/pulmonary-hypertension.ts';
import type { Statement } from '../../result/statement.ts';
import { isBeyond, RV_FUNCTION, RV_SIZE, withLimit } from '../rv-function/guideline.ts';
import {
  classification,
  conclude,
  type EchoSection,
  finding,
  isChild,
  PATIENT_GAPS,
  type PatientEvidence,
  type Values,
} from '../shared/section.ts';
import {
  categoriesOf,
  isAtriumEnlarged,
  isNearJetLimit,
  isUnexpectedJet,
  type PressureSigns,
  probability,
  RIGHT_ATRIUM,
  signsOf,
} from './guideline.ts';
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
] as const satisfies readonly EchoConcept[];

/**
 * Number of categories of echocardiographic signs of pulmonary hypertension. Signs from two
 * categories raise the probability (PH22).
 */
const CATEGORIES = 3;

function atrialGap(values: Values, withheld: boolean): Statement | null {
  if (values.measurement('ra-pressure') || withheld) return null;
  const [diameter, collapse] = [values.number('ivc-diameter'), values.number('ivc-collapse')];
  const none = diameter === null && collapse === null;
  const missing = none ? 'both' : diameter === null ? 'diameter' : 'collapse';
  const machineRvsp = values.measurement('rvsp') !== null;
  return sayOfPressure.gap('ph.no-atrial-pressure', { missing, machineRvsp });
}

/**
 * Reports why the TR velocity does not show the pulmonary artery pressure: the Bernoulli equation is
 * not valid for the jet of severe or worse TR, or the pulmonary valve is stenotic (echo 11.6, 12.3).
 */
function jetCaution({ tricuspid: grade, stenosis }: RightHeartPressures): Statement | null {
  if (stenosis) return sayOfPressure.conclusion('ph.outflow-stenosis', { grade: stenosis });
  if (grade === 'torrential') return sayOfPressure.conclusion('ph.torrential', {});
  return grade === 'severe' || grade === 'massive'
    ? sayOfPressure.conclusion('ph.severe-regurgitation', { grade })
    : null;
}

const isWithheldAtrial = ({ concept, quality }: Measurement) =>
  concept.key === 'ra-pressure' && quality !== 'accepted';

/** Quantity behind each input of the signs. The eccentricity index is not measured. */
const SIGN_CONCEPTS = {
  ventricularRatio: 'rv-to-lv',
  areaRatio: 'rv-to-lv-area',
  coupling: 'tapse-to-spap',
  acceleration: 'rvot-acceleration',
  earlyRegurgitation: 'pr-vmax',
  artery: 'pa-diameter',
  aorticRoot: 'aortic-root',
  cava: 'ivc-diameter',
  collapse: 'ivc-collapse',
  atrialArea: 'ra-area',
} as const satisfies Partial<Record<keyof PressureSigns, EchoConcept>>;

function signsIn(values: Values) {
  const inputs = Object.entries(SIGN_CONCEPTS).map(([name, key]) => [name, values.number(key)]);
  return signsOf({ eccentricity: null, ...Object.fromEntries(inputs) });
}

const valuesBehind = (signs: ReturnType<typeof signsIn>, values: Values) => {
  const concepts: Readonly<Partial<Record<keyof PressureSigns, EchoConcept>>> = SIGN_CONCEPTS;
  const keys = signs.flatMap(({ met, of }) =>
    met ? of.flatMap((one) => concepts[one] ?? []) : [],
  );
  return [...new Set(keys)].map((key) => values.measurement(key));
};

function likelihoodOf(
  jet: Measurement | null,
  present: Parameters<typeof probability>[1],
  { tricuspid, stenosis }: RightHeartPressures,
) {
  // If there is no TR value, we do not know whether a TR signal was searched for, so other signs
  // are needed (echo 12.4).
  if (!jet && present.length < 2) return null;
  // In pulmonary stenosis, the RV pressure is above that of the pulmonary artery. A fast jet then
  // does not indicate pulmonary hypertension, but a slow one still makes it unlikely.
  if (jet && stenosis && probability(jet.value, []) !== 'low') return null;
  const by = probability(jet?.value ?? null, present);
  // A torrential jet is slower than the pressure behind it would suggest. Its velocity can
  // therefore confirm pulmonary hypertension but cannot exclude it.
  return tricuspid === 'torrential' && by !== 'high' ? null : by;
}

/** Measures of the RV that show whether a high pressure has changed it, with their limits. */
const VENTRICLE = {
  'rv-to-lv': RV_SIZE.ratio,
  'rv-basal': RV_SIZE.basal,
  tapse: RV_FUNCTION.tapse,
} as const satisfies Partial<Record<EchoConcept, unknown>>;

/**
 * Returns the statement on a fast TR jet beside a normal RV and a long acceleration time: the jet
 * may be that of another valve, or the outflow may be narrowed.
 */
function unexpectedJet(values: Values, { stenosis }: RightHeartPressures): Statement | null {
  const [jet, acceleration] = [
    values.measurement('tr-vmax'),
    values.measurement('rvot-acceleration'),
  ];
  if (!jet || !acceleration || stenosis) return null;
  if (!isUnexpectedJet(jet.value, acceleration.value)) return null;
  const ventricle = Object.entries(VENTRICLE).flatMap(([key, limit]) => {
    const one = values.measurement(key as keyof typeof VENTRICLE);
    return one ? [{ one, beyond: isBeyond(limit, one.value) }] : [];
  });
  if (ventricle.length === 0 || ventricle.some(({ beyond }) => beyond)) return null;
  const about = [jet, acceleration, ...ventricle.map(({ one }) => one)];
  return sayOfPressure.conclusion('ph.unexpected-jet', {}, about);
}

/** Returns the measured values; in adults, the RA area and the IVC diameter have their limit. */
const measuredOf = (values: Values, child: boolean) =>
  MEASURED.map((key) => {
    const measurement = values.measurement(key);
    if (!measurement || child || !(key === 'ra-area' || key === 'ivc-diameter')) return measurement;
    return withLimit(RIGHT_ATRIUM[key], measurement);
  });

function run(evidence: PatientEvidence, given: Values) {
  const pressures = rightHeartPressures(given, ID);
  const { own, values } = pressures;
  const signs = signsIn(values);
  const { present, assessed } = categoriesOf(signs);
  const jet = values.measurement('tr-vmax');
  const likelihood = isChild(evidence) ? null : likelihoodOf(jet, present, pressures);
  const limited = likelihood === 'low' && assessed.length < 2;
  const found =
    likelihood &&
    (limited
      ? sayOfPressure.conclusion('ph.low-by-velocity', {
          assessed: assessed.length,
          of: CATEGORIES,
        })
      : sayOfPressure.conclusion('ph.probability', { probability: likelihood }));
  const size = values.measurement('ra-area');
  return conclude(pulmonaryHypertension, {
    measurements: [...measuredOf(values, isChild(evidence)), ...own],
    conclusions: [
      found,
      likelihood && jet && isNearJetLimit(jet.value)
        ? sayOfPressure.conclusion('ph.near-limit', {}, [jet])
        : null,
      jet && jetCaution(pressures),
      isChild(evidence) ? null : unexpectedJet(values, pressures),
    ],
    gaps: [
      isChild(evidence) ? PATIENT_GAPS.child : null,
      jet ? null : sayOfPressure.gap('ph.no-jet', {}),
      likelihood || isChild(evidence) ? null : sayOfPressure.gap('ph.not-assessed', {}),
      atrialGap(values, own.some(isWithheldAtrial)),
      likelihood && assessed.length < CATEGORIES
        ? sayOfPressure.gap('ph.categories', { assessed: assessed.length, of: CATEGORIES })
        : null,
    ],
    findings: [
      found && (likelihood === 'high' || likelihood === 'intermediate')
        ? finding('ph-probability', found, 'abnormal', [jet, ...valuesBehind(signs, values)])
        : null,
      size && !isChild(evidence) && isAtriumEnlarged(size.value)
        ? finding(
            'ra-enlarged',
            sayOfPressure.conclusion('ph.atrium-enlarged', {}, [size]),
            'abnormal',
          )
        : null,
    ],
    classifications: [
      likelihood &&
        classification(
          'ph-probability',
          'Echocardiographic probability of pulmonary hypertension',
          likelihood,
          'ESC/ERS 2022',
          signs.map(({ category, name, met }) => ({ name: `${category}: ${name}`, met })),
        ),
    ],
  });
}

/** Reports right heart pressures and the probability of pulmonary hypertension (echo 12). */
export const pulmonaryHypertension: EchoSection = {
  id: ID,
  title: 'Pulmonary hypertension',
  needs: NEEDS,
  measures: [...MEASURED, 'ivc-collapse', 'ra-pressure', 'rvsp', 'tapse-to-spap', 'tr-gradient'],
  run,
};
