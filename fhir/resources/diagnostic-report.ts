import type { DiagnosticReport, Provenance, Reference } from '@medplum/fhirtypes';
import { isTranslation } from '../../pipelines/contract/translate.ts';
import { type Withdrawal, withdrawalText } from '../../pipelines/contract/withdrawal.ts';
import type { Result } from '../../pipelines/result/envelope.ts';
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
 * Returns the role of the Provenance of a result: one for the draft and one for each signature, so
 * that the record of who made and who signed it grows. The role determines its id: a Provenance has no
 * identifier to search for, and because its id is fixed, a retry does not create a second one.
 */
export function provenanceRole({ verification }: Pick<Result, 'verification'>): string {
  return verification ? `Provenance/signed/${verification.revision}` : 'Provenance';
}

/**
 * Builds the Provenance: which software made the report and Observations, from which study, who signed
 * them, in whose custody.
 */
export function buildProvenance(
  context: ReportContext,
  observations: readonly ObservationEntry[],
): Provenance {
  const { requestId, result } = context;
  const revised = revisedReport(context);
  return {
    resourceType: 'Provenance',
    id: resourceUuid(requestId, provenanceRole(result)),
    target: [
      context.report,
      ...observations.map(({ role }) => observationReference(requestId, role)),
    ],
    occurredDateTime: result.generated_at,
    recorded: result.generated_at,
    activity:
      revised || result.verification
        ? codeable(SYSTEMS.dataOperation, 'UPDATE', 'revise')
        : codeable(SYSTEMS.dataOperation, 'CREATE', 'create'),
    agent: [
      {
        type: codeable(SYSTEMS.provenanceParticipant, 'assembler', 'Assembler'),
        who: context.device,
      },
      ...signatories(result).map((who) => ({
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
 * Builds the Provenance of a withdrawal: who withdrew the result, when and why. The resources
 * themselves say only that they are `entered-in-error`.
 * @param target the resources at the receiver that are withdrawn.
 */
export function buildWithdrawalProvenance(
  requestId: string,
  withdrawal: Withdrawal,
  target: Reference[],
): Provenance {
  return {
    resourceType: 'Provenance',
    id: resourceUuid(requestId, 'Provenance/withdrawal'),
    target,
    occurredDateTime: withdrawal.at,
    recorded: withdrawal.at,
    reason: [{ text: withdrawalText(withdrawal) }],
    activity: codeable(SYSTEMS.dataOperation, 'NULLIFY', 'nullify'),
    agent: [
      {
        type: codeable(SYSTEMS.provenanceParticipant, 'performer', 'Performer'),
        who: { display: withdrawal.by },
      },
    ],
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
