import type { DiagnosticReport, Provenance, Reference } from '@medplum/fhirtypes';
import { isTranslation } from '../../pipelines/contract/translate.ts';
import { conclusionLines } from '../../pipelines/result/render/conclusion.ts';
import { mediaLinks, pdfAttachment } from './attachments.ts';
import { AI_ASSERTED, codeable, reportCodes, SYSTEMS } from './codes.ts';
import { resourceUuid, resultIdentifier } from './identifiers.ts';
import { nonEmpty, type ObservationEntry, observationReference } from './observations.ts';
import { type ReportContext, signatories, statusOf } from './report-context.ts';

/**
 * Builds the report of a result: `preliminary` until a person has signed it. R4 does not allow a
 * Device as a performer; the software is in `Observation.device` and in the Provenance.
 */
export function buildDiagnosticReport(
  context: ReportContext,
  observations: readonly ObservationEntry[],
): DiagnosticReport {
  const { result, requestId } = context;
  const codes = reportCodes(result);
  const attachment = pdfAttachment(context);
  return {
    resourceType: 'DiagnosticReport',
    meta: isTranslation(result) ? undefined : { security: [AI_ASSERTED] },
    identifier: requestIdentifiers(context),
    basedOn: context.order ? [context.order] : undefined,
    status: statusOf(result),
    category: codes.categories,
    code: { coding: codes.code, text: codes.title },
    subject: context.patient,
    encounter: context.encounter,
    effectiveDateTime: context.effective,
    issued: result.generated_at,
    performer: [{ type: 'Organization', display: context.organization }],
    resultsInterpreter: nonEmpty(signatories(result)),
    result:
      observations.length > 0
        ? observations.map(({ role }) => observationReference(requestId, role))
        : undefined,
    imagingStudy: context.imagingStudy ? [context.imagingStudy] : undefined,
    media: nonEmpty(mediaLinks(context)),
    conclusion: conclusionLines(result).join('\n'),
    presentedForm: attachment ? [attachment] : undefined,
  };
}

/**
 * Returns the identifier that serves as the key of the conditional update, and the identifiers of
 * all other requests whose reports this one has replaced. A result that is sent late, or a second
 * time, can thus find the report by the id of the request that made the result.
 */
function requestIdentifiers({ resultSystem, reportKey, requestId, otherRequests }: ReportContext) {
  const key = resultIdentifier(resultSystem, reportKey);
  if (resultSystem === null) return [key];
  const others = new Set([...(otherRequests ?? []), requestId]);
  others.delete(reportKey);
  return [
    { use: 'official' as const, ...key },
    ...[...others].map((id) => ({
      use: 'secondary' as const,
      ...resultIdentifier(resultSystem, id),
    })),
  ];
}

/**
 * Returns the id of the Provenance. A Provenance has no identifier to search for. Because its id is
 * fixed, a retry does not create a second one.
 */
export function provenanceId(requestId: string): string {
  return resourceUuid(requestId, 'Provenance');
}

/**
 * Builds the Provenance: which software made the report and Observations, from which study, in
 * whose custody.
 */
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
      ...signatories(context.result).map((who) => ({
        type: codeable(SYSTEMS.provenanceParticipant, 'verifier', 'Verifier'),
        who,
      })),
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

/**
 * Returns a reference to the report of the first run, which this report revises; null for a first
 * run.
 */
function revisedReport({
  resultSystem,
  reportKey,
  requestId,
}: ReportContext): Reference<DiagnosticReport> | null {
  if (reportKey === requestId) return null;
  return { type: 'DiagnosticReport', identifier: resultIdentifier(resultSystem, reportKey) };
}
