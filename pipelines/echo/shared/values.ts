import type { EchoConcept, EchoMethod } from '../../concepts/echo.ts';
import { evidenceFor, halfWidth95 } from '../../concepts/method-evidence.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isConfirmed, NO_FRAME, originOf, typedNumber } from '../../result/measured.ts';
import { createMeasurement } from '../../result/measurement.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import { inadequate, withPlausibility, withRemark } from './plausibility.ts';
import { belongsToMachine, type Calculation, type Shift, type Values } from './section.ts';

type All = Values['all'];
type Named = Values['named'];

/** Concepts that a section requested, whether or not they have a value. */
type Reads = Set<string>;

/** The inputs of each quantity that a section calculates, whether or not they have a value. */
type Formulas = Map<EchoConcept, readonly EchoConcept[]>;

/** What sections request and calculate, collected across all views of the same values. */
interface Collected {
  reads?: Reads | undefined;
  formulas: Formulas;
}

function valuesBy(all: All, named: Named, shift: Shift | null, collected: Collected): Values {
  const measurement = (key: EchoConcept) => all(key)[0] ?? null;
  const moved = (one: Measurement, from: number, to: number) =>
    one.id === shift?.id && one.value === from ? { ...one, value: to } : one;
  const values: Values = {
    all,
    named,
    measurement,
    get asMeasured() {
      return shift
        ? valuesBy(
            (key) =>
              all(key)
                // Values calculated from the moved value are left out and calculated again where
                // needed. A value confirmed by a person does not depend on its inputs any more.
                .filter((one) => isConfirmed(one) || !one.inputs.includes(shift.id))
                .map((one) => moved(one, shift.to, shift.from)),
            named,
            null,
            collected,
          )
        : values;
    },
    number: (key) => measurement(key)?.value ?? null,
    calculated(key, calculation) {
      // The calculated value may itself be the one that the shift moves, so its concept counts as
      // requested.
      collected.reads?.add(key);
      collected.formulas.set(key, calculation.from);
      const one = calculated(values, key, calculation, collected.formulas);
      return one && shift ? moved(one, shift.from, shift.to) : one;
    },
    with(calculations) {
      const given = calculations.filter((one) => one !== null);
      const own = valuesOf(given);
      // `own` lacks the values that a calculation withheld. Their earlier forms must not be used
      // either.
      const replaced = new Set(given.map(({ id }) => id));
      return valuesBy(
        (key) => [...own.all(key), ...all(key).filter(({ id }) => !replaced.has(id))],
        (id) => own.named(id) ?? named(id),
        shift,
        collected,
      );
    },
    only: (isWanted) => valuesBy((key) => all(key).filter(isWanted), named, shift, collected),
    without: (keys) => valuesBy((key) => (keys.has(key) ? [] : all(key)), named, shift, collected),
  };
  return values;
}

/**
 * Groups accepted values by concept. If a concept has several values, the first one in
 * `measurements` is used.
 *
 * @param shift the value to move to one end of its interval; null to move none.
 *
 * @param reads collects the concepts that are requested.
 */
export function valuesOf(
  measurements: readonly Measurement[],
  shift: Shift | null = null,
  reads?: Reads,
): Values {
  const shifted = measurements.flatMap((one) => {
    if (one.quality !== 'accepted') return [];
    return one.id === shift?.id && one.value === shift.from ? { ...one, value: shift.to } : one;
  });
  const byKey = Map.groupBy(shifted, ({ concept }) => concept.key);
  const all: All = (key) => {
    reads?.add(key);
    return byKey.get(key) ?? [];
  };
  const byId = new Map(shifted.map((one) => [one.id, one]));
  return valuesBy(all, (id) => byId.get(id) ?? null, shift, {
    reads,
    formulas: new Map(),
  });
}

/**
 * If a machine value and our calculation differ by more than this share, the difference is
 * reported.
 */
const DISAGREEMENT = 0.05;

/**
 * Returns the measurements to use as inputs; null if one is missing. If all must come from one
 * source, the machine is preferred.
 */
function inputsOf(values: Values, { from, ofOneSource }: Calculation): Measurement[] | null {
  const complete = (inputs: readonly (Measurement | null)[]) => {
    const present = inputs.filter((input) => input !== null);
    return present.length === inputs.length ? present : null;
  };
  if (!ofOneSource) return complete(from.map((key) => values.measurement(key)));
  const ofSource = (machine: boolean) =>
    complete(
      from.map((key) => values.all(key).find((v) => belongsToMachine(v) === machine) ?? null),
    );
  return ofSource(true) ?? ofSource(false);
}

