import { verify } from './adapter.ts';
import type { CalledNode } from './network/requestor.ts';

/**
 * C-ECHO to a DICOM node.
 * @returns status (0 is success) and how long it took from connecting to release, in milliseconds.
 * @throws SonogateError `peer_unreachable`, `peer_rejected_association`.
 */
export async function echo(node: CalledNode): Promise<{ status: number; milliseconds: number }> {
  const start = performance.now();
  const status = await verify(node);
  return { status, milliseconds: performance.now() - start };
}
