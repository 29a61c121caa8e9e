import type { Observation } from '@medplum/fhirtypes';
import type { Finding, Result } from '../pipelines/result/envelope.ts';
import { fromConcept } from './codes.ts';
import {
  interpretationOf,
  nonEmpty,
  type ObservationEntry,
  observationBase,
  observationReference,
  quantity,
} from './observation-base.ts';
import type { ReportContext } from './report-context.ts';

/** A score with its parts as components. */
export function scoreObservation(
  context: ReportContext,
  score: Result['scores'][number],
): ObservationEntry {
  const role = `score/${score.id}`;
  const coding = score.concept ? [fromConcept(score.concept)] : undefined;
  const [low, high] = score.range;
  const resource: Observation = {
    ...observationBase(context, role, { coding, text: score.name }),
    valueQuantity: quantity(score.value, '1'),
    // The span a score can take is no reference range; it is said in words.
    method: { text: `Score from ${low} to ${high}` },
    component: nonEmpty(
      score.components.map(({ name, value }) => ({
        code: { text: name },
        valueQuantity: quantity(value, '1'),
      })),
    ),
    device: context.device,
    derivedFrom: context.imagingStudy ? [context.imagingStudy] : undefined,
  };
  return { role, section: score.section, resource };
}

/** A category with the criteria it was decided by. */
export function classificationObservation(
  context: ReportContext,
  classification: Result['classifications'][number],
): ObservationEntry {
  const role = `classification/${classification.id}`;
  const coding = classification.concept ? [fromConcept(classification.concept)] : undefined;
  const resource: Observation = {
    ...observationBase(context, role, { coding, text: classification.name }),
    valueCodeableConcept: { text: classification.value },
    method: { text: classification.scheme },
    component: nonEmpty(
      classification.criteria.map(({ name, value, met }) => ({
        code: { text: name },
        valueString: `${value} (${met ? 'met' : 'not met'})`,
      })),
    ),
    device: context.device,
    derivedFrom: context.imagingStudy ? [context.imagingStudy] : undefined,
  };
  return { role, section: classification.section, resource };
}

/**
 * A finding in words, with the Observations it rests on.
 * @param roles measurement id → role, to resolve `evidence`.
 */
export function findingObservation(
  context: ReportContext,
  finding: Finding,
  roles: ReadonlyMap<string, string>,
): ObservationEntry {
  const role = `finding/${finding.id}`;
  const code = finding.concept
    ? { coding: [fromConcept(finding.concept)] }
    : { text: 'Finding of the software' };
  const severity = { info: null, abnormal: 'A', critical: 'AA' } as const;
  const interpretation = severity[finding.severity];
  const evidence = finding.evidence.flatMap((id) => roles.get(id) ?? []);
  const resource: Observation = {
    ...observationBase(context, role, code),
    valueString: finding.text,
    interpretation: interpretation ? [interpretationOf(interpretation)] : undefined,
    device: context.device,
    derivedFrom: nonEmpty(evidence.map((id) => observationReference(context.requestId, id))),
  };
  return { role, section: finding.section, resource };
}
