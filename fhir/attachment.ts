import { createHash } from 'node:crypto';
import type { Attachment } from '@medplum/fhirtypes';
import { reportCodes } from './codes.ts';
import type { KeyImage, ReportContext } from './report-context.ts';

export const PDF_MEDIA_TYPE = 'application/pdf';

/**
 * The rendered report, the same in `DiagnosticReport.presentedForm` and `DocumentReference`: inline,
 * or by the address of a Binary that was stored first (interop 1.6).
 */
export function pdfAttachment({ pdf, result }: ReportContext): Attachment | null {
  if (!pdf) return null;
  return {
    contentType: PDF_MEDIA_TYPE,
    language: result.report?.language ?? 'en',
    ...('binaryUrl' in pdf ? { url: pdf.binaryUrl } : { data: pdf.data.toString('base64') }),
    ...extent(pdf.data),
    title: reportCodes(result.endpoint).title,
    creation: result.generated_at,
  };
}

/** A key image, always inline. */
export function imageAttachment({ result }: ReportContext, image: KeyImage): Attachment {
  return {
    contentType: image.contentType,
    data: image.data.toString('base64'),
    ...extent(image.data),
    title: image.title,
    creation: result.generated_at,
  };
}

/** R4 wants SHA-1 as the hash. */
function extent(data: Buffer): Pick<Attachment, 'size' | 'hash'> {
  return { size: data.length, hash: createHash('sha1').update(data).digest('base64') };
}
