import type { ConceptKey } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { outlineGap } from '../chambers/outline-gap.ts';
import { classification, conclude, finding, GAPS, isChild } from '../conclude.ts';
import { fractionalChange } from '../formulas/chambers.ts';
import { isBeyond, RV_FUNCTION, RV_SIZE, rvConclusion } from '../guidelines/right-ventricle.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { calculated, named, type Values } from '../values.ts';

const ID = 'rv-function';
const NEEDS = ["TAPSE, S' or FAC", 'RV basal diameter of an RV-focused A4C'] as const;

const INDICES = {
  tapse: RV_FUNCTION.tapse,
  'rv-s-prime': RV_FUNCTION.sPrime,
  'rv-fac': RV_FUNCTION.fac,
  rimp: RV_FUNCTION.rimpPulsed,
} as const satisfies Partial<Record<ConceptKey, unknown>>;

const SIZES = {
  'rv-basal': RV_SIZE.basal,
  'rv-mid': RV_SIZE.mid,
  'rv-wall': RV_SIZE.wall,
} as const;

/** Sentence of the decision table (echo reference 7.3). */
function sentence(judged: readonly { measurement: Measurement; beyond: boolean }[]): string | null {
  const abnormal = judged.filter(({ beyond }) => beyond);
  const [first] = judged;
  switch (rvConclusion(judged.length, abnormal.length)) {
    case 'not assessed':
      return null;
    case 'single index normal':
      return `${first?.measurement.label} normal; single index only`;
    case 'single index reduced':
      return `${first?.measurement.label} reduced; single index, RV dysfunction possible`;
    case 'normal':
      return 'Normal RV systolic function';
    case 'borderline':
      return `Borderline RV systolic function: discordant indices (abnormal: ${abnormal.map(({ measurement }) => measurement.label).join(', ')})`;
    case 'reduced':
      return 'Reduced RV systolic function';
  }
}

function run(evidence: EchoEvidence, values: Values) {
  const change = calculated(values, 'rv-fac', {
    section: ID,
    method: 'fraction-of-areas',
    from: ['rv-ed-area', 'rv-es-area'],
    value: fractionalChange,
  });
  const of = (key: ConceptKey) => (key === 'rv-fac' ? change : values.measurement(key));
  const judged = Object.entries(INDICES).flatMap(([key, limit]) => {
    const measurement = of(key as keyof typeof INDICES);
    return measurement?.quality === 'accepted' && !isChild(evidence)
      ? [{ measurement, beyond: isBeyond(limit, measurement.value) }]
      : [];
  });
  const dilated = Object.entries(SIZES).flatMap(([key, limit]) => {
    const measurement = values.measurement(key as keyof typeof SIZES);
    return measurement && !isChild(evidence) && isBeyond(limit, measurement.value)
      ? [measurement]
      : [];
  });
  const ratio = values.measurement('rv-to-lv');
  const large = ratio !== null && !isChild(evidence) && isBeyond(RV_SIZE.ratio, ratio.value);
  const conclusion = rvConclusion(judged.length, judged.filter(({ beyond }) => beyond).length);
  const said = sentence(judged);
  const wide = dilated.filter(({ concept }) => concept.key !== 'rv-wall');
  const strained = wide.length > 0 && conclusion === 'reduced';
  return conclude(rvFunction, {
    measurements: [
      values.measurement('tapse'),
      values.measurement('rv-s-prime'),
      values.measurement('rv-e-prime'),
      values.measurement('rv-a-prime'),
      change,
      values.measurement('rimp'),
      values.measurement('rv-basal'),
      values.measurement('rv-mid'),
      values.measurement('rv-wall'),
      values.measurement('rv-ed-area'),
      values.measurement('rv-es-area'),
      ratio,
    ],
    sentences: [
      said,
      wide.length > 0 ? `RV dilated: ${wide.map(named).join(', ')}` : null,
      large && ratio ? `The RV is larger than the LV: ${named(ratio)}` : null,
    ],
    gaps: [
      isChild(evidence) ? GAPS.age : null,
      judged.length === 0 && !isChild(evidence)
        ? `RV systolic function was not assessed: no index was measured. ${outlineGap(evidence, ['A4C']) ?? ''}`.trim()
        : null,
      values.measurement('rv-basal')
        ? null
        : 'RV size was not assessed: no RV basal diameter was measured.',
      ratio
        ? null
        : 'The RV/LV ratio was not assessed: both basal diameters of one frame are needed.',
    ],
    findings: [
      strained
        ? finding(
            ID,
            'rv-strain',
            'RV dilatation with reduced RV systolic function; acute pressure overload such as pulmonary embolism to be considered',
            'critical',
            [...wide, ...judged.map(({ measurement }) => measurement)],
          )
        : null,
      !strained && conclusion === 'reduced' && said
        ? finding(
            ID,
            'rv-dysfunction',
            said,
            'abnormal',
            judged.map(({ measurement }) => measurement),
          )
        : null,
      !strained && wide.length > 0
        ? finding(ID, 'rv-dilated', `RV dilated: ${wide.map(named).join(', ')}`, 'abnormal', wide)
        : null,
    ],
    classifications: [
      said
        ? classification(
            ID,
            'rv-systolic-function',
            'RV systolic function',
            conclusion,
            'ASE/EACVI 2015 cut-offs, combined',
            judged.map(({ measurement, beyond }) => ({
              name: `${measurement.label} abnormal`,
              met: beyond,
            })),
          )
        : null,
    ],
  });
}

/** Function and size of the right ventricle (echo reference 7). */
export const rvFunction: EchoSection = {
  id: ID,
  title: 'Right ventricular function',
  needs: NEEDS,
  measures: [
    'tapse',
    'rv-s-prime',
    'rv-e-prime',
    'rv-a-prime',
    'rv-fac',
    'rv-ed-area',
    'rv-es-area',
    'rimp',
    'rv-basal',
    'rv-mid',
    'rv-wall',
    'rv-to-lv',
  ],
  run,
};
