import type { DocumentReference } from '@medplum/fhirtypes';
import { pdfAttachment } from './attachment.ts';
import { AI_ASSERTED, reportCodes } from './codes.ts';
import { resultIdentifier } from './identifiers.ts';
import type { ReportContext } from './report-context.ts';

/** The PDF once more: US Core wants a report's attachment reachable as a document. */
export function buildDocumentReference(context: ReportContext): DocumentReference | null {
  const attachment = pdfAttachment(context);
  if (!attachment) return null;
  const { result } = context;
  const codes = reportCodes(result.endpoint);
  return {
    resourceType: 'DocumentReference',
    meta: { security: [AI_ASSERTED] },
    identifier: [resultIdentifier(context.resultSystem, context.requestId, 'DocumentReference')],
    status: 'current',
    docStatus: 'preliminary',
    type: { coding: codes.code, text: codes.title },
    category: codes.categories,
    subject: context.patient,
    date: result.generated_at,
    author: [context.device],
    custodian: { type: 'Organization', display: context.organization },
    relatesTo: context.formerDocument && [{ code: 'replaces', target: context.formerDocument }],
    content: [{ attachment }],
    context: {
      encounter: context.encounter ? [context.encounter] : undefined,
      related: [context.report, ...(context.imagingStudy ? [context.imagingStudy] : [])],
    },
  };
}
