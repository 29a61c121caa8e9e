import type { Provenance } from '@medplum/fhirtypes';
import { codeable, SYSTEMS } from './codes.ts';
import { resourceUuid } from './identifiers.ts';
import { type ObservationEntry, observationReference } from './observation-base.ts';
import type { ReportContext } from './report-context.ts';

/** Id of the Provenance: it has no searchable identifier, so its id is what makes a retry harmless. */
export function provenanceId(requestId: string): string {
  return resourceUuid(requestId, 'Provenance');
}

/** Which software made report and Observations, from which study, in whose custody. */
export function buildProvenance(
  context: ReportContext,
  observations: readonly ObservationEntry[],
): Provenance {
  return {
    resourceType: 'Provenance',
    id: provenanceId(context.requestId),
    target: [
      context.report,
      ...observations.map(({ role }) => observationReference(context.requestId, role)),
    ],
    occurredDateTime: context.effective,
    recorded: context.result.generated_at,
    activity: codeable(SYSTEMS.dataOperation, 'CREATE', 'create'),
    agent: [
      {
        type: codeable(SYSTEMS.provenanceParticipant, 'assembler', 'Assembler'),
        who: context.device,
      },
      {
        type: codeable(SYSTEMS.provenanceParticipant, 'custodian', 'Custodian'),
        who: { type: 'Organization', display: context.organization },
      },
    ],
    entity: context.imagingStudy ? [{ role: 'source', what: context.imagingStudy }] : undefined,
  };
}
