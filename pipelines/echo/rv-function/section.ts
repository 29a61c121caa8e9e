import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  categoryOfRvFunction,
  type RvConclusion,
  sayOfRvFunction,
} from '../../result/render/echo/rv-function.ts';
import { sayOfEcho } from '../../result/render/echo/shared.ts';
import { outcomeOf } from '../../result/section-outcome.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { fractionalChange } from '../formulas.ts';
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
  isSurelyBeyond,
  type Limit,
  type PerformanceMethod,
  RV_FUNCTION,
  RV_SIZE,
  rvConclusion,
  withLimit,
} from './guideline.ts';

interface RvFunctionEvidence extends PatientEvidence, OutlineEvidence {
  /**
   * Kind of Doppler with which the machine measured RIMP. Null if it is not known, or if both kinds
   * were used.
   */
  performanceMethod: PerformanceMethod | null;
}

const ID = 'rv-function';
const NEEDS = ["TAPSE, S' or FAC", 'RV basal diameter of an RV-focused A4C'] as const;

const INDICES = {
  tapse: RV_FUNCTION.tapse,
  'rv-s-prime': RV_FUNCTION.sPrime,
  'rv-fac': RV_FUNCTION.fac,
} as const satisfies Partial<Record<EchoConcept, unknown>>;

const MEASURED = [
  'tapse',
  'rv-s-prime',
  'rv-e-prime',
  'rv-a-prime',
  'rv-fac',
  'rimp',
  'rv-basal',
  'rv-mid',
  'rv-wall',
  'rv-ed-area',
  'rv-es-area',
  'rv-to-lv',
  'rv-to-lv-area',
] as const satisfies readonly EchoConcept[];

interface Judged {
  measurement: Measurement;
  /** Null if the interval of the value includes its limit. */
  beyond: boolean | null;
  /** Whether the value is beyond its limit if its interval is ignored. */
  valueBeyond: boolean;
}

const judgedBy = (limit: Parameters<typeof isBeyond>[0], measurement: Measurement): Judged => ({
  measurement,
  beyond: isSurelyBeyond(limit, measurement),
  valueBeyond: isBeyond(limit, measurement.value),
});

/**
 * Returns RIMP as one of the indices. It is left out if its method is unknown and the limits for
 * the two methods lead to different answers.
 */
function judgedPerformance(
  { performanceMethod }: RvFunctionEvidence,
  rimp: Measurement | null,
): Judged[] {
  const beyond = rimp && isPerformanceBeyond(rimp.value, performanceMethod);
  return rimp && beyond !== null ? [{ measurement: rimp, beyond, valueBeyond: beyond }] : [];
}

/**
 * Returns the conclusion of the decision table (echo 7.3). Indices whose interval includes their
 * limit are not used. Null if no index is left, or if all that are left are normal but the value of
 * an unused index is abnormal.
 */
function systolicFunction(judged: readonly Judged[]) {
  const decided = judged.filter(({ beyond }) => beyond !== null);
  const abnormal = decided.filter(({ beyond }) => beyond);
  const conclusion: RvConclusion | null = rvConclusion(decided.length, abnormal.length);
  const doubtful = abnormal.length === 0 && judged.some(({ valueBeyond }) => valueBeyond);
  if (conclusion === null || doubtful) return null;
  const indices = decided.map(({ measurement }) => measurement);
  const reduced = abnormal.map(({ measurement }) => measurement);
  const keys = (of: readonly Measurement[]) => of.map(({ concept }) => concept.key as EchoConcept);
  const statement = sayOfRvFunction.conclusion(
    'rv-function.systolic',
    { conclusion, judged: keys(indices), abnormal: keys(reduced) },
    reduced,
  );
  return { conclusion, statement, indices };
}

const SIZES = {
  'rv-basal': RV_SIZE.basal,
  'rv-mid': RV_SIZE.mid,
  'rv-wall': RV_SIZE.wall,
  'rv-to-lv': RV_SIZE.ratio,
} as const satisfies Partial<Record<EchoConcept, unknown>>;

/** Quantities with a normal range of ASE15. The limit of RV over LV is a sign of PH22, not a range. */
const RANGES: Readonly<Partial<Record<EchoConcept, Limit>>> = {
  ...INDICES,
  'rv-basal': RV_SIZE.basal,
  'rv-mid': RV_SIZE.mid,
  'rv-wall': RV_SIZE.wall,
};

/** Returns the limit of a quantity; null if it has none, or if RIMP was measured in an unknown way. */
function limitOf(key: EchoConcept, method: PerformanceMethod | null): Limit | null {
  if (key !== 'rimp') return RANGES[key] ?? null;
  return method && (method === 'pulsed' ? RV_FUNCTION.rimpPulsed : RV_FUNCTION.rimpTissue);
}

function sizesOf(values: Values, child: boolean) {
  const judged = child
    ? []
    : Object.entries(SIZES).flatMap(([key, limit]): Judged[] => {
        const measurement = values.measurement(key as keyof typeof SIZES);
        return measurement ? [judgedBy(limit, measurement)] : [];
      });
  const beyond = (...keys: (keyof typeof SIZES)[]) =>
    judged.flatMap((one) =>
      one.beyond && keys.some((key) => key === one.measurement.concept.key) ? one.measurement : [],
    );
  return {
    wide: beyond('rv-basal', 'rv-mid'),
    thick: beyond('rv-wall')[0] ?? null,
    large: beyond('rv-to-lv')[0] ?? null,
    judged,
  };
}

