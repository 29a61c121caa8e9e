import { SonogateError } from '../../src/errors/catalogue.ts';
import type { Answer } from '../network/conversation.ts';

/** PS3.4 C.4.1.1.4, C.4.2.1.5 and C.4.3.1.4; Cxxx stands for "unable to process". */
const MOVE_DESTINATION_UNKNOWN = 0xa801;
/** A7xx: out of resources, for now. */
const OUT_OF_RESOURCES = 0xa700;
/** Sub-operations ended, some with a failure. */
const SOME_FAILED = 0xb000;
const CANCELED = 0xfe00;

/**
 * What the last response to a query or retrieval means; a warning that some objects failed is none.
 * @throws SonogateError `archive_refused_query`, `move_destination_unknown`, `peer_out_of_resources`.
 */
export function refusedBy(
  operation: 'C-FIND' | 'C-GET' | 'C-MOVE',
  { status, errorComment }: Pick<Answer, 'status' | 'errorComment'>,
): void {
  if (status === 0 || status === SOME_FAILED) return;
  const hex = status.toString(16).toUpperCase().padStart(4, '0');
  const words = status === CANCELED ? ', canceled' : errorComment ? `: ${errorComment}` : '';
  const detail = `${operation} status ${hex}H${words}`;
  if (status === MOVE_DESTINATION_UNKNOWN) {
    throw new SonogateError('move_destination_unknown', detail);
  }
  const later = (status & 0xff00) === OUT_OF_RESOURCES;
  throw new SonogateError(later ? 'peer_out_of_resources' : 'archive_refused_query', detail);
}
