import type { EchoConcept } from '../../../pipelines/concepts/echo.ts';
import type { EchoEvidence } from '../../../pipelines/echo/evidence.ts';
import { SECTIONS } from '../../../pipelines/echo/sections.ts';
import { withPlausibility } from '../../../pipelines/echo/shared/plausibility.ts';
import type { EchoPatient } from '../../../pipelines/echo/shared/section.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { NO_FRAME } from '../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../pipelines/result/measurement.ts';
import { interpreted } from './interpret-sample.ts';

type Given = Readonly<Partial<Record<EchoConcept, number>>>;

function valuesBy(given: Given, provenance: 'cart-sr' | 'model'): Measurement[] {
  return Object.entries(given).map(([name, value]) => {
    const key = name as EchoConcept;
    const cart = provenance === 'cart-sr';
    const section = SECTIONS.find(({ measures }) => measures.includes(key))?.id ?? 'lv-size';
    const measurement = createMeasurement(
      cart ? `cart-${key}` : `${key}-outlined`,
      key,
      value,
      cart ? 'cart-sr' : 'contour-strain',
      { section, source: { ...NO_FRAME, provenance } },
    );
    return withPlausibility(measurement, key);
  });
}

export interface MeasuredStudy {
  machine?: Given;
  outlines?: Given;
  patient?: Partial<EchoPatient>;
  /** What the machine states about its values, if sections use it. */
  cart?: EchoEvidence['study']['cart'];
}

/** Returns the endpoint's result for a study that has known values but no images. */
export function measuredStudy({ machine = {}, outlines = {}, patient, cart }: MeasuredStudy) {
  const measured = [...valuesBy(machine, 'cart-sr'), ...valuesBy(outlines, 'model')];
  const study = { clips: [], refused: [], files: 1, series: 1, ...(cart && { cart }) };
  const { result } = interpreted({}, 'cart-sr', patient, { measured, study });
  return {
    result,
    section: (id: string) => result.sections.find((one) => one.id === id),
    category: (id: string) => result.classifications.find((one) => one.id === id)?.value,
    /** Returns the ids and severities of a section's findings. */
    findings: (section: string) =>
      result.findings
        .filter((one) => one.section === section)
        .map(({ id, severity }) => `${id}: ${severity}`),
    value: (key: EchoConcept) => result.measurements.find((one) => one.concept.key === key),
  };
}
