import { createHash } from 'node:crypto';
import type { Attachment, DocumentReference, Media } from '@medplum/fhirtypes';
import { AI_ASSERTED, MEDIA_IMAGE, reportCodes } from './codes.ts';
import { resourceUrn, resultIdentifier } from './identifiers.ts';
import { type KeyImage, type ReportContext, signatories, statusOf } from './report-context.ts';

export const PDF_MEDIA_TYPE = 'application/pdf';

/**
 * Returns the rendered report for both `DiagnosticReport.presentedForm` and `DocumentReference`:
 * inline, or as the URL of a Binary that was stored first (exchange 1.6).
 */
export function pdfAttachment({ pdf, result }: ReportContext): Attachment | null {
  if (!pdf) return null;
  return {
    contentType: PDF_MEDIA_TYPE,
    language: result.report?.language ?? 'en',
    ...('binaryUrl' in pdf ? { url: pdf.binaryUrl } : { data: pdf.data.toString('base64') }),
    ...extent(pdf.data),
    title: reportCodes(result).title,
    creation: result.generated_at,
  };
}

function imageAttachment({ result }: ReportContext, image: KeyImage): Attachment {
  return {
    contentType: image.contentType,
    data: image.data.toString('base64'),
    ...extent(image.data),
    title: image.title,
    creation: result.generated_at,
  };
}

/** Returns the size and hash of the data. R4 requires SHA-1. */
function extent(data: Buffer): Pick<Attachment, 'size' | 'hash'> {
  return { size: data.length, hash: createHash('sha1').update(data).digest('base64') };
}

/**
 * Builds a document that also contains the PDF: US Core requires a report's attachment to be
 * available as a document.
 */
export function buildDocumentReference(context: ReportContext): DocumentReference | null {
  const attachment = pdfAttachment(context);
  if (!attachment) return null;
  const { result } = context;
  const codes = reportCodes(result);
  return {
    resourceType: 'DocumentReference',
    meta: { security: [AI_ASSERTED] },
    identifier: [resultIdentifier(context.resultSystem, context.requestId, 'DocumentReference')],
    status: 'current',
    docStatus: result.draft ? 'preliminary' : statusOf(result),
    type: { coding: codes.code, text: codes.title },
    category: codes.categories,
    subject: context.patient,
    date: result.generated_at,
    author: [context.device, ...signatories(result)],
    custodian: { type: 'Organization', display: context.organization },
    relatesTo: context.formerDocument && [{ code: 'replaces', target: context.formerDocument }],
    content: [{ attachment }],
    context: {
      encounter: context.encounter ? [context.encounter] : undefined,
      related: [context.report, ...(context.imagingStudy ? [context.imagingStudy] : [])],
    },
  };
}

/** Returns the role of a key image in the request, based on its artifact name. */
export function mediaRole({ name }: KeyImage): string {
  return `Media/${name}`;
}

/** Builds a Media resource of a measured frame with its calipers. */
export function buildMedia(context: ReportContext, image: KeyImage): Media {
  return {
    resourceType: 'Media',
    meta: { security: [AI_ASSERTED] },
    identifier: [resultIdentifier(context.resultSystem, context.reportKey, mediaRole(image))],
    basedOn: context.order ? [context.order] : undefined,
    partOf: context.imagingStudy ? [context.imagingStudy] : undefined,
    status: 'completed',
    type: MEDIA_IMAGE,
    subject: context.patient,
    encounter: context.encounter,
    createdDateTime: context.effective,
    issued: context.result.generated_at,
    device: context.device,
    content: imageAttachment(context, image),
    note: context.result.draft ? [{ text: 'Calipers of an unverified AI draft' }] : undefined,
  };
}

/** Returns the value of `DiagnosticReport.media`. R4 allows only references to Media in it. */
export function mediaLinks({ keyImages = [], requestId }: ReportContext) {
  return keyImages.map((image) => ({
    comment: image.title,
    link: { reference: resourceUrn(requestId, mediaRole(image)) },
  }));
}
