import { createHash } from 'node:crypto';
import type { Attachment } from '@medplum/fhirtypes';
import { reportCodes } from './codes.ts';
import type { ReportContext } from './report-context.ts';

export const PDF_MEDIA_TYPE = 'application/pdf';

/**
 * The rendered report, the same in `DiagnosticReport.presentedForm` and `DocumentReference`: inline,
 * or by the address of a Binary that was stored first (interop 1.6). R4 wants SHA-1 as the hash.
 */
export function pdfAttachment({ pdf, result }: ReportContext): Attachment | null {
  if (!pdf) return null;
  return {
    contentType: PDF_MEDIA_TYPE,
    language: result.report?.language ?? 'en',
    ...('binaryUrl' in pdf ? { url: pdf.binaryUrl } : { data: pdf.data.toString('base64') }),
    size: pdf.data.length,
    hash: createHash('sha1').update(pdf.data).digest('base64'),
    title: reportCodes(result.endpoint).title,
    creation: result.generated_at,
  };
}
