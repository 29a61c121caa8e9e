import type { CodeableConcept, Observation, Quantity, Reference } from '@medplum/fhirtypes';
import { unitText } from '../pipelines/result/unit-text.ts';
import { AI_ASSERTED, IMAGING_CATEGORY, SYSTEMS } from './codes.ts';
import { resourceUrn, resultIdentifier } from './identifiers.ts';
import type { ReportContext } from './report-context.ts';

/** An Observation and its role in the request: the role makes its identifier and its `urn:uuid:`. */
export interface ObservationEntry {
  role: string;
  section: string;
  resource: Observation;
}

/** Reference to an Observation of the same bundle. */
export function observationReference(requestId: string, role: string): Reference<Observation> {
  return { reference: resourceUrn(requestId, role) };
}

/**
 * What every Observation of a result has: of this request, about this patient and study.
 * @param ours false for a value that was given to this software: no AI asserts it.
 */
export function observationBase(
  context: ReportContext,
  role: string,
  code: CodeableConcept,
  ours = true,
): Observation {
  return {
    resourceType: 'Observation',
    meta: ours ? { security: [AI_ASSERTED] } : undefined,
    identifier: [resultIdentifier(context.resultSystem, context.reportKey, role)],
    basedOn: context.order ? [context.order] : undefined,
    partOf: context.imagingStudy ? [context.imagingStudy] : undefined,
    status: 'preliminary',
    category: [IMAGING_CATEGORY],
    code,
    subject: context.patient,
    encounter: context.encounter,
    effectiveDateTime: context.effective,
    issued: context.result.generated_at,
    note: ours ? [{ text: 'Unverified AI draft' }] : undefined,
  };
}

/** Four significant digits: enough for a centile, a score, a probability. */
export function quantity(value: number, unit: string): Quantity {
  // An annotation says nothing that the code of the Observation does not: `{H.B.}/min` is `/min`.
  const code = unit.replaceAll(/\{[^}]*\}/g, '');
  const shown = unitText(unit) || code;
  return { value: Number(value.toPrecision(4)), unit: shown, system: SYSTEMS.ucum, code };
}

/** v3-ObservationInterpretation. */
const INTERPRETATION_DISPLAY = {
  N: 'Normal',
  L: 'Low',
  H: 'High',
  A: 'Abnormal',
  AA: 'Critical abnormal',
} as const;

/** One interpretation as the CodeableConcept of `Observation.interpretation`. */
export function interpretationOf(code: keyof typeof INTERPRETATION_DISPLAY): CodeableConcept {
  return {
    coding: [{ system: SYSTEMS.interpretation, code, display: INTERPRETATION_DISPLAY[code] }],
  };
}

/** FHIR has no empty arrays: an element without members is left out. */
export function nonEmpty<Item>(items: Item[]): Item[] | undefined {
  return items.length > 0 ? items : undefined;
}
