import type { Observation } from '@medplum/fhirtypes';
import type { Section } from '../pipelines/result/envelope.ts';
import { standingValues } from '../pipelines/result/standing-values.ts';
import { SECTION_CODES } from './codes.ts';
import { measurementObservation, measurementRole } from './measurement-observation.ts';
import {
  type ObservationEntry,
  observationBase,
  observationReference,
} from './observation-base.ts';
import type { ReportContext } from './report-context.ts';
import {
  classificationObservation,
  findingObservation,
  scoreObservation,
} from './statement-observation.ts';

/** Every statement of the result as an Observation, each section's group before its members. */
export function buildObservations(context: ReportContext): ObservationEntry[] {
  const { result } = context;
  // Repeats stay in the structured report: under the same code an EHR would chart them as values.
  const measurements = standingValues(result.measurements);
  const roles = new Map(measurements.map((m) => [m.id, measurementRole(m)]));
  const members: ObservationEntry[] = [
    ...measurements.map((m) => measurementObservation(context, m, roles)),
    ...result.scores.map((score) => scoreObservation(context, score)),
    ...result.classifications.map((classification) =>
      classificationObservation(context, classification),
    ),
    ...result.findings.map((finding) => findingObservation(context, finding, roles)),
  ];
  const groups = result.sections.flatMap((section) => {
    const inSection = members.filter((member) => member.section === section.id);
    return inSection.length > 0 ? [group(context, section, inSection)] : [];
  });
  return [...groups, ...members];
}

function group(
  context: ReportContext,
  section: Section,
  members: readonly ObservationEntry[],
): ObservationEntry {
  const role = `section/${section.id}`;
  const coding = SECTION_CODES[section.id];
  const resource: Observation = {
    ...observationBase(context, role, {
      coding: coding ? [coding] : undefined,
      text: section.title,
    }),
    hasMember: members.map((member) => observationReference(context.requestId, member.role)),
  };
  return { role, section: section.id, resource };
}
