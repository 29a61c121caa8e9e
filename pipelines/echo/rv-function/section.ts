import type { ConceptKey } from '../../concepts/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { fractionalChange } from '../formulas/chambers.ts';
import { classification, conclude, finding, GAPS, isChild } from '../shared/conclude.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import { calculated, named, type Values } from '../shared/values.ts';
import {
  isBeyond,
  isPerformanceBeyond,
  type PerformanceMethod,
  RV_FUNCTION,
  RV_SIZE,
  rvConclusion,
} from './guideline.ts';

/** What this section needs beside the values. */
interface RvFunctionEvidence extends PatientEvidence, OutlineEvidence {
  /** By which Doppler the machine measured RIMP; null where it does not say, or names both. */
  performanceMethod: PerformanceMethod | null;
}

const ID = 'rv-function';
const NEEDS = ["TAPSE, S' or FAC", 'RV basal diameter of an RV-focused A4C'] as const;

const INDICES = {
  tapse: RV_FUNCTION.tapse,
  'rv-s-prime': RV_FUNCTION.sPrime,
  'rv-fac': RV_FUNCTION.fac,
} as const satisfies Partial<Record<ConceptKey, unknown>>;

const SIZES = { 'rv-basal': RV_SIZE.basal, 'rv-mid': RV_SIZE.mid } as const;

interface Judged {
  measurement: Measurement;
  beyond: boolean;
}

/** RIMP as one of the indices; none where its method is unknown and decides. */
function judgedPerformance(
  { performanceMethod }: RvFunctionEvidence,
  rimp: Measurement | null,
): Judged[] {
  const beyond = rimp && isPerformanceBeyond(rimp.value, performanceMethod);
  return rimp && beyond !== null ? [{ measurement: rimp, beyond }] : [];
}

/** Sentence of the decision table (echo 7.3). */
function sentence(judged: readonly Judged[]): string | null {
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

function run(evidence: RvFunctionEvidence, values: Values) {
  const change = calculated(values, 'rv-fac', {
    section: ID,
    method: 'fraction-of-areas',
    from: ['rv-ed-area', 'rv-es-area'],
    value: fractionalChange,
  });
  const of = (key: ConceptKey) => (key === 'rv-fac' ? change : values.measurement(key));
  const child = isChild(evidence);
  const rimp = values.measurement('rimp');
  const performance = judgedPerformance(evidence, rimp);
  const measured = Object.entries(INDICES).flatMap(([key, limit]) => {
    const measurement = of(key as keyof typeof INDICES);
    return measurement?.quality === 'accepted'
      ? [{ measurement, beyond: isBeyond(limit, measurement.value) }]
      : [];
  });
  const judged = child ? [] : [...measured, ...performance];
  const beyondSize = (key: ConceptKey, limit: Parameters<typeof isBeyond>[0]) => {
    const measurement = values.measurement(key);
    return measurement && !child && isBeyond(limit, measurement.value) ? [measurement] : [];
  };
  const wide = Object.entries(SIZES).flatMap(([key, limit]) =>
    beyondSize(key as keyof typeof SIZES, limit),
  );
  const [thick = null] = beyondSize('rv-wall', RV_SIZE.wall);
  const ratio = values.measurement('rv-to-lv');
  const [large = null] = beyondSize('rv-to-lv', RV_SIZE.ratio);
  const conclusion = rvConclusion(judged.length, judged.filter(({ beyond }) => beyond).length);
  const said = sentence(judged);
  const dilated = wide.length > 0 || large !== null;
  const alone = conclusion === 'single index reduced';
  // Possible pulmonary embolism is told at once (echo 16): one index suffices where it is the only one.
  const strained = dilated && (conclusion === 'reduced' || alone);
  return conclude(rvFunction, {
    measurements: [
      values.measurement('tapse'),
      values.measurement('rv-s-prime'),
      values.measurement('rv-e-prime'),
      values.measurement('rv-a-prime'),
      change,
      rimp,
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
      large && `The RV is larger than the LV: ${named(large)}`,
      thick && `RV free wall thickened: ${named(thick)}`,
    ],
    gaps: [
      child ? GAPS.age : null,
      judged.length === 0 && !child
        ? `RV systolic function was not assessed: no ${rimp ? 'other ' : ''}index was measured. ${outlineGap(evidence, ['A4C']) ?? ''}`.trim()
        : null,
      rimp && performance.length === 0 && !child
        ? `${named(rimp)} was not counted: the machine does not say by which Doppler, and it is abnormal above ${RV_FUNCTION.rimpPulsed.above} by pulsed and above ${RV_FUNCTION.rimpTissue.above} by tissue Doppler.`
        : null,
      values.measurement('rv-basal') || values.measurement('rv-mid')
        ? null
        : 'RV size was not assessed: neither RV basal nor mid-cavity diameter was measured.',
      ratio
        ? null
        : 'The RV/LV ratio was not assessed: both basal diameters of one frame are needed.',
    ],
    findings: [
      strained
        ? finding(
            ID,
            'rv-strain',
            `RV dilatation with reduced RV systolic function${alone ? ' by a single index' : ''}; consider acute pressure overload such as pulmonary embolism`,
            'critical',
            [...wide, large, ...judged.map(({ measurement }) => measurement)],
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
      !strained && large
        ? finding(
            ID,
            'rv-larger-than-lv',
            `The RV is larger than the LV: ${named(large)}`,
            'abnormal',
            [large],
          )
        : null,
      thick &&
        finding(ID, 'rv-wall-thickened', `RV free wall thickened: ${named(thick)}`, 'abnormal', [
          thick,
        ]),
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

/** Function and size of the right ventricle (echo 7). */
export const rvFunction: EchoSection<RvFunctionEvidence> = {
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