function judgedIndices(
  values: Values,
  change: Measurement | null,
  performance: readonly Judged[],
  child: boolean,
): Judged[] {
  const measured = Object.entries(INDICES).flatMap(([key, limit]) => {
    const one = key === 'rv-fac' ? change : values.measurement(key as keyof typeof INDICES);
    return one?.quality === 'accepted' ? [judgedBy(limit, one)] : [];
  });
  return child ? [] : [...measured, ...performance];
}

function concluded(judged: readonly Judged[], sizes: ReturnType<typeof sizesOf>) {
  const { wide, thick, large } = sizes;
  const found = systolicFunction(judged);
  const undecided = [...judged, ...sizes.judged].flatMap(({ measurement, beyond }) =>
    beyond === null ? measurement : [],
  );
  const indices = found?.indices ?? [];
  const dilated =
    wide.length > 0 ? sayOfRvFunction.conclusion('rv-function.dilated', {}, wide) : null;
  const larger = large && sayOfRvFunction.conclusion('rv-function.larger-than-lv', {}, [large]);
  const thickened = thick && sayOfRvFunction.conclusion('rv-function.wall-thickened', {}, [thick]);
  const alone = found?.conclusion === 'single-index-reduced';
  // Possible pulmonary embolism is a critical finding (echo 16). One abnormal index is enough if no
  // other index is available.
  const strained = (dilated || larger) && (found?.conclusion === 'reduced' || alone);
  const strain = sayOfRvFunction.conclusion('rv-function.strain', { alone });
  return {
    found,
    conclusions: [
      found?.statement ?? null,
      dilated,
      larger,
      thickened,
      undecided.length > 0 ? sayOfEcho.conclusion('echo.either-side', {}, undecided) : null,
    ],
    findings: [
      strained ? finding('rv-strain', strain, 'critical', [...wide, large, ...indices]) : null,
      !strained && found?.conclusion === 'reduced'
        ? finding('rv-dysfunction', found.statement, 'abnormal', indices)
        : null,
      !strained && dilated ? finding('rv-dilated', dilated, 'abnormal', wide) : null,
      !strained && larger ? finding('rv-larger-than-lv', larger, 'abnormal') : null,
      thickened && finding('rv-wall-thickened', thickened, 'abnormal'),
    ],
  };
}

/**
 * Returns an index as a criterion. If its interval includes its limit, the criterion is listed as
 * at the cut-off and not as unavailable, because the index was measured.
 */
const criterionOf = ({ measurement, beyond }: Judged) => ({
  name: `${measurement.label} abnormal`,
  value: null,
  outcome: beyond === null ? ('at_cut_off' as const) : outcomeOf(beyond),
});

function run(evidence: RvFunctionEvidence, values: Values) {
  const change = values.calculated('rv-fac', {
    section: ID,
    method: 'fraction-of-areas',
    from: ['rv-ed-area', 'rv-es-area'],
    value: fractionalChange,
  });
  const child = isChild(evidence);
  const rimp = values.measurement('rimp');
  const performance = judgedPerformance(evidence, rimp);
  const judged = judgedIndices(values, change, performance, child);
  const { found, conclusions, findings } = concluded(judged, sizesOf(values, child));
  const limits = { pulsed: RV_FUNCTION.rimpPulsed.above, tissue: RV_FUNCTION.rimpTissue.above };
  return conclude(rvFunction, {
    measurements: MEASURED.map((key) => {
      const measurement = key === 'rv-fac' ? change : values.measurement(key);
      const limit = child ? null : limitOf(key, evidence.performanceMethod);
      return measurement && limit ? withLimit(limit, measurement) : measurement;
    }),
    conclusions,
    gaps: [
      child ? PATIENT_GAPS.child : null,
      ...(judged.length === 0 && !child
        ? [
            sayOfRvFunction.gap('rv-function.no-index', { other: rimp !== null }),
            outlineGap(evidence, ['A4C']),
          ]
        : []),
      rimp && performance.length === 0 && !child
        ? sayOfRvFunction.gap('rv-function.rimp-not-counted', limits, [rimp])
        : null,
      values.measurement('rv-basal') || values.measurement('rv-mid')
        ? null
        : sayOfRvFunction.gap('rv-function.no-size', {}),
      values.measurement('rv-to-lv') ? null : sayOfRvFunction.gap('rv-function.no-ratio', {}),
    ],
    findings,
    classifications: [
      found && {
        ...classification(
          'rv-systolic-function',
          'RV systolic function',
          categoryOfRvFunction('rv-function', found.conclusion),
          'ASE/EACVI 2015 cut-offs, combined',
        ),
        criteria: judged.map(criterionOf),
      },
    ],
  });
}

/** Reports the function and size of the right ventricle (echo 7). */
export const rvFunction: EchoSection<RvFunctionEvidence> = {
  id: ID,
  title: 'Right ventricular function',
  needs: NEEDS,
  judgesIntervals: true,
  measures: MEASURED,
  run,
};
