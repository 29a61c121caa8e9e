import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine, isRejected, isReplaced } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { type StatedValue, say, type TraceProblem } from '../../result/render/obstetric/doppler.ts';
import type { Statement } from '../../result/statement.ts';
import { isChosen } from '../shared/measurement.ts';
import {
  type AWave,
  aWave,
  type EndDiastolicFlow,
  endDiastolicFlow,
  RI_WITHOUT_FLOW,
} from './guideline.ts';
import { isFiltered, type TracedReading, traceProblem } from './measure.ts';

/**
 * Flow of one vessel over all its traces. Each trace, from one spectral display, is classified
 * separately. The leading flow is the most severe one on a good trace.
 */
export interface FlowOfTraces<Flow> {
  /** The leading flow; null if no trace has a category. */
  lead: Flow | null;
  /** Less severe flows on the other good traces. */
  others: Flow[];
  /** Traces that show the leading flow. */
  shownOn: TracedReading[];
  /**
   * Absent or reversed flow that is more severe than the leading flow but was seen only on a trace
   * too poor for a category; otherwise null.
   */
  suspected: { flow: Flow; problem: TraceProblem; shownOn: TracedReading } | null;
}

const UMBILICAL_GRAVEST_FIRST = ['reversed', 'absent', 'intermittent-absent', 'forward'] as const;
const DUCTUS_GRAVEST_FIRST = ['reversed', 'absent', 'positive'] as const;
const LOST: ReadonlySet<string> = new Set(['reversed', 'absent']);

function overTraces<Flow extends string>(
  traces: readonly TracedReading[],
  gravestFirst: readonly Flow[],
  flowOf: (trace: TracedReading) => Flow | 'not-assessable' | null,
): FlowOfTraces<Flow | 'not-assessable'> {
  const seen = traces.flatMap((trace) => {
    const flow = flowOf(trace);
    return flow ? [{ trace, flow, problem: traceProblem(trace.waveform) }] : [];
  });
  const good = seen.filter(({ problem }) => problem === null);
  const [first, ...others] = gravestFirst.filter((one) => good.some(({ flow }) => flow === one));
  const lead = first ?? (good.length > 0 ? 'not-assessable' : null);
  const graver =
    first === undefined ? gravestFirst : gravestFirst.slice(0, gravestFirst.indexOf(first));
  const poor = graver
    .filter((one) => LOST.has(one))
    .flatMap((one) => seen.find(({ flow, problem }) => flow === one && problem !== null) ?? [])[0];
  return {
    lead,
    others,
    shownOn: good.filter(({ flow }) => flow === lead).map(({ trace }) => trace),
    suspected:
      poor && poor.problem !== null
        ? { flow: poor.flow, problem: poor.problem, shownOn: poor.trace }
        : null,
  };
}

function flowOfTrace(trace: TracedReading): EndDiastolicFlow | null {
  const flow = endDiastolicFlow(trace.waveform.beats);
  const lost = flow === 'absent' || flow === 'intermittent-absent';
  return lost && isFiltered(trace) ? 'not-assessable' : flow;
}

function aWaveOfTrace(trace: TracedReading): AWave | null {
  const { beats, hiddenBelow } = trace.waveform;
  const wave = aWave(beats, hiddenBelow);
  return wave === 'absent' && isFiltered(trace) ? 'not-assessable' : wave;
}

/**
 * Returns the end-diastolic flow over all traces of an umbilical artery. Absent or reversed flow on
 * one good trace takes precedence over forward flow on other traces.
 */
export const umbilicalFlow = (traces: readonly TracedReading[]): FlowOfTraces<EndDiastolicFlow> =>
  overTraces<EndDiastolicFlow>(traces, UMBILICAL_GRAVEST_FIRST, flowOfTrace);

/** Returns the a-wave of a ductus venosus over all its traces, like `umbilicalFlow`. */
export const ductusWave = (traces: readonly TracedReading[]): FlowOfTraces<AWave> =>
  overTraces<AWave>(traces, DUCTUS_GRAVEST_FIRST, aWaveOfTrace);

/**
 * Returns the more severe of two flows in an umbilical artery. Absent, intermittently absent or
 * reversed flow is more severe than flow that could not be assessed.
 */
export function graverFlow(
  one: EndDiastolicFlow | null,
  other: EndDiastolicFlow | null,
): EndDiastolicFlow | null {
  const order: readonly EndDiastolicFlow[] = [
    'reversed',
    'absent',
    'intermittent-absent',
    'not-assessable',
    'forward',
  ];
  return order.find((flow) => flow === one || flow === other) ?? null;
}

/**
 * End-diastolic flow in an umbilical artery according to values that were not read from a trace:
 * the machine's, and those that a person entered or edited in a review.
 */
export interface StatedFlow {
  flow: EndDiastolicFlow;
  /** The value from which the flow was derived. */
  shown: StatedValue;
  evidence: string[];
}

/** Values that a person may correct to state the end-diastolic flow. */
const OF_END_DIASTOLE: ReadonlySet<string> = new Set([
  'umbilical-artery-edv',
  'umbilical-artery-ri',
  'umbilical-artery-sd',
] satisfies ObstetricConcept[]);

/**
 * Returns the traces without those on which a person corrected or rejected a value of the
 * end-diastolic flow. What the person stated then counts, not the flow that the analysis saw. A
 * trace whose value was only replaced by that of another trace may still show lost flow.
 */
