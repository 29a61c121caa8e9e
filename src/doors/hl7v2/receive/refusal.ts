/** Error codes of table 0357. */
const ERROR_TEXTS = {
  100: 'Segment sequence error',
  101: 'Required field missing',
  102: 'Data type error',
  103: 'Table value not found',
  200: 'Unsupported message type',
  201: 'Unsupported event code',
  202: 'Unsupported processing id',
  203: 'Unsupported version id',
  204: 'Unknown key identifier',
  207: 'Application internal error',
} as const;
type Hl7ErrorCode = keyof typeof ERROR_TEXTS;

export const errorText = (code: Hl7ErrorCode): string => ERROR_TEXTS[code];

/**
 * A location in a message: segment, its number among segments with the same name, field and
 * component.
 */
interface Place {
  segment: string;
  sequence?: number;
  field?: number;
  component?: number;
}

/**
 * Thrown when a message is refused (HL7 2.5.1, chapter 2.9.2). The acknowledgment is AE if the
 * content of the message is at fault, and AR if this gateway never accepts such a message or cannot
 * process it at the moment.
 */
export class Hl7Refusal extends Error {
  override name = 'Hl7Refusal';
  readonly acknowledgment: 'AE' | 'AR';
  readonly code: Hl7ErrorCode;
  readonly place: Place | null;

  /** @param reason shown to staff at the sender; it contains no values from the message. */
  constructor(
    acknowledgment: 'AE' | 'AR',
    code: Hl7ErrorCode,
    place: Place | null,
    reason: string,
  ) {
    super(reason);
    this.acknowledgment = acknowledgment;
    this.code = code;
    this.place = place;
  }

  /** True if the same message may be accepted later. */
  get isTransient(): boolean {
    return this.code === 207;
  }
}

export const contentError = (code: Hl7ErrorCode, place: Place, reason: string): Hl7Refusal =>
  new Hl7Refusal('AE', code, place, reason);
