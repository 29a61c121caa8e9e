import { failed, type SendOutcome } from '../../core/outbox/delivery.ts';
import { componentOf, decodeMessage, decodeText, type Segment } from './message.ts';

/**
 * Error codes of HL7 table 0357, from ERR-3 or, before version 2.5, from ERR-1. The first four mean
 * that the receiver does not support the type, event, processing ID or version of the message.
 */
const NEVER_ACCEPTED = ['200', '201', '202', '203'];
const RECORD_LOCKED = '206';
const INTERNAL_ERROR = '207';

/**
 * Returns the outcome of a delivery from its acknowledgment (HL7 2.5.1, chapter 2.9.2):
 *
 * - AA, CA: accepted.
 * - AE, CE: the content is refused. The failure is permanent, unless the receiver states a cause on
 *   its side (record locked, internal error).
 * - AR, CR: the failure is permanent if the type, event, processing ID or version is not supported.
 *   Otherwise the message was refused for "a reason unrelated to its content", such as a system
 *   that is down, and the failure is transient.
 *
 * If the answer is unreadable or refers to another message, the outcome is unknown: ambiguous.
 */
export function outcomeOfAcknowledgment(bytes: Buffer, controlId: string): SendOutcome {
  let segments: Segment[];
  try {
    segments = decodeMessage(decodeText(bytes));
  } catch {
    return failed('peer_answer_unclear', 'The response is not an HL7 version 2 message.');
  }
  const msa = segments.find(({ name }) => name === 'MSA');
  if (!msa || componentOf(msa, 2) !== controlId) {
    return failed(
      'peer_answer_unclear',
      'The acknowledgment does not belong to the message that was sent.',
    );
  }
  const code = componentOf(msa, 1);
  const errors = segments.filter(({ name }) => name === 'ERR').map(errorOf);
  const detail = [`Acknowledgment ${code}`, ...errors.map(({ text }) => text)].join('; ');
  const names = (codes: readonly string[]) => errors.some((error) => codes.includes(error.code));
  switch (code) {
    case 'AA':
    case 'CA':
      return { outcome: 'delivered', detail };
    case 'AE':
    case 'CE':
      return names([RECORD_LOCKED, INTERNAL_ERROR])
        ? failed('receiver_busy', detail)
        : failed('receiver_rejected', detail);
    case 'AR':
    case 'CR':
      return names(NEVER_ACCEPTED)
        ? failed('receiver_rejected', detail)
        : failed('receiver_busy', detail);
    default:
      return failed('peer_answer_unclear', 'The acknowledgment has no code from table 0008.');
  }
}

/**
 * Returns the code and location of an error. Its texts are omitted, because a receiver may repeat
 * patient data in them.
 */
function errorOf(error: Segment): { code: string; text: string } {
  const code = componentOf(error, 3) || componentOf(error, 1, 4);
  const place = [componentOf(error, 2), componentOf(error, 2, 2), componentOf(error, 2, 3)].filter(
    Boolean,
  );
  const safe = (part: string) => part.replace(/[^\w.-]/g, '').slice(0, 20);
  const where = place.length > 0 ? ` at ${place.map(safe).join('-')}` : '';
  return { code, text: `error ${safe(code) || 'without a code'}${where}` };
}
