import {
  ACCEPTED_STORAGE,
  QUERY_RETRIEVE,
  VERIFICATION,
} from '../../pipelines/dicom/sop-classes.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
  LOSSLESS_TRANSFER_SYNTAXES,
  LOSSY_TRANSFER_SYNTAXES,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import type { TransferSyntaxChoice } from '../network/negotiation.ts';
import { NORMALIZED_SOP_CLASSES } from '../services/services.ts';

const QUERY_CLASSES: ReadonlySet<string> = new Set([
  QUERY_RETRIEVE.studyRootFind,
  QUERY_RETRIEVE.studyRootMove,
  QUERY_RETRIEVE.studyRootGet,
]);

/** Like `acceptedTransferSyntaxes`, for a listener that also answers queries and retrievals. */
export function acceptedWithQueries(abstractSyntax: string): TransferSyntaxChoice | null {
  if (!QUERY_CLASSES.has(abstractSyntax)) return acceptedTransferSyntaxes(abstractSyntax);
  return { preferred: [], others: [IMPLICIT_VR_LITTLE_ENDIAN, EXPLICIT_VR_LITTLE_ENDIAN] };
}

/**
 * Returns the transfer syntaxes that the listener accepts for a SOP class; null if the class is not
 * supported. Lossless ones are preferred, so that carts do not compress images that will be
 * measured.
 */
export function acceptedTransferSyntaxes(abstractSyntax: string): TransferSyntaxChoice | null {
  if (abstractSyntax === VERIFICATION || NORMALIZED_SOP_CLASSES.has(abstractSyntax)) {
    return { preferred: [], others: [IMPLICIT_VR_LITTLE_ENDIAN, EXPLICIT_VR_LITTLE_ENDIAN] };
  }
  if (!ACCEPTED_STORAGE.has(abstractSyntax)) return null;
  return { preferred: LOSSLESS_TRANSFER_SYNTAXES, others: LOSSY_TRANSFER_SYNTAXES };
}
