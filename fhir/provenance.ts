import type { DiagnosticReport, Provenance, Reference } from '@medplum/fhirtypes';
import { codeable, SYSTEMS } from './codes.ts';
import { resourceUuid, resultIdentifier } from './identifiers.ts';
import { nonEmpty, type ObservationEntry, observationReference } from './observation-base.ts';
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
  const revised = revisedReport(context);
  return {
    resourceType: 'Provenance',
    id: provenanceId(context.requestId),
    target: [
      context.report,
      ...observations.map(({ role }) => observationReference(context.requestId, role)),
    ],
    occurredDateTime: context.effective,
    recorded: context.result.generated_at,
    activity: revised
      ? codeable(SYSTEMS.dataOperation, 'UPDATE', 'revise')
      : codeable(SYSTEMS.dataOperation, 'CREATE', 'create'),
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
    entity: nonEmpty([
      ...(context.imagingStudy ? [{ role: 'source' as const, what: context.imagingStudy }] : []),
      ...(revised ? [{ role: 'revision' as const, what: revised }] : []),
    ]),
  };
}

/** The report of the first run, of which a later one makes a new version; null for a first run. */
function revisedReport({
  resultSystem,
  reportKey,
  requestId,
}: ReportContext): Reference<DiagnosticReport> | null {
  if (reportKey === requestId) return null;
  return { type: 'DiagnosticReport', identifier: resultIdentifier(resultSystem, reportKey) };
}