/**
 * Returns the half width of the 95 % interval of a calculated value; null if no input has an
 * interval, or if no change within these intervals changes the value. If the calculation was
 * compared with a reference and no input is a machine value, the half width comes from that
 * comparison. Otherwise it is derived from the intervals of the inputs, assuming independent errors
 * (root of the sum of squares).
 */
function intervalOf(
  key: EchoConcept,
  method: EchoMethod,
  result: number,
  inputs: readonly Measurement[],
  value: Calculation['value'],
): number | null {
  if (inputs.every(({ uncertainty }) => uncertainty === null)) return null;
  const evidence = evidenceFor(method, key);
  const measured = evidence && halfWidth95(evidence, key, result);
  if (measured !== null && inputs.every((input) => !belongsToMachine(input))) return measured;
  const effects = inputs.map(({ uncertainty }, at) => {
    const end = (side: 1 | -1) =>
      value(...inputs.map((one, i) => one.value + (i === at ? side * (uncertainty ?? 0) : 0)));
    const effect = (end(1) - end(-1)) / 2;
    return Number.isFinite(effect) ? effect : result;
  });
  // In a table, such as that of the RA pressure, no input within its interval may change the result.
  // That says nothing about the precision of the estimate, so the interval is unknown and not zero.
  return Math.hypot(...effects) || null;
}

/**
 * Returns true if a person corrected this machine value, or a machine value from which it was
 * calculated.
 */
const isCorrected = (one: Measurement, values: Values): boolean =>
  (one.origin === 'person' && belongsToMachine(one)) ||
  one.inputs.some((id) => {
    const input = values.named(id);
    return input !== null && isCorrected(input, values);
  });

/** Returns the known values behind a quantity. A missing input is replaced by its own inputs. */
const knownInputs = (
  values: Values,
  from: readonly EchoConcept[],
  formulas: Formulas,
): Measurement[] =>
  from.flatMap(
    (key) => values.measurement(key) ?? knownInputs(values, formulas.get(key) ?? [], formulas),
  );

/** Returns the value that a person typed in place of a calculated one; null if nobody typed one. */
function typed(key: EchoConcept, { section, method }: Calculation): Measurement | null {
  const value = typedNumber(key, method);
  const source = { ...NO_FRAME, provenance: 'image-analysis' } as const;
  return value === null ? null : createMeasurement(key, key, value, method, { section, source });
}

/**
 * Returns the given value of a quantity, or calculates it from others if no value is given. If a
 * person corrected an input of the machine's value, that value is calculated again, or withheld if
 * an input is missing.
 */
function calculated(
  values: Values,
  key: EchoConcept,
  calculation: Calculation,
  formulas: Formulas,
): Measurement | null {
  const { section, method, value, presumes } = calculation;
  const inputs = inputsOf(values, calculation);
  const given = values.measurement(key);
  const result = inputs && value(...inputs.map((input) => input.value));
  const known = inputs ?? knownInputs(values, calculation.from, formulas);
  const isStale =
    given !== null &&
    belongsToMachine(given) &&
    !isConfirmed(given) &&
    known.some((input) => isCorrected(input, values));
  // If the machine reports zero for a divisor, that input is wrong, so nothing is calculated from
  // it.
  if (!inputs || result === null || !Number.isFinite(result)) {
    if (!given) return typed(key, calculation);
    const own = { ...given, section };
    return isStale ? inadequate(own, remarkOfEcho('echo.input-corrected', {})) : own;
  }
  if (given && !isStale) {
    const ofImages = belongsToMachine(given) && inputs.every((input) => !belongsToMachine(input));
    const named = ofImages ? (calculation.ofOneSource ?? 'values') : 'machine';
    const apart = Math.abs(given.value - result) / Math.abs(result) > DISAGREEMENT;
    const differ = remarkOfEcho('echo.inputs-differ', { key, value: result, inputs: named });
    return { ...(apart ? withRemark(given, differ) : given), section };
  }
  const cart = inputs.every(belongsToMachine);
  const source = { ...NO_FRAME, provenance: cart ? 'cart-sr' : 'image-analysis' } as const;
  // A machine value that is calculated again from a corrected input counts as the person's.
  const corrected = cart && inputs.some((input) => isCorrected(input, values));
  const measurement = createMeasurement(key, key, result, method, {
    section,
    source,
    origin: corrected ? 'person' : originOf(source),
    inputs: inputs.map(({ id }) => id),
    uncertainty: intervalOf(key, method, result, inputs, value),
    remarks: [
      ...(presumes ? [remarkOfEcho('echo.presumes', { what: presumes })] : []),
      ...(given ? [remarkOfEcho('echo.recalculated', { key, value: given.value })] : []),
    ],
  });
  return withPlausibility(measurement, key);
}
