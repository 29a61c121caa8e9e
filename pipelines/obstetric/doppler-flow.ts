import {
  type AWave,
  aWave,
  type EndDiastolicFlow,
  endDiastolicFlow,
} from './doppler-categories.ts';
import { isFiltered, type TracedReading, traceProblem } from './doppler-measurements.ts';

/** How a report says an end-diastolic flow. */
export const FLOW_TEXT: Readonly<Record<EndDiastolicFlow, string>> = {
  forward: 'forward',
  'intermittent-absent': 'absent in some beats',
  absent: 'absent',
  reversed: 'reversed',
  'not-assessable': 'not assessable',
};

/** What the loops of one vessel show: each is judged by itself, and the gravest clear one leads. */
export interface FlowOfLoops<Flow> {
  /** Null: no loop allows a category. */
  lead: Flow | null;
  /** What other clear loops show. */
  others: Flow[];
  /** The loops with the leading flow. */
  shownOn: TracedReading[];
  /** Lost flow, graver than what leads, on a trace that allows no category. */
  suspected: { flow: Flow; problem: string; shownOn: TracedReading } | null;
}

const UMBILICAL_GRAVEST_FIRST = ['reversed', 'absent', 'intermittent-absent', 'forward'] as const;
const DUCTUS_GRAVEST_FIRST = ['reversed', 'absent', 'positive'] as const;
const LOST: ReadonlySet<string> = new Set(['reversed', 'absent']);

function overLoops<Flow extends string>(
  loops: readonly TracedReading[],
  gravestFirst: readonly Flow[],
  flowOf: (loop: TracedReading) => Flow | 'not-assessable' | null,
): FlowOfLoops<Flow | 'not-assessable'> {
  const seen = loops.flatMap((loop) => {
    const flow = flowOf(loop);
    return flow ? [{ loop, flow, problem: traceProblem(loop.waveform) }] : [];
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
    shownOn: good.filter(({ flow }) => flow === lead).map(({ loop }) => loop),
    suspected:
      poor && poor.problem !== null
        ? { flow: poor.flow, problem: poor.problem, shownOn: poor.loop }
        : null,
  };
}

/** Of one loop: flow below a wall filter that is set high cannot be called absent. */
function flowOfLoop(loop: TracedReading): EndDiastolicFlow | null {
  const flow = endDiastolicFlow(loop.waveform.beats);
  const lost = flow === 'absent' || flow === 'intermittent-absent';
  return lost && isFiltered(loop) ? 'not-assessable' : flow;
}

function aWaveOfLoop(loop: TracedReading): AWave | null {
  const { beats, hiddenBelow } = loop.waveform;
  const wave = aWave(beats, hiddenBelow);
  return wave === 'absent' && isFiltered(loop) ? 'not-assessable' : wave;
}

/** End-diastolic flow of the loops of an umbilical artery; what a clear loop shows, no other hides. */
export const umbilicalFlow = (loops: readonly TracedReading[]): FlowOfLoops<EndDiastolicFlow> =>
  overLoops<EndDiastolicFlow>(loops, UMBILICAL_GRAVEST_FIRST, flowOfLoop);

/** The a-wave over the loops of a ductus venosus. */
export const ductusWave = (loops: readonly TracedReading[]): FlowOfLoops<AWave> =>
  overLoops<AWave>(loops, DUCTUS_GRAVEST_FIRST, aWaveOfLoop);

/** The graver of two flows of an umbilical artery; what could not be assessed hides no lost flow. */
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
