import { CONCEPTS, type ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { isOfMachine } from '../result/of-machine.ts';
import { type EndDiastolicFlow, RI_WITHOUT_FLOW } from './doppler-categories.ts';
import { graverFlow } from './doppler-flow.ts';
import { format } from './measurement.ts';
import { isPlausible } from './plausibility.ts';

/** What the machine's values say of the end-diastolic flow of an umbilical artery. */
export interface MachineFlow {
  flow: EndDiastolicFlow;
  /** `RI 1.10` */
  shown: string;
  evidence: string[];
}

const isAcceptedOfMachine = (one: Measurement) => isOfMachine(one) && one.quality === 'accepted';

const bySign = (velocity: number): EndDiastolicFlow =>
  velocity > 0 ? 'forward' : velocity < 0 ? 'reversed' : 'absent';

function byIndex(ri: number): EndDiastolicFlow {
  if (ri > RI_WITHOUT_FLOW) return 'reversed';
  return ri === RI_WITHOUT_FLOW ? 'absent' : 'forward';
}

/**
 * The flow by the values of one side. Of an artery that is drawn below the baseline both velocities
 * are negative: without the peak, an RI below 1 tells that they have one sign.
 */
function flowOfSide(values: readonly Measurement[]): MachineFlow[] {
  const of = (key: ConceptKey) => values.find(({ concept }) => concept.key === key) ?? null;
  const ri = of('umbilical-artery-ri');
  const edv = of('umbilical-artery-edv');
  const psv = of('umbilical-artery-psv');
  const sd = of('umbilical-artery-sd');
  const said = (one: Measurement, flow: EndDiastolicFlow, text: string): MachineFlow => ({
    flow,
    shown: text,
    evidence: [one.id],
  });
  const oneSign = ri !== null && ri.value < RI_WITHOUT_FLOW && psv === null;
  const downwards = psv !== null && psv.value < 0;
  return [
    ...(ri ? [said(ri, byIndex(ri.value), `RI ${format('umbilical-artery-ri', ri.value)}`)] : []),
    ...(edv
      ? [
          said(
            edv,
            bySign(oneSign ? Math.abs(edv.value) : downwards ? -edv.value : edv.value),
            `EDV ${format('umbilical-artery-edv', edv.value)}`,
          ),
        ]
      : []),
    ...(sd && sd.value >= 1
      ? [said(sd, 'forward', `S/D ${format('umbilical-artery-sd', sd.value)}`)]
      : []),
  ];
}

/** The gravest that the machine's values say of the umbilical artery; null where they say nothing. */
export function machineFlow(measurements: readonly Measurement[]): MachineFlow | null {
  const sides = Map.groupBy(
    measurements.filter(isAcceptedOfMachine),
    ({ laterality }) => laterality,
  );
  const said = [...sides.values()].flatMap(flowOfSide);
  return said.reduce<MachineFlow | null>(
    (worst, one) => (worst && graverFlow(worst.flow, one.flow) === worst.flow ? worst : one),
    null,
  );
}

/** The machine's values that tell of lost end-diastolic flow; none where they do not. */
export function lostFlowValues(cart: readonly Measurement[]): Measurement[] {
  const found = machineFlow(cart);
  if (found?.flow !== 'absent' && found?.flow !== 'reversed') return [];
  return cart.filter(({ id }) => found.evidence.includes(id));
}

/** Which of two values of a pair is the worse one; uterine arteries count each for itself. */
const WORSE: Partial<Record<string, 'lower' | 'higher'>> = {
  'umbilical-artery-pi': 'higher',
  'umbilical-artery-ri': 'higher',
  'umbilical-artery-sd': 'higher',
  'umbilical-artery-edv': 'lower',
  'middle-cerebral-artery-pi': 'lower',
  'middle-cerebral-artery-psv': 'higher',
} satisfies Partial<Record<ConceptKey, 'lower' | 'higher'>>;

/** The machine's values with the worse of each pair first, for it is the one that stands. */
export function worseFirst(cart: readonly Measurement[]): Measurement[] {
  return [...Map.groupBy(cart, ({ concept }) => concept.key)].flatMap(([key, values]) => {
    const worse = WORSE[key];
    if (!worse) return values;
    const plausible = (one: Measurement) =>
      isPlausible(one.concept.key as ConceptKey, one.value) ? 0 : 1;
    return values.toSorted(
      (a, b) =>
        plausible(a) - plausible(b) || (worse === 'lower' ? a.value - b.value : b.value - a.value),
    );
  });
}

/** That the machine gave a vessel on both sides, and which of the two was judged. */
export function pairSentences(measurements: readonly Measurement[]): string[] {
  const judged = measurements.filter(
    (one) => isAcceptedOfMachine(one) && one.id === one.concept.key && one.laterality !== null,
  );
  return judged.flatMap((one) => {
    const key = one.concept.key as ConceptKey;
    const worse = WORSE[key];
    const other = measurements.find(
      (pair) =>
        isAcceptedOfMachine(pair) &&
        pair.concept.key === key &&
        pair.laterality !== null &&
        pair.laterality !== one.laterality,
    );
    if (!worse || !other || other.value === one.value) return [];
    const said = ({ laterality, value }: Measurement) => `${laterality} ${format(key, value)}`;
    const name = CONCEPTS[key].abbreviation;
    return [
      `The ultrasound machine gives the ${name} of both sides, ${said(one)} and ${said(other)}: the ${worse} was judged.`,
    ];
  });
}
