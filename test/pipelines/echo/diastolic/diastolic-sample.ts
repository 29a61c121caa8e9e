import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import type { EchoEvidence } from '../../../../pipelines/echo/evidence.ts';
import { interpreted } from '../interpret-sample.ts';

export type Given = Readonly<Partial<Record<EchoConcept, number>>>;

/** Returns the section's conclusions for these values. */
export function graded(
  given: Given,
  patient: Parameters<typeof interpreted>[2] = {},
  evidence: Partial<EchoEvidence> = {},
  provenance: 'cart-sr' | 'model' = 'cart-sr',
) {
  const study = interpreted(given, provenance, patient, evidence);
  return {
    ...study,
    by: (id: string) => study.category(id)?.value,
    said: study.summary('diastolic'),
    status: study.section('diastolic')?.status,
    /** Returns the criteria that were met for a classification. */
    met: (id: string) =>
      study
        .category(id)
        ?.criteria.filter(({ met }) => met)
        .map(({ name }) => name),
    elevated: study.finding('lap-elevated')?.text ?? null,
    ungraded: () => study.result.classifications.every(({ id }) => !id.startsWith('diastolic')),
  };
}

/** A healthy heart: every criterion is available and negative. */
export const HEALTHY = {
  'mitral-e': 80,
  'mitral-a': 60,
  'e-prime-septal': 9,
  'e-prime-lateral': 12,
  'tr-vmax': 2.2,
  'la-volume-index': 25,
  'lvef-biplane': 60,
} as const satisfies Given;
