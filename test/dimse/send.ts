import type { CalledNode } from '../../dimse/network/dial.ts';
import { outgoingBuffer, type StoreResult, sendObjects } from '../../dimse/send/store-scu.ts';

/**
 * Sends objects given as DICOM files in memory, one file for each form. A fault of the peer does
 * not make it throw.
 */
export function sendForms(
  node: CalledNode,
  objects: readonly (readonly Buffer[])[],
  signal?: AbortSignal,
): Promise<StoreResult[]> {
  const forms = objects.map((files) => files.map(outgoingBuffer));
  return sendObjects(node, forms, { signal });
}

export async function sendBuffer(
  node: CalledNode,
  file: Buffer,
  signal?: AbortSignal,
): Promise<StoreResult> {
  const [result] = await sendForms(node, [[file]], signal);
  if (!result) throw new Error('an object without a result');
  return result;
}
