import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../pipelines/dicom/transfer-syntaxes.ts';
import type { ErrorCode } from '../../src/platform/errors/catalogue.ts';
import {
  type AssociateRequest,
  CONTEXT_RESULT,
  type ContextAnswer,
  DICOM_APPLICATION_CONTEXT,
  PDV_HEADER_BYTES,
  type ProposedContext,
  type RoleSelection,
} from './pdu.ts';

/**
 * Transfer syntaxes that an acceptor accepts: those in `preferred` come before `others`, each in
 * the requestor's order.
 */
export interface TransferSyntaxChoice {
  preferred: readonly string[];
  others: readonly string[];
}

/** Returns the transfer syntaxes accepted for a SOP class; null when the class is not supported. */
export type Offer = (abstractSyntax: string) => TransferSyntaxChoice | null;

export interface AcceptedContext {
  abstractSyntax: string;
  transferSyntax: string;
}

/**
 * Returns why an association request is rejected regardless of its sender; null to accept the
 * request.
 */
export function whyRejected(request: AssociateRequest, aeTitle: string | null): ErrorCode | null {
  // Only bit 0 may be tested (PS3.8 table 9-11).
  if (((request.protocolVersion ?? 1) & 1) === 0) return 'protocol_version_not_supported';
  if (request.applicationContext !== DICOM_APPLICATION_CONTEXT) {
    return 'application_context_not_supported';
  }
  if (aeTitle !== null && request.calledAeTitle !== aeTitle) return 'called_ae_not_recognized';
  return null;
}

/**
 * Answers each proposed context; the acceptor chooses among its transfer syntaxes (PS3.8 9.3.3.2).
 */
export function answerContexts(
  proposed: readonly ProposedContext[],
  offer: Offer,
): { answers: ContextAnswer[]; accepted: Map<number, AcceptedContext> } {
  const accepted = new Map<number, AcceptedContext>();
  const answers = proposed.map((context): ContextAnswer => {
    const ours = offer(context.abstractSyntax);
    const transferSyntax =
      context.transferSyntaxes.find((uid) => ours?.preferred.includes(uid)) ??
      context.transferSyntaxes.find((uid) => ours?.others.includes(uid));
    if (transferSyntax !== undefined) {
      accepted.set(context.id, { abstractSyntax: context.abstractSyntax, transferSyntax });
      return { id: context.id, result: CONTEXT_RESULT.accepted, transferSyntax };
    }
    return {
      id: context.id,
      result:
        ours === null
          ? CONTEXT_RESULT.abstractSyntaxNotSupported
          : CONTEXT_RESULT.transferSyntaxesNotSupported,
      transferSyntax: context.transferSyntaxes[0] ?? '',
    };
  });
  return { answers, accepted };
}

/** Returns the SOP classes of which the peer is SCP: it can receive their objects (C-GET). */
export function receivedClasses(roles: readonly RoleSelection[] = []): ReadonlySet<string> {
  return new Set(roles.flatMap(({ sopClassUid, scp }) => (scp ? [sopClassUid] : [])));
}

/**
 * Returns the proposed contexts, with Explicit VR Little Endian as the first transfer syntax of
 * those for objects that the peer will receive. Objects are sent as stored, and nearly all objects
 * from carts are stored in this syntax.
 */
export function explicitFirst(
  proposed: readonly ProposedContext[],
  receiving: ReadonlySet<string>,
): ProposedContext[] {
  const isExplicit = (uid: string) => uid === EXPLICIT_VR_LITTLE_ENDIAN;
  return proposed.map((context) =>
    receiving.has(context.abstractSyntax)
      ? {
          ...context,
          transferSyntaxes: context.transferSyntaxes.toSorted(
            (one, other) => Number(isExplicit(other)) - Number(isExplicit(one)),
          ),
        }
      : context,
  );
}

/** Returns the proposed contexts that the peer accepted, by id. */
export function acceptedContexts(
  proposed: readonly ProposedContext[],
  answers: readonly ContextAnswer[],
): Map<number, AcceptedContext> {
  const accepted = new Map<number, AcceptedContext>();
  for (const { id, result, transferSyntax } of answers) {
    const context = proposed.find((one) => one.id === id);
    if (!context || result !== CONTEXT_RESULT.accepted) continue;
    accepted.set(id, { abstractSyntax: context.abstractSyntax, transferSyntax });
  }
  return accepted;
}

/** Maximum length of a P-DATA-TF sent to a peer that announces no limit (PS3.8 D.1). */
const MAX_SENT_PDU_BYTES = 131_072;

/**
 * Returns the maximum size of a data set fragment that fits into one PDU for a peer.
 * @param maxPduBytes the maximum length announced by the peer; 0 means no limit.
 */
export function sentFragmentBytes(maxPduBytes: number): number {
  const pdu = Math.min(maxPduBytes || MAX_SENT_PDU_BYTES, MAX_SENT_PDU_BYTES);
  const bytes = pdu - PDV_HEADER_BYTES;
  // Fragments have an even length (PS3.8 Annex E.2).
  return Math.max(2, bytes - (bytes % 2));
}
