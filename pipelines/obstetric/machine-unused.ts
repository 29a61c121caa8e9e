import type { Measurement } from '../result/envelope.ts';
import { MACHINE_UNUSED, ofSeveralFetuses } from './machine-values.ts';

/** Why no value of the machine is used where there is more than one fetus; null where they are. */
export function machineUnused(
  values: readonly Measurement[],
  several: string | null,
): string | null {
  if (ofSeveralFetuses(values)) return MACHINE_UNUSED;
  return several && values.length > 0
    ? 'No value of the ultrasound machine was used: of which fetus it is, is not known.'
    : null;
}
