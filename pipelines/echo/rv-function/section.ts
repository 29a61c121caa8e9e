import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { sayOfRvFunction } from '../../result/render/echo/rv-function.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { fractionalChange } from '../formulas/chambers.ts';
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
} as const satisfies Partial<Record<EchoConcept, unknown>>;

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

/** The row of the decision table that the indices make (echo 7.3); null without any. */
function systolicFunction(judged: readonly Judged[]) {
  const abnormal = judged.filter(({ beyond }) => beyond);
  const conclusion = rvConclusion(judged.length, abnormal.length);
  if (conclusion === 'not assessed') return null;
  const keys = (of: readonly Judged[]) =>
    of.map(({ measurement }) => measurement.concept.key as EchoConcept);
  const statement = sayOfRvFunction.conclusion('rv-function.systolic', {
    conclusion,
    judged: keys(judged),
    abnormal: keys(abnormal),
  });
  return { conclusion, statement };
}

function run(evidence: RvFunctionEvidence, values: Values) {
  const change = values.calculated('rv-fac', {
    section: ID,
    method: 'fraction-of-areas',
    from: ['rv-ed-area', 'rv-es-area'],
    value: fractionalChange,
  });
  const of = (key: EchoConcept) => (key === 'rv-fac' ? change : values.measurement(key));
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
  const beyondSize = (key: EchoConcept, limit: Parameters<typeof isBeyond>[0]) => {
    const measurement = values.measurement(key);
    return measurement && !child && isBeyond(limit, measurement.value) ? [measurement] : [];
  };
  const wide = Object.entries(SIZES).flatMap(([key, limit]) =>
    beyondSize(key as keyof typeof SIZES, limit),
  );
  const [thick = null] = beyondSize('rv-wall', RV_SIZE.wall);
  const ratio = values.measurement('rv-to-lv');
  const [large = null] = beyondSize('rv-to-lv', RV_SIZE.ratio);
  const found = systolicFunction(judged);
  const dilated = wide.length > 0 || large !== null;
  const alone = found?.conclusion === 'single index reduced';
  // Possible pulmonary embolism is reported at once (echo 16): one index suffices where it is the only one.
  const strained = dilated && (found?.conclusion === 'reduced' || alone);
  const dilation =
    wide.length > 0 ? sayOfRvFunction.conclusion('rv-function.dilated', {}, wide) : null;
  const larger = large && sayOfRvFunction.conclusion('rv-function.larger-than-lv', {}, [large]);
  const thickened = thick && sayOfRvFunction.conclusion('rv-function.wall-thickened', {}, [thick]);
  const indices = judged.map(({ measurement }) => measurement);
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
    conclusions: [found?.statement ?? null, dilation, larger, thickened],
    gaps: [
      child ? PATIENT_GAPS.child : null,
      ...(judged.length === 0 && !child
        ? [
            sayOfRvFunction.gap('rv-function.no-index', { other: rimp !== null }),
            outlineGap(evidence, ['A4C']),
          ]
        : []),
      rimp && performance.length === 0 && !child
        ? sayOfRvFunction.gap(
            'rv-function.rimp-not-counted',
            { pulsed: RV_FUNCTION.rimpPulsed.above, tissue: RV_FUNCTION.rimpTissue.above },
            [rimp],
          )
        : null,
      values.measurement('rv-basal') || values.measurement('rv-mid')
        ? null
        : sayOfRvFunction.gap('rv-function.no-size', {}),
      ratio ? null : sayOfRvFunction.gap('rv-function.no-ratio', {}),
    ],
    findings: [
      strained
        ? finding(
            ID,
            'rv-strain',
            sayOfRvFunction.conclusion('rv-function.strain', { alone }),
            'critical',
            [...wide, large, ...indices],
          )
        : null,
      !strained && found?.conclusion === 'reduced'
        ? finding(ID, 'rv-dysfunction', found.statement, 'abnormal', indices)
        : null,
      !strained && dilation ? finding(ID, 'rv-dilated', dilation, 'abnormal', wide) : null,
      !strained && larger ? finding(ID, 'rv-larger-than-lv', larger, 'abnormal', [large]) : null,
      thickened && finding(ID, 'rv-wall-thickened', thickened, 'abnormal', [thick]),
    ],
    classifications: [
      found
        ? classification(
            ID,
            'rv-systolic-function',
            'RV systolic function',
            found.conclusion,
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
