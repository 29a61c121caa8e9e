import { fixedOffCutOffs } from '../measure/rounding.ts';
import { cartMeasurements } from '../result/cart-measurements.ts';
import { findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement } from '../result/envelope.ts';
import { isOfMachine } from '../result/of-machine.ts';
import { WEIGHTS_DIFFER } from './derived-biometry.ts';
import { ofSeveralFetuses, withMachineValues } from './machine-values.ts';
import { format, standing } from './measurement.ts';
import type { ObstetricEvidence } from './section.ts';

/** A difference beyond that of two formulas of the same lengths asks to check (reference 0.6). */
function comparison(own: Measurement, machine: Measurement): Finding {
  const percent = (100 * Math.abs(machine.value - own.value)) / own.value;
  const limit = 100 * WEIGHTS_DIFFER;
  const far = percent > limit;
  const side = machine.value < own.value ? 'below' : 'above';
  const advice = far ? '; check the measurements and the formula of the machine' : '';
  return {
    id: 'cart-efw',
    section: 'biometry',
    concept: findingConcept('repeatability'),
    text: `EFW of the ultrasound machine ${format('efw', machine.value)}: ${fixedOffCutOffs(percent, 1, [limit])} % ${side} the ${format('efw', own.value)} calculated here${advice}.`,
    severity: far ? 'abnormal' : 'info',
    confidence: null,
    evidence: [own.id, machine.id],
  };
}

/**
 * The calculated values with the weight that the machine's reports give: beside ours, or in place of
 * it where there is none. Of several fetuses none is used: the images do not say whose they are.
 */
export function withCartWeight(
  { study }: Pick<ObstetricEvidence, 'study'>,
  derived: readonly Measurement[],
): { derived: Measurement[]; findings: Finding[] } {
  const given = cartMeasurements(study.cart ?? [], 'biometry', ['efw']);
  if (given.length === 0 || ofSeveralFetuses(given)) return { derived: [...derived], findings: [] };
  const isWeight = ({ concept }: Measurement) => concept.key === 'efw';
  const weights = withMachineValues(given, derived.filter(isWeight));
  const own = standing(derived, 'efw');
  const machine = weights.find((one) => isOfMachine(one) && one.quality === 'accepted');
  return {
    derived: [...derived.filter((one) => !isWeight(one)), ...weights],
    findings: own && machine ? [comparison(own, machine)] : [],
  };
}
