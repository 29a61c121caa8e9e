import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { Remark } from '../../result/statement.ts';
import { inadequate } from './plausibility.ts';
import { isOfMachine } from './section.ts';
import { valuesOf } from './values.ts';

/** Least and greatest stroke volume, ml, of a plausible contour (echo 4.6). */
const STROKE = [10, 200] as const;

interface Pair {
  /** Two values of the same ventricle. */
  of: readonly [EchoConcept, EchoConcept];
  /** Why the two values cannot both be right; null where they can. */
  fault(one: number, other: number): Remark | null;
  /** The values that are withheld if the two contradict each other. */
  withheld: readonly EchoConcept[];
}

function strokeFault(filled: number, emptied: number): Remark | null {
  const stroke = filled - emptied;
  if (stroke >= STROKE[0] && stroke <= STROKE[1]) return null;
  const [low, high] = STROKE;
  return remarkOfEcho('echo.stroke-implausible', { stroke, low, high });
}

const volumes = (
  filled: EchoConcept,
  emptied: EchoConcept,
  others: readonly EchoConcept[],
): Pair => ({
  of: [filled, emptied],
  fault: strokeFault,
  withheld: [filled, emptied, ...others],
});

const areas = (filled: EchoConcept, emptied: EchoConcept): Pair => ({
  of: [filled, emptied],
  fault: (one, other) =>
    other < one ? null : remarkOfEcho('echo.contradiction', { pair: 'area-not-smaller' }),
  withheld: [filled, emptied],
});

const PAIRS: readonly Pair[] = [
  volumes('lvedv-biplane', 'lvesv-biplane', ['lvef-biplane', 'lvedv-index', 'lvesv-index']),
  // Half of the joint LVEF of both networks comes from the discs of A4C.
  volumes('lvedv-4c', 'lvesv-4c', ['lvef-4c', 'lvef-networks']),
  volumes('lvedv-2c', 'lvesv-2c', ['lvef-2c']),
  {
    of: ['lvidd', 'lvids'],
    fault: (diastole, systole) =>
      systole < diastole
        ? null
        : remarkOfEcho('echo.contradiction', { pair: 'diameter-not-smaller' }),
    withheld: ['lvids', 'fractional-shortening'],
  },
  areas('lv-ed-area-4c', 'lv-es-area-4c'),
  areas('lv-ed-area-2c', 'lv-es-area-2c'),
  areas('lv-ed-area-3c', 'lv-es-area-3c'),
];

/**
 * For each concept, why its value is withheld. `measured` holds the values of one source, machine
 * or images.
 */
function faultsOf(measured: readonly Measurement[]): ReadonlyMap<string, Remark> {
  const values = valuesOf(measured);
  return new Map(
    PAIRS.flatMap(({ of: [first, second], fault, withheld }) => {
      const [one, other] = [values.number(first), values.number(second)];
      const reason = one === null || other === null ? null : fault(one, other);
      return reason ? withheld.map((key) => [key, reason] as const) : [];
    }),
  );
}

/**
 * The measurements; values that no heart can have together are marked as inadequate (echo 3, 4.6,
 * 5.5).
 */
export function withConsistency(measured: readonly Measurement[]): Measurement[] {
  const ofMachine = faultsOf(measured.filter(isOfMachine));
  const ofImages = faultsOf(measured.filter((one) => !isOfMachine(one)));
  return measured.map((one) => {
    const reason = (isOfMachine(one) ? ofMachine : ofImages).get(one.concept.key);
    if (!reason || one.quality !== 'accepted') return one;
    return inadequate(one, reason);
  });
}
