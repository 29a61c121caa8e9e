import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { createMeasurement, NO_FRAME } from '../../result/measurement.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import { withPlausibility, withRemark } from './plausibility.ts';
import { type Calculation, isOfMachine, type Values } from './section.ts';

type All = Values['all'];

function valuesBy(all: All): Values {
  const measurement = (key: EchoConcept) => all(key)[0] ?? null;
  const values: Values = {
    all,
    measurement,
    number: (key) => measurement(key)?.value ?? null,
    calculated: (key, calculation) => calculated(values, key, calculation),
    with(calculations) {
      const own = valuesOf(calculations.filter((one) => one !== null));
      return valuesBy((key) => [...own.all(key), ...all(key)]);
    },
    only: (isWanted) => valuesBy((key) => all(key).filter(isWanted)),
    without: (keys) => valuesBy((key) => (keys.has(key) ? [] : all(key))),
  };
  return values;
}

/**
 * Groups accepted values by concept. If a concept has several values, the first one is used; values
 * from traced images come before the machine's.
 */
export function valuesOf(measurements: readonly Measurement[]): Values {
  return valuesBy((key) =>
    measurements.filter((one) => one.concept.key === key && one.quality === 'accepted'),
  );
}

/**
 * Relative difference above which the machine's value and our calculation are reported as
 * different.
 */
const DISAGREEMENT = 0.05;

/**
 * The measurements of the inputs; null where one is missing. If all must come from one source,
 * those of the machine are preferred.
 */
function inputsOf(values: Values, { from, ofOneSource }: Calculation): Measurement[] | null {
  const complete = (inputs: readonly (Measurement | null)[]) => {
    const present = inputs.filter((input) => input !== null);
    return present.length === inputs.length ? present : null;
  };
  if (!ofOneSource) return complete(from.map((key) => values.measurement(key)));
  const ofSource = (machine: boolean) =>
    complete(from.map((key) => values.all(key).find((v) => isOfMachine(v) === machine) ?? null));
  return ofSource(true) ?? ofSource(false);
}

function calculated(
  values: Values,
  key: EchoConcept,
  { section, method, value, presumes, ...calculation }: Calculation,
): Measurement | null {
  const inputs = inputsOf(values, { section, method, value, ...calculation });
  const given = values.measurement(key);
  const result = inputs && value(...inputs.map((input) => input.value));
  // If the machine's report gives zero for a divisor, that input is wrong, and nothing is
  // calculated from it.
  if (!inputs || result === null || !Number.isFinite(result)) return given && { ...given, section };
  if (given) {
    const ofImages = isOfMachine(given) && inputs.every((input) => !isOfMachine(input));
    const named = ofImages ? (calculation.ofOneSource ?? 'values') : 'machine';
    const apart = Math.abs(given.value - result) / Math.abs(result) > DISAGREEMENT;
    const differ = remarkOfEcho('echo.inputs-differ', { key, value: result, inputs: named });
    return { ...(apart ? withRemark(given, differ) : given), section };
  }
  const cart = inputs.every(isOfMachine);
  const measurement = createMeasurement(key, key, result, method, {
    section,
    source: { ...NO_FRAME, provenance: cart ? 'cart-sr' : 'image-analysis' },
    inputs: inputs.map(({ id }) => id),
    remarks: presumes ? [remarkOfEcho('echo.presumes', { what: presumes })] : [],
  });
  return withPlausibility(measurement, key);
}
