import type { TransferSyntaxChoice } from './network/negotiation.ts';
import { NORMALIZED_SOP_CLASSES } from './services/services.ts';
import {
  ACCEPTED_STORAGE,
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  LOSSLESS_TRANSFER_SYNTAXES,
  LOSSY_TRANSFER_SYNTAXES,
  VERIFICATION,
} from './sop-classes.ts';

/**
 * What the listener takes of a SOP class; null: nothing. A cart that can send its images whole is
 * not made to compress what is measured afterwards.
 */
export function offer(abstractSyntax: string): TransferSyntaxChoice | null {
  if (abstractSyntax === VERIFICATION || NORMALIZED_SOP_CLASSES.has(abstractSyntax)) {
    return { preferred: [], others: [IMPLICIT_LITTLE_ENDIAN, EXPLICIT_LITTLE_ENDIAN] };
  }
  if (!ACCEPTED_STORAGE.has(abstractSyntax)) return null;
  return { preferred: LOSSLESS_TRANSFER_SYNTAXES, others: LOSSY_TRANSFER_SYNTAXES };
}