export function withoutCorrected(
  traces: readonly TracedReading[],
  measurements: readonly Measurement[],
): TracedReading[] {
  const corrected = measurements.filter(
    (one) =>
      OF_END_DIASTOLE.has(one.concept.key) &&
      (one.origin === 'person' || (isRejected(one) && !isReplaced(one))),
  );
  return traces.filter(
    ({ file, frame }) =>
      !corrected.some(({ source }) => source.file === file && source.frame === frame + 1),
  );
}

const isAcceptedOfMachine = (one: Measurement) => isOfMachine(one) && one.quality === 'accepted';

const isStated = (one: Measurement) =>
  isAcceptedOfMachine(one) || (one.origin === 'person' && one.quality === 'accepted');

const bySign = (velocity: number): EndDiastolicFlow =>
  velocity > 0 ? 'forward' : velocity < 0 ? 'reversed' : 'absent';

function byIndex(ri: number): EndDiastolicFlow {
  if (ri > RI_WITHOUT_FLOW) return 'reversed';
  return ri === RI_WITHOUT_FLOW ? 'absent' : 'forward';
}

/**
 * Returns the end-diastolic flow implied by the RI, EDV and S/D of one side. An EDV with the sign
 * of the PSV is forward flow; both are negative if the artery is displayed below the baseline. If
 * there is no PSV, an RI below 1 shows that PSV and EDV have the same sign.
 */
function flowOfSide(values: readonly Measurement[]): StatedFlow[] {
  const of = (key: ObstetricConcept) => values.find(({ concept }) => concept.key === key) ?? null;
  const ri = of('umbilical-artery-ri');
  const edv = of('umbilical-artery-edv');
  const psv = of('umbilical-artery-psv');
  const sd = of('umbilical-artery-sd');
  const shows = (
    one: Measurement,
    flow: EndDiastolicFlow,
    index: StatedFlow['shown']['index'],
  ): StatedFlow => ({
    flow,
    shown: {
      by: isOfMachine(one) ? 'machine' : 'person',
      index,
      key: one.concept.key,
      value: one.value,
    },
    evidence: [one.id],
  });
  const oneSign = ri !== null && ri.value < RI_WITHOUT_FLOW && psv === null;
  const downwards = psv !== null && psv.value < 0;
  return [
    ...(ri ? [shows(ri, byIndex(ri.value), 'RI')] : []),
    ...(edv
      ? [
          shows(
            edv,
            bySign(oneSign ? Math.abs(edv.value) : downwards ? -edv.value : edv.value),
            'EDV',
          ),
        ]
      : []),
    ...(sd && sd.value >= 1 ? [shows(sd, 'forward', 'S/D')] : []),
  ];
}

/**
 * Returns the most severe flow in the umbilical artery according to the values of the machine or of
 * a person; null if the flow cannot be derived from any of them.
 */
export function statedFlow(measurements: readonly Measurement[]): StatedFlow | null {
  const sides = Map.groupBy(measurements.filter(isStated), ({ laterality }) => laterality);
  const shown = [...sides.values()].flatMap(flowOfSide);
  return shown.reduce<StatedFlow | null>(
    (worst, one) => (worst && graverFlow(worst.flow, one.flow) === worst.flow ? worst : one),
    null,
  );
}

/**
 * Returns the machine value that shows the most severe end-diastolic flow, if that is absent or
 * reversed; otherwise empty.
 */
export function lostFlowValues(cart: readonly Measurement[]): Measurement[] {
  const found = statedFlow(cart);
  if (found?.flow !== 'absent' && found?.flow !== 'reversed') return [];
  return cart.filter(({ id }) => found.evidence.includes(id));
}

/**
 * The more abnormal value of a pair of sides: the lower or the higher one. Uterine arteries are not
 * listed, because both of their sides are used.
 */
const WORSE: Partial<Record<string, 'lower' | 'higher'>> = {
  'umbilical-artery-pi': 'higher',
  'umbilical-artery-ri': 'higher',
  'umbilical-artery-sd': 'higher',
  'umbilical-artery-edv': 'lower',
  'middle-cerebral-artery-pi': 'lower',
  'middle-cerebral-artery-psv': 'higher',
} satisfies Partial<Record<ObstetricConcept, 'lower' | 'higher'>>;

/**
 * Sorts the machine values so that, of each pair of sides, the more abnormal plausible value comes
 * first, because only the first value is used.
 */
export function worseFirst(cart: readonly Measurement[]): Measurement[] {
  return [...Map.groupBy(cart, ({ concept }) => concept.key)].flatMap(([key, values]) => {
    const worse = WORSE[key];
    if (!worse) return values;
    const plausible = (one: Measurement) =>
      isPlausible(one.concept.key as ObstetricConcept, one.value) ? 0 : 1;
    return values.toSorted(
      (a, b) =>
        plausible(a) - plausible(b) || (worse === 'lower' ? a.value - b.value : b.value - a.value),
    );
  });
}

/** Reports that the machine measured a vessel on both sides, and which side was used. */
export function pairStatements(measurements: readonly Measurement[]): Statement[] {
  const judged = measurements.filter(
    (one) => isAcceptedOfMachine(one) && isChosen(one) && one.laterality !== null,
  );
  return judged.flatMap((one) => {
    const key = one.concept.key as ObstetricConcept;
    const worse = WORSE[key];
    const other = measurements.find(
      (pair) =>
        isAcceptedOfMachine(pair) &&
        pair.concept.key === key &&
        pair.laterality !== null &&
        pair.laterality !== one.laterality,
    );
    if (!worse || !other || other.value === one.value) return [];
    return [say.limitation('doppler.both-sides', { worse }, [one, other])];
  });
}
