import { SonogateError } from '../../src/errors/catalogue.ts';
import type { ProposedContext, RoleSelection } from '../network/association-pdu.ts';
import { type CalledNode, CallingAssociation } from '../network/calling-association.ts';
import { EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN } from '../sop-classes.ts';

/** The context of a query or retrieval; its identifiers are small, so the syntax does not matter. */
export function queryContext(id: number, abstractSyntax: string): ProposedContext {
  return { id, abstractSyntax, transferSyntaxes: [EXPLICIT_LITTLE_ENDIAN, IMPLICIT_LITTLE_ENDIAN] };
}

/** @throws SonogateError `presentation_context_refused`. */
export function acceptedSyntax(association: CallingAssociation, sopClassUid: string): string {
  for (const context of association.contexts.values()) {
    if (context.abstractSyntax === sopClassUid) return context.transferSyntax;
  }
  throw new SonogateError('presentation_context_refused', `The peer does not take ${sopClassUid}.`);
}

/**
 * Opens an association for operations that a C-CANCEL can end.
 * @param signal ends the opening at once; what comes after it is for its operations to end.
 * @throws SonogateError `peer_unreachable`, `peer_rejected_association`.
 */
export async function openAssociation(
  node: CalledNode,
  contexts: readonly ProposedContext[],
  { signal, roles }: { signal?: AbortSignal | undefined; roles?: RoleSelection[] } = {},
): Promise<CallingAssociation> {
  const opening = new AbortController();
  const onAbort = () => opening.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    return await CallingAssociation.open(node, contexts, opening.signal, roles);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
