import type { EchoConcept } from '../../../pipelines/concepts/echo.ts';
import { performanceMethod } from '../../../pipelines/echo/cart/cart-values.ts';
import type { EchoEvidence } from '../../../pipelines/echo/evidence.ts';
import { NO_OUTLINES } from '../../../pipelines/echo/evidence.ts';
import { interpretStudy } from '../../../pipelines/echo/interpret-study.ts';
import { fluidFinding } from '../../../pipelines/echo/pericardial-effusion/measure.ts';
import { SECTIONS } from '../../../pipelines/echo/sections.ts';
import { withPlausibility } from '../../../pipelines/echo/shared/plausibility.ts';
import type { EchoPatient } from '../../../pipelines/echo/shared/section.ts';
import { NO_FRAME } from '../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../pipelines/result/measurement.ts';
import { failTest } from '../fail-test.ts';

/** The body surface is that of 175 cm and 70 kg. */
export const MAN: EchoPatient = {
  sex: 'male',
  age: 60,
  height: 175,
  weight: 70,
  surface: 1.848,
  childSized: false,
};

export const ownerOf = (key: EchoConcept) =>
  SECTIONS.find(({ measures }) => measures.includes(key))?.id ?? 'lv-size';

/**
 * Returns the result of a study of a 60-year-old man with these values and whatever else is in
 * `evidence`.
 */
export function interpreted(
  given: Readonly<Partial<Record<EchoConcept, number>>>,
  provenance: 'cart-sr' | 'model' = 'cart-sr',
  patient: Partial<EchoPatient> = {},
  evidence: Partial<EchoEvidence> = {},
  onFailure = failTest,
) {
  const of = { ...MAN, ...patient };
  const surface = of.surface === null ? {} : { 'body-surface-area': of.surface };
  const measured = Object.entries({ ...surface, ...given }).map(([name, value]) => {
    const key = name as EchoConcept;
    const source = { ...NO_FRAME, provenance } as const;
    const section = ownerOf(key);
    return withPlausibility(
      createMeasurement(`cart-${key}`, key, value, 'cart-sr', { section, source }),
      key,
    );
  });
  const whole: EchoEvidence = {
    study: {
      clips: (evidence.clips ?? []).map(({ clip }) => clip),
      refused: [],
      files: 1,
      series: 1,
    },
    patient: of,
    measured,
    spectra: [],
    clips: [],
    views: { apical: { clips: null, volumesTrusted: false }, parasternal: { clips: null } },
    heart: NO_OUTLINES,
    handheld: false,
    priors: [],
    fluid: fluidFinding(evidence.views?.parasternal ?? null),
    performanceMethod: performanceMethod(evidence.study?.cart ?? []),
    ...evidence,
  };
  const result = interpretStudy(
    whole,
    { report: true, report_language: 'en', return: ['json'] },
    new Date(0),
    [],
    'real',
    onFailure,
  );
  return {
    result,
    evidence: whole,
    section: (id: string) => result.sections.find((one) => one.id === id),
    summary: (id: string) => result.sections.find((one) => one.id === id)?.summary ?? '',
    category: (id: string) => result.classifications.find((one) => one.id === id),
    finding: (id: string) => result.findings.find((one) => one.id === id),
    value: (key: EchoConcept) => result.measurements.find((one) => one.concept.key === key),
  };
}
