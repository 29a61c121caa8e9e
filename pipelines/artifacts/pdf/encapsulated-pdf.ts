import { encodePart10, evenBytes } from '../../dicom/part10.ts';
import { STORAGE_CLASS } from '../../dicom/sop-classes.ts';
import type { Subject } from '../../dicom/subject.ts';
import type { Result } from '../../result/envelope.ts';
import { noticeOf } from '../../result/render/statement.ts';
import { commonModules, contentDateTime, sopReference } from '../modules.ts';
import { codeSequence } from '../sr/encode.ts';
import { reportCode } from '../sr/vocabulary.ts';

/**
 * Writes the PDF report as an Encapsulated PDF (PS3.3 A.45.1) in the study of the images.
 * @param pdf the report for the same subject.
 * @returns a DICOM Part 10 file.
 */
export function buildEncapsulatedPdf(result: Result, subject: Subject, pdf: Buffer): Buffer {
  const { instances } = subject;
  return encodePart10({
    ...commonModules(result, subject, {
      sopClassUid: STORAGE_CLASS.encapsulatedPdf,
      series: 'doc',
      role: 'pdf',
      number: 1,
    }),
    ConversionType: 'WSD',
    ...contentDateTime(result, subject),
    AcquisitionDateTime: subject.identity?.AcquisitionDateTime ?? '',
    // The pages show the patient's name.
    BurnedInAnnotation: 'YES',
    ...(instances.length > 0 && { SourceInstanceSequence: instances.map(sopReference) }),
    DocumentTitle: `${noticeOf(result)}: ${result.endpoint}`.slice(0, 64),
    ConceptNameCodeSequence: codeSequence(reportCode(result)),
    VerificationFlag: result.verification ? 'VERIFIED' : 'UNVERIFIED',
    MIMETypeOfEncapsulatedDocument: 'application/pdf',
    EncapsulatedDocumentLength: pdf.length,
    EncapsulatedDocument: evenBytes(pdf),
  });
}
